"""UDPipe 1 on the data that models are trained from: `python -m benchmarks.udpipe --cache DIR [NAME ...]`.

For every language of the table (`src/h3n/treebanks/tables/world.toml`) UDPipe's tokenizer, tagger and parser are
trained on the first sentences for training, at most 3,000, and scored on dev: from raw text by the metrics of the CoNLL
2018 shared task, and with gold words (UAS and LAS without words of punctuation; lemmas, tags and features). Settings
are UDPipe's own but for the tokenizer's epochs (20 instead of 100), and nothing is chosen on dev. Sentences whose text
is not known teach no tokenizer; a treebank without any has no scores from raw text.

Needs `ufal.udpipe` and the environment variable H3N_DATA. The smallest come first; a line of the results is written
for each as it is finished, and those that are there are not done again. Prepared data and models go to the cache.
"""

from __future__ import annotations

import argparse
import io
import json
import os
import sys
import time
from collections.abc import Sequence
from itertools import islice
from pathlib import Path
from typing import Any

from h3n import formats
from h3n.evaluate import score_attachments, score_conll18
from h3n.prepare import Options, prepare
from h3n.text.documents import BREAK, documents, has_text
from h3n.treebanks import known_recipes
from h3n.trees import Sentence

RESULTS = Path(__file__).parents[1] / "results" / "udpipe.json"
LIMIT = 3000
WORLD = "world-"
TOKENIZER = "dimension=24;epochs=20"
RAW = ("Words", "Sentences", "Tokens", "UPOS", "UFeats", "Lemmas", "UAS", "LAS", "MLAS", "BLEX")
GIVEN = ("UPOS", "UFeats", "Lemmas")


def main(argv: list[str] | None = None) -> int:
    """Train and score what is not in the results yet; return 0."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("names", nargs="*", help="languages of the table; without any, all")
    options.add_argument("--cache", type=Path, required=True, help="a folder for prepared data and models")
    options.add_argument("--data", type=Path, default=os.environ.get("H3N_DATA"), help="folder of treebanks")
    options.add_argument("--results", type=Path, default=RESULTS)
    given = options.parse_args(argv)
    if given.data is None:
        print("not measured: name a folder of treebanks with --data or in H3N_DATA")
        return 0
    known = [name.removeprefix(WORLD) for name in known_recipes() if name.startswith(WORLD)]
    names = given.names or known
    finished = {line["name"] for line in map(json.loads, result_lines(given.results))}
    waiting = {name: prepared(name, given.data, given.cache) for name in names if name not in finished}
    sizes = {name: _size(folder) for name, folder in waiting.items()}
    print(f"{len(waiting)} to do, {len(finished)} done", flush=True)
    begin, trained = time.monotonic(), 0
    for name in sorted(waiting, key=lambda name: sizes[name]):
        line = _measure(name, waiting[name], given.cache)
        with given.results.open("a", encoding="utf-8") as stream:
            stream.write(json.dumps(line, ensure_ascii=False) + "\n")
        trained += sizes.pop(name)
        spent = time.monotonic() - begin
        left = spent / trained * sum(sizes.values()) / 60
        print(f"{name}: LAS {line['gold_words']['LAS']}; {len(sizes)} to go, about {left:.0f} minutes", flush=True)
    return 0


def result_lines(file: Path) -> list[str]:
    return file.read_text(encoding="utf-8").splitlines() if file.exists() else []


def prepared(name: str, data: Path, cache: Path) -> Path:
    """Return the folder with the prepared treebank, which is made where it is not there."""
    folder = cache / "prepared" / name
    if not folder.exists():
        prepare(WORLD + name, data, folder, options=Options(splits=("train", "dev"), keep_going=True))
    return folder


def _size(folder: Path) -> int:
    """Return how many words UDPipe will learn from."""
    return sum(map(len, islice(formats.read(folder / "train.conllu"), LIMIT)))


def _measure(name: str, folder: Path, cache: Path) -> dict[str, object]:
    """Return the scores of a model trained on a prepared treebank."""
    from ufal.udpipe import Pipeline, ProcessingError

    train = list(islice(formats.read(folder / "train.conllu"), LIMIT))
    # The tokenizer may learn from sentences further on where the first have no text.
    texts = list(islice(filter(has_text, formats.read(folder / "train.conllu")), LIMIT))
    dev = list(formats.read(folder / "dev.conllu"))
    start = time.process_time()
    parser = train_model(train, "none", "", "", cache / f"{name}.udpipe")
    tokenizer = train_model(texts, TOKENIZER, "none", "none", cache / f"{name}.tokenizer.udpipe") if texts else None
    seconds = round(time.process_time() - start)

    def run(model: Any, text: str, kind: str, then: str = "") -> str:
        error = ProcessingError()
        result: str = Pipeline(model, kind, then, then, "conllu").process(text, error)
        if error.occurred():
            raise RuntimeError(f"{name}: {error.message}")
        return result

    ours = sentences_of(run(parser, _conllu(dev), "conllu"))
    attachment, given = score_attachments(dev, ours), score_conll18(dev, ours)
    line: dict[str, object] = {
        "name": name,
        "train": len(train),
        "words": sum(map(len, train)),
        "dev": len(dev),
        "seconds": seconds,
        "gold_words": {
            "UAS": round(attachment.uas, 2),
            "LAS": round(attachment.las, 2),
            **{metric: round(given[metric].f1, 2) for metric in GIVEN},
        },
    }
    if tokenizer is not None and all(map(has_text, dev)):
        words = run(tokenizer, BREAK.join(document.text for document in documents(dev)), "tokenize", "none")
        raw = score_conll18(dev, sentences_of(run(parser, words, "conllu")))
        line["raw_text"] = {"learned_from": len(texts), **{metric: round(raw[metric].f1, 2) for metric in RAW}}
    return line


def train_model(sentences: Sequence[Sentence], tokenizer: str, tagger: str, parser: str, file: Path) -> Any:
    """Return a model of UDPipe with these parts, trained unless its file is there."""
    from ufal.udpipe import Model, ProcessingError, Sentences, Trainer

    if not file.exists():
        error = ProcessingError()
        data = Trainer.train(
            "morphodita_parsito", _read(_conllu(sentences)), Sentences(), tokenizer, tagger, parser, error
        )
        if error.occurred():
            raise RuntimeError(error.message)
        draft = file.with_suffix(".part")
        draft.write_bytes(data)
        draft.replace(file)
    return Model.load(str(file))


def sentences_of(conllu: str) -> list[Sentence]:
    return list(formats.read(io.StringIO(conllu), format="conllu"))


def _conllu(sentences: Sequence[Sentence]) -> str:
    stream = io.StringIO()
    formats.write(sentences, stream, format="conllu")
    return stream.getvalue()


def _read(text: str) -> Any:
    from ufal.udpipe import InputFormat, ProcessingError, Sentence, Sentences

    reader, error, found = InputFormat.newConlluInputFormat(), ProcessingError(), Sentences()
    reader.setText(text)
    sentence = Sentence()
    while reader.nextSentence(sentence, error):
        found.append(sentence)
        sentence = Sentence()
    if error.occurred():
        raise RuntimeError(error.message)
    return found


if __name__ == "__main__":
    sys.exit(main())
