// Treebank files: opened, dropped, listed, searched.

import { ask, byId, complain, element, number, say } from "./dom.js";
import { PICTURE, column, markDifference, pictureOf } from "./pictures.js";

const LISTED = 500; // sentences in the list at once, so that a large treebank does not slow the page down
let treebank = { sentences: [], at: -1 };

export async function openFiles(files) {
  const [first, second] = files;
  const names = [...files].map((file) => file.name).join(" and ");
  complain("");
  if (files.length > 2) return complain(`${files.length} files; open one, or two over the same sentences.`);
  try {
    const query = { name: first.name, ...(second && { second: second.name, size: first.size }) };
    const body = second ? new Blob([first, second]) : first;
    const answer = await ask(`/v1/treebank?${new URLSearchParams(query)}`, body, "application/octet-stream");
    treebank = { sentences: answer.sentences, at: -1 };
    byId("treebank-part").hidden = false;
    byId("shown").replaceChildren();
    listSentences();
    say(`${names}: ${number(answer.sentences.length, "sentence")}.`);
    if (treebank.sentences.length) await openSentence(0);
  } catch (error) {
    complain(`${names}: ${error.message}`);
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
  const list = wanted();
  byId("found").textContent = list.length > LISTED ? `The first ${LISTED} of ${list.length} are listed.` : `${list.length} listed.`;
  byId("list").replaceChildren(...list.slice(0, LISTED).map((at) => {
    const one = treebank.sentences[at];
    return element("li", { value: at + 1, class: one.disagreements.length ? "disagrees" : "", "aria-current": at === treebank.at ? "true" : "false" },
      element("button", { type: "button", dir: "auto", onclick: () => openSentence(at) }, `${one.id ? one.id + ": " : ""}${one.text}`));
  }));
}

async function openSentence(at) {
  const one = treebank.sentences[at];
  complain("");
  try {
    const answer = await ask("/v1/draw", JSON.stringify({ sentence: one.sentence, picture: PICTURE }));
    treebank.at = at;
    const picture = pictureOf({ ...answer, text: one.text }, 0);
    markDifference(picture.svg, { spans: [], arcs: one.disagreements });
    byId("shown").replaceChildren(element("figure", {}, element("figcaption", { dir: "auto" }, one.text), column("", picture)));
    listSentences();
    byId("list").querySelector("[aria-current=true]")?.scrollIntoView({ block: "nearest" });
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
  else say(step > 0 ? "This is the last of the listed sentences." : "This is the first of the listed sentences.");
}

export function startTreebanks() {
  byId("file").addEventListener("change", () => { if (byId("file").files.length) openFiles(byId("file").files); });
  document.addEventListener("dragover", (event) => event.preventDefault());
  document.addEventListener("drop", (event) => {
    event.preventDefault();
    if (event.dataTransfer.files.length) openFiles(event.dataTransfer.files);
  });
  byId("search").addEventListener("input", listSentences);
  byId("disagreeing").addEventListener("change", listSentences);
  byId("previous").addEventListener("click", () => move(-1));
  byId("next").addEventListener("click", () => move(1));
  byId("close").addEventListener("click", () => { byId("treebank-part").hidden = true; byId("file").value = ""; });
}
