"""A model as a teacher: sentences with arcs of their own get phrases, raw text both trees, in files training reads."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from h3n import formats
from h3n.config import Data, Treebank
from h3n.corpus import Options, parse_corpus
from h3n.corpus.status import status_of
from h3n.corpus.storage import Folder
from h3n.errors import UsageError
from h3n.training import load_examples
from h3n.trees import Sentence
from tests.corpus.conftest import contents

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
KEEP = Options(keep_arcs=True, output_format="jsonl", shard_size=4_000)


@pytest.fixture
def silver(tmp_path: Path) -> Path:
    """Return the dependencies of the example treebank as JSON lines, which are cut into shards anywhere."""
    file = tmp_path / "silver.jsonl"
    formats.write(formats.read(TREEBANK / "dev.conllu"), file)
    return file


def test_training_reads_what_a_teacher_wrote(silver: Path, tiny_model: Path, tmp_path: Path) -> None:
    out = tmp_path / "out"
    finished = parse_corpus([str(silver)], out, model=str(tiny_model), options=KEEP, workers=1)
    parts = sorted(out.glob("part-*.jsonl"))
    assert finished.shards == len(parts) > 1
    assert status_of(Folder(str(out))).progress.done == len(parts)
    whole = tmp_path / "taught.jsonl"
    whole.write_bytes(b"".join(part.read_bytes() for part in parts))
    gold = list(formats.read(TREEBANK / "dev.conllu"))
    examples = load_examples([Treebank(files=(str(whole),))], data=Data())
    assert [example.sentence.words for example in examples] == [sentence.words for sentence in gold]
    assert [example.sentence.dependencies for example in examples] == [sentence.dependencies for sentence in gold]
    assert [example.sentence.tags for example in examples] == [sentence.tags for sentence in gold]
    assert all(example.spans and example.levels for example in examples)
    assert len({one.sent_id for one in formats.read(whole)}) == len(gold)


def test_soft_labels_say_what_else_was_likely(silver: Path, tiny_model: Path, tmp_path: Path) -> None:
    """Kept arcs and given tags have no labels beside them; everything that the teacher found has."""
    raw = tmp_path / "raw.jsonl"
    formats.write((Sentence(words=one.words) for one in formats.read(silver)), raw)
    found = {}
    for name, file, keep in (("kept", silver, True), ("free", raw, False)):
        options = Options(keep_arcs=keep, output_format="jsonl", soft_labels=True)
        parse_corpus([str(file)], tmp_path / name, model=str(tiny_model), options=options, workers=1)
        parts = sorted((tmp_path / name).glob("part-*.jsonl"))
        found[name] = load_examples([Treebank(files=(str(part),)) for part in parts], data=Data())
    for kept, free in zip(found["kept"], found["free"], strict=True):
        given, taught = kept.sentence.soft_labels, free.sentence.soft_labels
        assert given is not None
        assert taught is not None
        assert given.spans == taught.spans != ()
        assert given.governors == given.relations == given.tags == given.upos == ()
        assert len(taught.governors) == len(taught.relations) == len(taught.tags) == len(free.sentence)


def test_soft_labels_need_a_format_that_has_them() -> None:
    with pytest.raises(UsageError, match="soft labels in the format conllu; expected jsonl"):
        Options(output_format="conllu", soft_labels=True)


def test_it_goes_on_to_the_same_bytes(silver: Path, tiny_model: Path, tmp_path: Path) -> None:
    one, two = tmp_path / "one", tmp_path / "two"
    for out in (one, two):
        parse_corpus([str(silver)], out, model=str(tiny_model), options=KEEP, workers=1)
    (two / "part-000000.jsonl").unlink()
    parse_corpus([str(silver)], two, model=str(tiny_model), options=KEEP, workers=1)
    assert contents(one) == contents(two)


def test_what_is_not_sure_is_left_out(texts: Path, tiny_model: Path, tmp_path: Path) -> None:
    every = Options(output_format="jsonl")
    parse_corpus([str(texts)], tmp_path / "all", model=str(tiny_model), options=every, workers=1)
    lines = [
        json.loads(line) for part in (tmp_path / "all").glob("part-*.jsonl") for line in part.read_text().splitlines()
    ]
    means = sorted({round(mean_of(line), 4) for line in lines})
    assert len(means) > 2
    least = (means[0] + means[1]) / 2
    some = Options(output_format="jsonl", min_confidence=least)
    finished = parse_corpus([str(texts)], tmp_path / "some", model=str(tiny_model), options=some, workers=1)
    assert finished.left_out == sum(mean_of(line) < least for line in lines) > 0
    assert finished.sentences == len(lines) - finished.left_out
    summary = json.loads((tmp_path / "some" / "summary.json").read_text(encoding="utf-8"))
    assert summary["left_out"] == finished.left_out


def mean_of(line: dict[str, object]) -> float:
    arcs, spans = line["arc_confidences"], line["spans"]
    assert isinstance(arcs, list)
    assert isinstance(spans, list)
    sure = [*arcs, *(span["confidence"] for span in spans)]
    return sum(sure) / len(sure)


def test_a_confidence_that_cannot_be_is_refused() -> None:
    with pytest.raises(UsageError, match="between 0 and 1 is accepted"):
        Options(min_confidence=90)
