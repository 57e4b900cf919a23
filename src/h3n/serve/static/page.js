// The page of `h3n serve`. Text from outside only ever becomes text: no string is put into the page as HTML.

const byId = (id) => document.getElementById(id);
const FIELDS = ["words", "tags", "upos", "heads", "relations", "tree", "text", "spans", "arc_confidences", "brackets",
  "conllu", "svg", "forest", "tikz"];
const PICTURE = { theme: "light", confidence: true, parts: true };
const KINDS = { require_spans: "require", forbid_spans: "forbid", require_arcs: "require", forbid_arcs: "forbid" };

let models = [];
let wishes = []; // {sentence, kind, pair}
let shown = { text: null, sentences: [] }; // what is on the page
let marked = null; // a word chosen by keyboard as governor or as start of a phrase: {sentence, word, how}
let asking = 0; // the number of the last request: older answers are passed over
let treebank = { sentences: [], at: -1 };

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else if (value !== undefined && value !== false) made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children);
  return made;
}

const say = (text) => { byId("status").textContent = text; };
const complain = (text) => { byId("error").textContent = text; };

async function ask(path, body, type = "application/json") {
  const answer = await fetch(path, body === undefined ? {} : { method: "POST", body, headers: { "Content-Type": type } });
  const content = await answer.json();
  if (!answer.ok) throw new Error(content.error || `status ${answer.status}`);
  return content;
}

// ---- wishes

function constraintsOf() {
  const grouped = new Map();
  for (const { sentence, kind, pair } of wishes) {
    if (!grouped.has(sentence)) grouped.set(sentence, { sentence });
    const one = grouped.get(sentence);
    one[kind] = [...(one[kind] || []), pair];
  }
  return [...grouped.values()];
}

function describe({ sentence, kind, pair }) {
  const words = shown.sentences[sentence]?.words || [];
  const [a, b] = pair;
  const what = kind.endsWith("spans")
    ? `phrase “${words.slice(a, b).join(" ")}”`
    : `arc ${a < 0 ? "root" : words[a]} → ${words[b]}`;
  return `${KINDS[kind]} ${what} (sentence ${sentence + 1})`;
}

function showWishes() {
  byId("wishes-part").hidden = !wishes.length;
  byId("wishes").replaceChildren(...wishes.map((wish, at) => element("li", {}, describe(wish) + " ",
    element("button", { type: "button", "aria-label": `Remove: ${describe(wish)}`, onclick: () => {
      wishes.splice(at, 1);
      parse();
    } }, "Remove"))));
}

function wish(sentence, kind, pair) {
  const same = (one) => one.sentence === sentence && one.pair[0] === pair[0] && one.pair[1] === pair[1];
  const opposite = kind.replace(/^\w+?_/, KINDS[kind] === "forbid" ? "require_" : "forbid_");
  wishes = wishes.filter((one) => !(same(one) && [kind, opposite].includes(one.kind)));
  wishes.push({ sentence, kind, pair });
  parse();
}

// ---- parsing

async function request(model, decoder) {
  const body = { text: byId("text").value, model, fields: FIELDS, picture: PICTURE, constraints: constraintsOf() };
  if (decoder) body.decoder = decoder;
  return ask("/v1/parse", JSON.stringify(body));
}

async function parse() {
  const number = ++asking;
  const text = byId("text").value;
  if (text !== shown.text && shown.text !== null) wishes = [];
  marked = null;
  complain("");
  say("Parsing …");
  const compare = byId("compare").value;
  try {
    const asked = [request(byId("model").value, byId("decoder").value)];
    if (compare) asked.push(request(...compare.split("\n")));
    const [answer, other] = await Promise.all(asked);
    if (number !== asking) return;
    const before = shown.text === text ? shown.sentences : null;
    shown = { text, sentences: answer.sentences };
    show(answer, other, before);
  } catch (error) {
    if (number !== asking) return;
    say(wishes.length ? "The pictures are those from before. Remove a wish to go on." : "");
    complain(error.message);
  }
  showWishes();
  keepLink();
}

const keysOf = (sentence) => ({
  spans: new Set((sentence.spans || []).map((s) => `${s.start}-${s.end}-${s.label}`)),
  arcs: new Set((sentence.heads || []).map((head, word) => `${head}-${word}-${sentence.relations[word]}`)),
});

function difference(sentence, other) {
  const [mine, its] = [keysOf(sentence), keysOf(other)];
  return {
    spans: (sentence.spans || []).filter((s) => !its.spans.has(`${s.start}-${s.end}-${s.label}`)),
    arcs: [...mine.arcs].filter((key) => !its.arcs.has(key)).map((key) => Number(key.split("-")[1])),
  };
}

