// Copies and downloads of a sentence in every form.

import { complain, element, say } from "./dom.js";
import { svgOf } from "./pictures.js";

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

// name -> what is copied or saved, and the ending of its file
function formsOf({ svg, brackets, conllu, forest, tikz, ...plain }) {
  const text = (content) => content && (async () => new Blob([content], { type: "text/plain" }));
  const forms = { brackets: [text(brackets), "ptb"], "CoNLL-U": [text(conllu), "conllu"],
    JSON: [text(JSON.stringify(plain)), "json"], SVG: [text(svg), "svg"], PNG: [() => pngOf(svg), "png"],
    "LaTeX forest": [text(forest), "tex"], "LaTeX tikz": [text(tikz), "tex"] };
  return Object.fromEntries(Object.entries(forms).filter(([, [content]]) => content));
}

export function toolsOf(sentence, at) {
  const forms = formsOf(sentence);
  const choice = element("select", { "aria-label": `Form of sentence ${at + 1}` },
    ...Object.keys(forms).map((name) => element("option", {}, name)));
  const copy = async () => {
    try {
      const blob = await forms[choice.value][0]();
      await navigator.clipboard.write([new ClipboardItem({ [blob.type]: blob })]);
      say(`Copied sentence ${at + 1} as ${choice.value}.`);
    } catch {
      complain("The browser does not allow copying; download instead.");
    }
  };
  const download = async () => {
    const [content, ending] = forms[choice.value];
    save(`sentence-${at + 1}.${ending}`, await content());
    say(`Downloaded sentence ${at + 1} as ${choice.value}.`);
  };
  return element("div", { class: "row" }, choice,
    element("button", { type: "button", onclick: copy }, "Copy"),
    element("button", { type: "button", onclick: download }, "Download"));
}
