// The page of `h3n serve`: a text, its pictures, constraints, and the link that holds all of it.

import { toolsOf } from "./copies.js";
import { ask, byId, complain, element, number, say } from "./dom.js";
import { PICTURE, column, difference, markDifference, pictureOf } from "./pictures.js";
import { startTreebanks } from "./treebanks.js";

const FIELDS = ["words", "tags", "upos", "heads", "relations", "tree", "text", "spans", "arc_confidences", "brackets",
  "conllu", "svg", "forest", "tikz"];
const KINDS = { require_spans: "require", forbid_spans: "forbid", require_arcs: "require", forbid_arcs: "forbid" };

let constraints = []; // {sentence, kind, pair}
let shown = { text: null, sentences: [] }; // what is on the page
let asking = 0; // the number of the last request: older answers are passed over

// ---- constraints

function constraintsOf() {
  const grouped = new Map();
  for (const { sentence, kind, pair } of constraints) {
    if (!grouped.has(sentence)) grouped.set(sentence, { sentence });
    const one = grouped.get(sentence);
    one[kind] = [...(one[kind] || []), pair];
  }
  return [...grouped.values()];
}

function partOf({ sentence, kind, pair }) {
  const words = shown.sentences[sentence]?.words || [];
  const [a, b] = pair;
  return kind.endsWith("spans") ? `phrase “${words.slice(a, b).join(" ")}”` : `arc ${a < 0 ? "root" : words[a]} → ${words[b]}`;
}

const describe = (constraint) => `${KINDS[constraint.kind]} ${partOf(constraint)} (sentence ${constraint.sentence + 1})`;

// What the service calls a constraint that cannot be met.
function nameOf({ kind, pair: [a, b] }) {
  const verb = KINDS[kind] === "require" ? "required" : "forbidden";
  return kind.endsWith("spans") ? `span (${a}, ${b}) ${verb}` : `arc ${a < 0 ? "root" : a} -> ${b} ${verb}`;
}

// Returns an error with the words of the constraints in place of their numbers, and those constraints.
function readConflict(message) {
  const conflict = /contradict|cannot be met/.test(message) ? new Set() : null;
  const place = Number(/^sentence (\d+)/.exec(message)?.[1] ?? 1) - 1;
  for (const constraint of conflict ? constraints : []) {
    if (constraint.sentence !== place || !message.includes(nameOf(constraint))) continue;
    conflict.add(constraint);
    message = message.replace(nameOf(constraint), `${partOf(constraint)} ${KINDS[constraint.kind] === "require" ? "required" : "forbidden"}`);
  }
  return { message, conflict: conflict || new Set() };
}

function showConstraints(conflict) {
  byId("constraints-part").hidden = !constraints.length;
  byId("constraints").replaceChildren(...constraints.map((constraint) => element("li", { class: conflict.has(constraint) ? "conflict" : "" },
    `${describe(constraint)}${conflict.has(constraint) ? ": in conflict" : ""} `,
    element("button", { type: "button", "aria-label": `Remove: ${describe(constraint)}`, onclick: () => {
      constraints = constraints.filter((one) => one !== constraint);
      parse();
    } }, "Remove"))));
}

function constrain(sentence, kind, pair) {
  const same = (one) => one.sentence === sentence && one.pair[0] === pair[0] && one.pair[1] === pair[1];
  const opposite = kind.replace(/^\w+?_/, KINDS[kind] === "forbid" ? "require_" : "forbid_");
  constraints = constraints.filter((one) => !(same(one) && [kind, opposite].includes(one.kind)));
  constraints.push({ sentence, kind, pair });
  parse();
}

// ---- parsing

async function request(model, decoder) {
  const body = { text: byId("text").value, model, fields: FIELDS, picture: PICTURE, constraints: constraintsOf() };
  if (decoder) body.decoder = decoder;
  return ask("/v1/parse", JSON.stringify(body));
}