function markDifference(svg, changed) {
  for (const { start, end } of changed.spans)
    for (const part of svg.querySelectorAll(`[data-span="${start}-${end}"]`)) part.classList.add("changed");
  for (const word of changed.arcs)
    for (const part of svg.querySelectorAll(`[data-arc="${word}"]`)) part.classList.add("changed");
}

const number = (count, what) => `${count} ${what}${count === 1 ? "" : "s"}`;

function show(answer, other, before) {
  let phrases = 0;
  let arcs = 0;
  const comparable = (list, at) => list && list.length === answer.sentences.length ? list[at] : null;
  byId("results").replaceChildren(...answer.sentences.map((sentence, at) => {
    const against = comparable(other?.sentences, at) || comparable(before, at);
    const figure = element("figure", {}, element("figcaption", { dir: "auto" }, sentence.text));
    const columns = element("div", { class: other ? "pair" : "" });
    const left = pictureOf(sentence, at, true);
    columns.append(column(other && `${answer.model}, ${answer.decoder}`, left));
    if (against) {
      const changed = difference(sentence, against);
      phrases += changed.spans.length;
      arcs += changed.arcs.length;
      markDifference(left.svg, changed);
    }
    if (other) {
      const right = pictureOf(other.sentences[at], at, false);
      markDifference(right.svg, difference(other.sentences[at], sentence));
      columns.append(column(`${other.model}, ${other.decoder}`, right));
    }
    figure.append(columns, toolsOf(sentence, at));
    return figure;
  }));
  const count = answer.sentences.length;
  const compared = other ? "differ between the two" : "differ from before";
  const changes = other || before ? ` ${number(phrases, "phrase")} and ${number(arcs, "arc")} ${compared}.` : "";
  say(`${number(count, "sentence")}, decoder ${answer.decoder}.${changes}`);
}

function column(title, picture) {
  const parts = title ? [element("h2", {}, title)] : [];
  return element("div", {}, ...parts, element("div", { class: "scroll" }, picture.svg), picture.info);
}

// ---- pictures

function svgOf(source) {
  const parsed = new DOMParser().parseFromString(source, "image/svg+xml").documentElement;
  return document.importNode(parsed, true);
}

const percent = (number) => number === undefined ? "" : ` (${Math.round(number * 100)} % sure)`;

function pictureOf(sentence, at, editable) {
  const svg = svgOf(sentence.svg);
  const info = element("div", { class: "info", dir: "auto" });
  svg.setAttribute("role", "group");
  svg.setAttribute("aria-label", `Tree of: ${sentence.text}`);
  const picture = { svg, info, sentence, at, editable };
  const items = svg.querySelectorAll("text[data-word], text[data-span], text[data-arc]");
  items.forEach((item, number) => {
    item.setAttribute("tabindex", number ? "-1" : "0");
    item.setAttribute("role", editable ? "button" : "img");
    item.setAttribute("aria-label", labelOf(sentence, item.dataset));
    item.addEventListener("pointerenter", () => light(picture, item.dataset));
    item.addEventListener("pointerleave", () => dim(picture));
    item.addEventListener("focus", () => { items.forEach((one) => one.setAttribute("tabindex", one === item ? "0" : "-1"));
      light(picture, item.dataset); });
    item.addEventListener("blur", () => dim(picture));
    item.addEventListener("keydown", (event) => keyOn(event, picture, item));
  });
  if (editable) addPointer(picture);
  return picture;
}

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
  if (data.span) {
    const span = spanOf(sentence, data);
    mark(`[data-span="${data.span}"]`, "lit");
    for (let word = span.start; word < span.end; word++) mark(`text[data-word="${word}"]`, "near");
    if (span.head !== null && span.head !== undefined) {
      mark(`text[data-word="${span.head}"], [data-edge-word="${span.head}"]`, "lit");
      for (const one of sentence.spans)
        if (one.head === span.head && span.start <= one.start && one.end <= span.end)
          mark(`[data-edge-span="${one.start}-${one.end}"]`, "lit");
    }
    return;
  }
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

function requireFromTo(picture, from, to, how) {
  if (how === "span") wish(picture.at, "require_spans", [Math.min(from, to), Math.max(from, to) + 1]);
  else wish(picture.at, "require_arcs", [from, to]);
}

function addPointer(picture) {
  let from = null;
  picture.svg.addEventListener("pointerdown", (event) => {
    const word = event.target.closest?.("text[data-word]");
    from = word ? Number(word.dataset.word) : null;
    if (word && event.pointerType === "mouse") event.preventDefault();
  });
  picture.svg.addEventListener("pointerup", (event) => {
    const under = document.elementFromPoint(event.clientX, event.clientY)?.closest?.("text[data-word]");
    if (from !== null && under && picture.svg.contains(under) && Number(under.dataset.word) !== from) {
      const arc = (byId("drag").value === "arc") !== event.shiftKey;
      requireFromTo(picture, from, Number(under.dataset.word), arc ? "arc" : "span");
    }
    from = null;
  });
  picture.svg.addEventListener("click", (event) => {
    const item = event.target.closest?.("text[data-span], text[data-arc]");
    if (item) forbid(picture, item.dataset);
  });
}

