// What every part of the page uses. Text from outside only ever becomes text: no string is put into the page as HTML.

export const byId = (id) => document.getElementById(id);
export const say = (text) => { byId("status").textContent = text; };
export const complain = (text) => { byId("error").textContent = text; };
export const number = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

export function element(name, attributes = {}, ...children) {
  const node = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) node.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) node.setAttribute(key, value === true ? "" : value);
  }
  node.append(...children);
  return node;
}

export async function ask(path, body, type = "application/json") {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": type } });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error || `status ${answer.status}`);
  return content;
}