async function parse() {
  const own = ++asking;
  const text = byId("text").value;
  if (text !== shown.text && shown.text !== null) constraints = [];
  complain("");
  say("Parsing …");
  const compare = byId("compare").value;
  let conflict = new Set();
  try {
    const asked = [request(byId("model").value, byId("decoder").value)];
    if (compare) asked.push(request(...compare.split("\n")));
    const [answer, other] = await Promise.all(asked);
    if (own !== asking) return;
    const before = shown.text === text ? shown.sentences : null;
    shown = { text, sentences: answer.sentences };
    const restore = focusIn(byId("results"));
    show(answer, other, before);
    restore();
  } catch (error) {
    if (own !== asking) return;
    say(constraints.length ? "The pictures are those from before. Remove a constraint to go on." : "");
    const read = readConflict(error.message);
    conflict = read.conflict;
    complain(read.message);
  }
  showConstraints(conflict);
  keepLink();
}

// Returns a function that goes back to the part of a picture where the keyboard was, or else to its first word.
function focusIn(results) {
  const item = document.activeElement?.closest?.("svg text");
  if (!item || !results.contains(item) || !item.matches(":focus-visible")) return () => {};
  const at = [...results.querySelectorAll("figure")].indexOf(item.closest("figure"));
  const [key, value] = Object.entries(item.dataset)[0];
  return () => {
    const figure = results.querySelectorAll("figure")[at];
    (figure?.querySelector(`text[data-${key}="${value}"]`) || figure?.querySelector("text[tabindex='0']"))?.focus();
  };
}

function show(answer, other, before) {
  let phrases = 0;
  let arcs = 0;
  const comparable = (list, at) => list && list.length === answer.sentences.length ? list[at] : null;
  byId("results").replaceChildren(...answer.sentences.map((sentence, at) => {
    const against = comparable(other?.sentences, at) || comparable(before, at);
    const figure = element("figure", {}, element("figcaption", { dir: "auto" }, sentence.text));
    const columns = element("div", { class: other ? "pair" : "" });
    const left = pictureOf(sentence, at, constrain);
    columns.append(column(other && `${answer.model}, ${answer.decoder}`, left));
    if (against) {
      const changed = difference(sentence, against);
      phrases += changed.spans.length;
      arcs += changed.arcs.length;
      markDifference(left.svg, changed);
    }
    if (other) {
      const right = pictureOf(other.sentences[at], at);
      markDifference(right.svg, difference(other.sentences[at], sentence));
      columns.append(column(`${other.model}, ${other.decoder}`, right));
    }
    figure.append(columns, toolsOf(sentence, at));
    return figure;
  }));
  const compared = other ? "differ between the two" : "differ from before";
  const changes = other || before ? ` ${number(phrases, "phrase")} and ${number(arcs, "arc")} ${compared}.` : "";
  say(`${number(answer.sentences.length, "sentence")}, decoder ${answer.decoder}.${changes}`);
}

// ---- links, and the start

function keepLink() {
  const parts = new URLSearchParams({ text: byId("text").value });
  for (const name of ["model", "decoder", "compare"]) if (byId(name).value) parts.set(name, byId(name).value);
  if (constraints.length) parts.set("constraints", JSON.stringify(constraints.map((one) => [one.sentence, one.kind, ...one.pair])));
  history.replaceState(null, "", `#${parts}`);
}

function readLink() {
  const parts = new URLSearchParams(location.hash.slice(1));
  if (!parts.has("text")) return;
  byId("text").value = parts.get("text");
  shown = { text: null, sentences: [] };
  for (const name of ["model", "decoder", "compare"]) {
    const options = [...byId(name).options].map((one) => one.value);
    byId(name).value = options.includes(parts.get(name)) ? parts.get(name) : options[0];
  }
  try {
    constraints = JSON.parse(parts.get("constraints") || "[]")
      .filter(([sentence, kind, a, b]) => kind in KINDS && [sentence, a, b].every(Number.isInteger))
      .map(([sentence, kind, a, b]) => ({ sentence, kind, pair: [a, b] }));
  } catch {
    constraints = [];
  }
}

async function start() {
  const { models, decoders } = await ask("/v1/models");
  byId("model").replaceChildren(...models.map(({ name }) => element("option", { value: name }, name)));
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
  try { await navigator.clipboard.writeText(location.href); say("The link is copied; it holds the text and the constraints."); }
  catch { say("The address of this page holds the text and the constraints."); }
});
window.addEventListener("hashchange", () => { readLink(); parse(); });
startTreebanks();
start().catch((error) => complain(`The service does not answer: ${error.message}`));