function forbid(picture, data) {
  if (data.span) wish(picture.at, "forbid_spans", data.span.split("-").map(Number));
  else if (data.arc) wish(picture.at, "forbid_arcs", [picture.sentence.heads[data.arc] - 1, Number(data.arc)]);
}

function neighbour(picture, item, key) {
  const { svg, sentence } = picture;
  const find = (selector) => svg.querySelector(selector);
  const { word, span, arc } = item.dataset;
  const at = Number(word ?? arc ?? -1);
  const around = (start, end) => (sentence.spans || [])
    .filter((one) => one.start <= start && end <= one.end && one.end - one.start > (span ? end - start : 0))
    .sort((a, b) => (a.end - a.start) - (b.end - b.start))[0];
  const step = key === "ArrowRight" ? 1 : -1;
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
  } else if (picture.editable && (event.key === "Enter" || event.key === " ")) {
    event.preventDefault();
    forbid(picture, item.dataset);
  } else if (picture.editable && item.dataset.word !== undefined) {
    wordKey(event.key, picture, Number(item.dataset.word), item);
  }
}

function wordKey(key, picture, word, item) {
  if (key === "g" || key === "s") {
    picture.svg.querySelectorAll(".marked").forEach((one) => one.classList.remove("marked"));
    marked = { sentence: picture.at, word, how: key === "g" ? "arc" : "span" };
    item.classList.add("marked");
    say(key === "g" ? `Governor: ${item.textContent}. Go to a word and press d.`
      : `A phrase starts at ${item.textContent}. Go to its last word and press e.`);
  } else if (key === "r") {
    wish(picture.at, "require_arcs", [-1, word]);
  } else if ((key === "d" && marked?.how === "arc" && marked.word !== word || key === "e" && marked?.how === "span")
    && marked.sentence === picture.at) {
    requireFromTo(picture, marked.word, word, marked.how);
  }
}

// ---- copies and downloads

function save(name, blob) {
  const url = URL.createObjectURL(blob);
  element("a", { href: url, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(url), 1000);
}

async function pngOf(svg) {
  const source = svgOf(svg);
  const [width, height] = [Number(source.getAttribute("width")), Number(source.getAttribute("height"))];
  const image = new Image();
  image.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(svg)}`;
  await image.decode();
  const canvas = element("canvas", { width: 2 * width, height: 2 * height });
  canvas.getContext("2d").drawImage(image, 0, 0, 2 * width, 2 * height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function toolsOf(sentence, at) {
  const { svg, brackets, conllu, forest, tikz, ...plain } = sentence;
  const forms = { brackets: [brackets, "ptb"], "CoNLL-U": [conllu, "conllu"], JSON: [JSON.stringify(plain), "json"],
    SVG: [svg, "svg"], "LaTeX forest": [forest, "tex"], "LaTeX tikz": [tikz, "tex"] };
  const names = Object.keys(forms).filter((name) => forms[name][0]);
  const choice = element("select", { "aria-label": `Form of sentence ${at + 1}` },
    ...[...names, "PNG"].map((name) => element("option", {}, name)));
  const copy = async () => {
    if (choice.value === "PNG") return complain("A PNG can be downloaded, not copied.");
    try {
      await navigator.clipboard.writeText(forms[choice.value][0]);
      say(`Copied sentence ${at + 1} as ${choice.value}.`);
    } catch {
      complain("The browser does not allow copying; download instead.");
    }
  };
  const download = async () => {
    if (choice.value === "PNG") save(`sentence-${at + 1}.png`, await pngOf(svg));
    else save(`sentence-${at + 1}.${forms[choice.value][1]}`, new Blob([forms[choice.value][0]], { type: "text/plain" }));
    say(`Downloaded sentence ${at + 1} as ${choice.value}.`);
  };
  return element("div", { class: "row" }, choice,
    element("button", { type: "button", onclick: copy }, "Copy"),
    element("button", { type: "button", onclick: download }, "Download"));
}

// ---- treebanks

async function openFile(file) {
  complain("");
  try {
    const answer = await ask(`/v1/treebank?${new URLSearchParams({ name: file.name })}`, file, "application/octet-stream");
    treebank = { sentences: answer.sentences, at: -1 };
    byId("treebank-part").hidden = false;
    listSentences();
    say(`${file.name}: ${answer.sentences.length} sentences.`);
    if (treebank.sentences.length) await openSentence(0);
  } catch (error) {
    complain(`${file.name}: ${error.message}`);
  }
}

function wanted() {
  const search = byId("search").value.toLowerCase();
  const only = byId("disagreeing").checked;
  return treebank.sentences.map((_, at) => at).filter((at) => {
    const one = treebank.sentences[at];
    return (!only || one.disagreements.length) && `${one.id} ${one.text}`.toLowerCase().includes(search);
  });
}

function listSentences() {
  byId("list").replaceChildren(...wanted().slice(0, 500).map((at) => {
    const one = treebank.sentences[at];
    return element("li", { value: at + 1, class: one.disagreements.length ? "disagrees" : "", "aria-current": at === treebank.at ? "true" : "false" },
      element("button", { type: "button", dir: "auto", onclick: () => openSentence(at) }, `${one.id ? one.id + ": " : ""}${one.text}`));
  }));
}

async function openSentence(at) {
  const one = treebank.sentences[at];
  try {
    const answer = await ask("/v1/draw", JSON.stringify({ sentence: one.sentence, picture: PICTURE }));
    treebank.at = at;
    const picture = pictureOf({ ...answer, text: one.text }, 0, false);
    markDifference(picture.svg, { spans: [], arcs: one.disagreements });
    byId("shown").replaceChildren(element("figure", {}, element("figcaption", { dir: "auto" }, one.text), column("", picture)));
    listSentences();
    const words = one.disagreements.map((word) => answer.words[word]).join(", ");
    say(`Sentence ${at + 1} of ${treebank.sentences.length}.${words ? ` The two trees disagree on: ${words}.` : ""}`);
  } catch (error) {
    complain(error.message);
  }
}

function move(step) {
  const list = wanted();
  const next = step > 0 ? list.find((at) => at > treebank.at) : list.filter((at) => at < treebank.at).pop();
  if (next !== undefined) openSentence(next);
}

// ---- links, and the start

function keepLink() {
  const parts = new URLSearchParams({ text: byId("text").value });
  for (const name of ["model", "decoder", "compare"]) if (byId(name).value) parts.set(name, byId(name).value);
  if (wishes.length) parts.set("wishes", JSON.stringify(wishes.map((one) => [one.sentence, one.kind, ...one.pair])));
  history.replaceState(null, "", `#${parts}`);
}

