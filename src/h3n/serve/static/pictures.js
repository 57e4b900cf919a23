// Pictures of trees: their parts light up, and constraints are made on them by pointer and by keyboard.

import { byId, element, say } from "./dom.js";

export const PICTURE = { theme: "light", confidence: true, parts: true };

export function svgOf(source) {
  const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

// `constrain(sentence, kind, pair)` is told what the user wants; without it the picture is only looked at.
export function pictureOf(sentence, at, constrain = null) {
  const svg = svgOf(sentence.svg);
  const info = element("div", { class: "info", dir: "auto" });
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Tree of: ${sentence.text}`);
  const picture = { svg, info, sentence, at, constrain, marked: null };
  const items = svg.querySelectorAll("text[data-word], text[data-span], text[data-arc]");
  items.forEach((item, count) => {
    item.setAttribute("tabindex", count ? "-1" : "0");
    item.setAttribute("role", constrain ? "button" : "img");
    item.setAttribute("aria-label", labelOf(sentence, item.dataset));
    item.addEventListener("pointerenter", () => light(picture, item.dataset));
    item.addEventListener("pointerleave", () => dim(picture));
    item.addEventListener("focus", () => {
      items.forEach((one) => one.setAttribute("tabindex", one === item ? "0" : "-1"));
      light(picture, item.dataset);
    });
    item.addEventListener("blur", () => dim(picture));
    item.addEventListener("keydown", (event) => keyOn(event, picture, item));
  });
  if (constrain) addPointer(picture);
  return picture;
}

// Text that runs from right to left starts at the right edge, also where it must be scrolled.
function directionOf(svg) {
  const words = svg.querySelectorAll("text[data-word]");
  const [first, last] = [words[0], words[words.length - 1]].map((word) => Number(word?.getAttribute("x")));
  return first > last ? "rtl" : "ltr";
}

export function column(title, picture) {
  const parts = title ? [element("h2", {}, title)] : [];
  return element("div", {}, ...parts, element("div", { class: "scroll", dir: directionOf(picture.svg) }, picture.svg), picture.info);
}

// ---- differences

const keysOf = (sentence) => ({
  spans: new Set((sentence.spans || []).map((s) => `${s.start}-${s.end}-${s.label}`)),
  arcs: new Set((sentence.heads || []).map((head, word) => `${head}-${word}-${sentence.relations[word]}`)),
});

export function difference(sentence, other) {
  const [mine, its] = [keysOf(sentence), keysOf(other)];
  return {
    spans: (sentence.spans || []).filter((s) => !its.spans.has(`${s.start}-${s.end}-${s.label}`)),
    arcs: [...mine.arcs].filter((key) => !its.arcs.has(key)).map((key) => Number(key.split("-")[1])),
  };
}

export function markDifference(svg, changed) {
  for (const { start, end } of changed.spans)
    for (const part of svg.querySelectorAll(`[data-span="${start}-${end}"]`)) part.classList.add("changed");
  for (const word of changed.arcs)
    for (const part of svg.querySelectorAll(`[data-arc="${word}"]`)) part.classList.add("changed");
}

// ---- what is said of a part, and what lights up with it

const percent = (share) => share === undefined ? "" : ` (${Math.round(share * 100)} % sure)`;

const spanOf = (sentence, data) => {
  const [start, end] = data.span.split("-").map(Number);
  return sentence.spans.find((one) => one.start === start && one.end === end) || { start, end };
};

function labelOf(sentence, data) {
  if (data.span) {
    const span = spanOf(sentence, data);
    const head = span.head === null || span.head === undefined ? "" : `, head ${sentence.words[span.head]}`;
    return `${span.label} phrase: ${sentence.words.slice(span.start, span.end).join(" ")}${head}${percent(span.confidence)}`;
  }
  const word = Number(data.word ?? data.arc);
  if (!sentence.heads) return `word ${sentence.words[word]}`;
  const head = sentence.heads[word];
  const of = head ? ` of ${sentence.words[head - 1]}` : "";
  const sure = percent(sentence.arc_confidences?.[word]);
  const kind = data.word === undefined ? "arc: " : "";
  const tag = sentence.tags || sentence.upos;
  return `${kind}${sentence.words[word]}${tag && !kind ? ` (${tag[word]})` : ""} is ${sentence.relations[word]}${of}${sure}`;
}

function light(picture, data) {
  dim(picture);
  const { svg, sentence, info } = picture;
  const mark = (selector, name) => svg.querySelectorAll(selector).forEach((one) => one.classList.add(name));
  info.textContent = labelOf(sentence, data);
  if (data.span) lightSpan(sentence, data, mark);
  else lightWord(sentence, data, mark);
}

function lightSpan(sentence, data, mark) {
  const span = spanOf(sentence, data);
  mark(`[data-span="${data.span}"]`, "lit");
  for (let word = span.start; word < span.end; word++) mark(`text[data-word="${word}"]`, "near");
  if (span.head === null || span.head === undefined) return;
  mark(`text[data-word="${span.head}"], [data-edge-word="${span.head}"]`, "lit");
  for (const one of sentence.spans)
    if (one.head === span.head && span.start <= one.start && one.end <= span.end)
      mark(`[data-edge-span="${one.start}-${one.end}"]`, "lit");
}

function lightWord(sentence, data, mark) {
  const word = Number(data.word ?? data.arc);
  mark(`text[data-word="${word}"], [data-arc="${word}"]`, "lit");
  const heads = sentence.heads || [];
  if (heads[word]) mark(`text[data-word="${heads[word] - 1}"]`, "near");
  if (data.word === undefined) return;
  heads.forEach((head, other) => { if (head === word + 1) mark(`text[data-word="${other}"], [data-arc="${other}"]`, "near"); });
  for (const span of sentence.spans || []) {
    if (span.head === word) mark(`[data-span="${span.start}-${span.end}"], [data-edge-span="${span.start}-${span.end}"]`, "lit");
    else if (span.start <= word && word < span.end) mark(`text[data-span="${span.start}-${span.end}"]`, "near");
  }
  mark(`[data-edge-word="${word}"]`, "lit");
}

function dim({ svg, info }) {
  info.textContent = "";
  svg.querySelectorAll(".lit, .near").forEach((one) => one.classList.remove("lit", "near"));
}

// ---- constraints by pointer: a click forbids; a drag between two words, or a click on each, requires

function requireFromTo(picture, from, to, how) {
  if (how === "span") picture.constrain(picture.at, "require_spans", [Math.min(from, to), Math.max(from, to) + 1]);
  else picture.constrain(picture.at, "require_arcs", [from, to]);
}

function forbid(picture, data) {
  if (data.span) picture.constrain(picture.at, "forbid_spans", data.span.split("-").map(Number));
  else if (data.arc) picture.constrain(picture.at, "forbid_arcs", [picture.sentence.heads[data.arc] - 1, Number(data.arc)]);
}

const chosen = (event) => (byId("drag").value === "arc") !== event.shiftKey ? "arc" : "span";

function addPointer(picture) {
  const wordAt = (node) => node?.closest?.("text[data-word]");
  let from = null;
  let dragged = false;
  picture.svg.addEventListener("pointerdown", (event) => {
    const word = wordAt(event.target);
    from = word ? Number(word.dataset.word) : null;
    dragged = false;
    if (word && event.pointerType === "mouse") event.preventDefault();
  });
  picture.svg.addEventListener("pointerup", (event) => {
    const under = wordAt(document.elementFromPoint(event.clientX, event.clientY));
    dragged = from !== null && under && picture.svg.contains(under) && Number(under.dataset.word) !== from;
    if (dragged) requireFromTo(picture, from, Number(under.dataset.word), chosen(event));
    from = null;
  });
  picture.svg.addEventListener("click", (event) => {
    const item = event.target.closest?.("text[data-span], text[data-arc]");
    const word = wordAt(event.target);
    if (item) forbid(picture, item.dataset);
    else if (word && !dragged) clickWord(picture, word, chosen(event));
  });
}

function clickWord(picture, item, how) {
  const word = Number(item.dataset.word);
  if (picture.marked === null) {
    mark(picture, item, how);
    say(how === "arc" ? `Governor: ${item.textContent}. Click the word it governs.`
      : `A phrase from ${item.textContent}. Click the word at its other end.`);
  } else if (picture.marked.word === word && how === "arc") {
    unmark(picture);
    say("");
  } else {
    requireFromTo(picture, picture.marked.word, word, how);
  }
}

function mark(picture, item, how) {
  unmark(picture);
  picture.marked = { word: Number(item.dataset.word), how };
  item.classList.add("marked");
}

function unmark(picture) {
  picture.marked = null;
  picture.svg.querySelectorAll(".marked").forEach((one) => one.classList.remove("marked"));
}

// ---- by keyboard

function neighbour(picture, item, key) {
  const { svg, sentence } = picture;
  const find = (selector) => svg.querySelector(selector);
  const { word, span, arc } = item.dataset;
  const at = Number(word ?? arc ?? -1);
  const around = (start, end) => (sentence.spans || [])
    .filter((one) => one.start <= start && end <= one.end && one.end - one.start > (span ? end - start : 0))
    .sort((a, b) => (a.end - a.start) - (b.end - b.start))[0];
  const step = (key === "ArrowRight") === (directionOf(svg) === "ltr") ? 1 : -1;
  if (key === "ArrowLeft" || key === "ArrowRight") {
    if (span) return find(`text[data-word="${spanOf(sentence, item.dataset)[step > 0 ? "end" : "start"] + (step > 0 ? 0 : -1)}"]`);
    return find(`text[data-${word === undefined ? "arc" : "word"}="${at + step}"]`);
  }
  if (key === "ArrowUp") {
    if (arc !== undefined) return find(`text[data-word="${at}"]`);
    const [start, end] = span ? span.split("-").map(Number) : [at, at + 1];
    const parent = around(start, end);
    return parent && find(`text[data-span="${parent.start}-${parent.end}"]`);
  }
  if (span) return find(`text[data-word="${spanOf(sentence, item.dataset).head ?? span.split("-")[0]}"]`);
  return word !== undefined ? find(`text[data-arc="${at}"]`) : null;
}

function keyOn(event, picture, item) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key.startsWith("Arrow")) {
    event.preventDefault();
    neighbour(picture, item, event.key)?.focus();
  } else if (picture.constrain && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    if (item.dataset.word === undefined) forbid(picture, item.dataset);
    else clickWord(picture, item, chosen(event));
  } else if (picture.constrain && item.dataset.word !== undefined) {
    wordKey(event.key, picture, Number(item.dataset.word), item);
  }
}

function wordKey(key, picture, word, item) {
  const { marked } = picture;
  if (key === "g" || key === "s") {
    mark(picture, item, key === "g" ? "arc" : "span");
    say(key === "g" ? `Governor: ${item.textContent}. Go to a word and press d.`
      : `A phrase starts at ${item.textContent}. Go to its last word and press e.`);
  } else if (key === "r") {
    picture.constrain(picture.at, "require_arcs", [-1, word]);
  } else if (key === "Escape" && marked) {
    unmark(picture);
    say("");
  } else if (key === "d" && marked?.how === "arc" && marked.word !== word || key === "e" && marked?.how === "span") {
    requireFromTo(picture, marked.word, word, marked.how);
  }
}