function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (!parts.has("text")) return;
  byId("text").value = parts.get("text");
  for (const name of ["model", "decoder", "compare"]) {
    const options = [...byId(name).options].map((one) => one.value);
    if (options.includes(parts.get(name))) byId(name).value = parts.get(name);
  }
  try {
    wishes = JSON.parse(parts.get("wishes") || "[]")
      .filter(([sentence, kind, a, b]) => kind in KINDS && [sentence, a, b].every(Number.isInteger))
      .map(([sentence, kind, a, b]) => ({ sentence, kind, pair: [a, b] }));
  } catch {
    complain("The wishes in this link cannot be read.");
  }
}

async function start() {
  const answer = await ask("/v1/models");
  models = answer.models;
  byId("model").replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
  const decoders = answer.decoders;
  byId("decoder").replaceChildren(element("option", { value: "" }, "the model's own"), ...decoders.map((name) => element("option", {}, name)));
  byId("compare").replaceChildren(element("option", { value: "" }, "nothing"), ...models.flatMap(({ name }) =>
    decoders.map((decoder) => element("option", { value: `${name}\n${decoder}` }, models.length > 1 ? `${name}, ${decoder}` : decoder))));
  readLink();
  await parse();
}

byId("form").addEventListener("submit", (event) => { event.preventDefault(); parse(); });
byId("text").addEventListener("keydown", (event) => { if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) parse(); });
for (const name of ["model", "decoder", "compare"]) byId(name).addEventListener("change", parse);
byId("link").addEventListener("click", async () => {
  keepLink();
  try { await navigator.clipboard.writeText(location.href); say("The link is copied; it holds the text and the wishes."); }
  catch { say("The address of this page holds the text and the wishes."); }
});
byId("file").addEventListener("change", () => { if (byId("file").files[0]) openFile(byId("file").files[0]); });
document.addEventListener("dragover", (event) => event.preventDefault());
document.addEventListener("drop", (event) => { event.preventDefault(); if (event.dataTransfer.files[0]) openFile(event.dataTransfer.files[0]); });
byId("search").addEventListener("input", listSentences);
byId("disagreeing").addEventListener("change", listSentences);
byId("previous").addEventListener("click", () => move(-1));
byId("next").addEventListener("click", () => move(1));
byId("close").addEventListener("click", () => { byId("treebank-part").hidden = true; });
window.addEventListener("hashchange", () => { readLink(); parse(); });
start().catch((error) => complain(`The service does not answer: ${error.message}`));
