"""The parts of `h3n.measure` that every measurement uses, on figures that are known; nothing here is timed."""

from __future__ import annotations

import importlib
import io
import random
import sys
from pathlib import Path

import pytest

from benchmarks._processes import peak_memory
from benchmarks._samples import random_rows, random_tree, random_words
from benchmarks.conversion import count_agreement, trees_of
from benchmarks.phrases import measure_phrases, total
from benchmarks.segmentation import measure_splitters, measure_tokenizers, score_layouts
from h3n import formats
from h3n.measure.plots import new_figure, save_figure
from h3n.measure.provenance import public_name
from h3n.measure.samples import plain_text
from h3n.measure.tables import growth_text, markdown_table, seconds_text, text_table, times_text
from h3n.measure.timing import least, least_in_turns, least_with_result, least_within
from h3n.text.documents import documents as documents_of

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
ROWS = """# newdoc id = one
# sent_id = GUM_news_one-1
# text = She sleeps.
1	She	she	PRON	PRP	_	2	nsubj	_	_
2	sleeps	sleep	VERB	VBZ	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

# sent_id = GUM_news_one-2
# text = He eats.
1	He	he	PRON	PRP	_	2	nsubj	_	_
2	eats	eat	VERB	VBZ	_	0	root	_	SpaceAfter=No
3	.	.	PUNCT	.	_	2	punct	_	_

# newdoc id = two
# text = Go!
1	Go	go	VERB	VB	_	0	root	_	SpaceAfter=No
2	!	!	PUNCT	.	_	1	punct	_	_

"""


class Clock:
    """Says the times it is given, one after the other."""

    def __init__(self, *times: float) -> None:
        self.times = list(times)

    def __call__(self) -> float:
        return self.times.pop(0)


def test_the_fastest_run_counts() -> None:
    assert least(lambda: None, repeat=3, clock=Clock(0, 5, 10, 12, 20, 24)) == 2
    answers = iter("abc")
    assert least_with_result(lambda: next(answers), repeat=2, clock=Clock(0, 1, 2, 5)) == ("b", 1)
    assert least_within(lambda: None, seconds=9, clock=Clock(0, 4, 4, 7, 7, 9)) == 2
    assert least_within(lambda: None, seconds=0, clock=Clock(0, 4, 4, 7)) == 3


def test_actions_take_turns() -> None:
    done: list[str] = []
    actions = {name: lambda name=name: done.append(name) for name in "ab"}
    times = least_in_turns(actions, repeat=2, clock=Clock(0, 4, 4, 5, 5, 8, 8, 10))
    assert "".join(done) == "abab"
    assert times == {"a": 3, "b": 1}


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="this system does not say what a process takes")
def test_memory_is_that_of_the_other_process() -> None:
    small, large = (peak_memory("x = bytearray(int(sys.argv[1]))", [str(size)]) for size in (0, 200_000_000))
    assert 180_000_000 < large - small < 260_000_000


def test_tables() -> None:
    rows = [("a", "10"), ("bb", "9")]
    assert text_table(rows) == "a   10\nbb  9"
    assert text_table(rows, left=1) == "a   10\nbb   9"
    assert markdown_table(("x", "y"), rows) == "| x | y |\n| --- | ---: |\n| a | 10 |\n| bb | 9 |"
    assert [seconds_text(value) for value in (0.01, 0.5, 2, 20, 2000)] == [
        "10.0 ms",
        "500 ms",
        "2.00 s",
        "20.0 s",
        "2,000 s",
    ]
    assert times_text(None) == "-"
    assert times_text(1234.5, mark="~") == "~1,234 x"
    assert growth_text([("cky", 2.0), ("mst", None)]) == "cky n^2.00"


def test_the_same_figure_is_the_same_file(tmp_path: Path) -> None:
    for name in ("a.png", "b.png"):
        figure = new_figure(2, 2)
        figure.subplots().plot([1, 2])
        save_figure(figure, tmp_path / name)
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_files_have_public_names(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("H3N_DATA", "/treebanks/")
    assert public_name("/treebanks/gum/dev.ptb") == "$H3N_DATA/gum/dev.ptb"
    assert public_name("/elsewhere/mine/dev.ptb") == "mine/dev.ptb"


def test_random_samples_can_be_read() -> None:
    chance = random.Random(1)
    texts = {"brackets": random_tree, "conllu": random_rows}
    for name, draw in texts.items():
        words = [random_words(chance) for _ in range(20)]
        text = "".join(draw(one, chance) for one in words)
        assert [list(s.words) for s in formats.read(io.StringIO(text), format=name)] == words
    assert plain_text().count("\n\n") > 3


def test_documents_and_how_they_are_cut(tmp_path: Path) -> None:
    (tmp_path / "a.conllu").write_text(ROWS, encoding="utf-8")
    documents = list(documents_of(formats.read(tmp_path / "a.conllu")))
    assert [document.paragraphs for document in documents] == [["She sleeps. He eats."], ["Go!"]]
    for _, scores in score_layouts(documents):
        assert scores == {"Tokens": 100.0, "Words": 100.0, "Sentences": 100.0}
    for measured in (measure_splitters, measure_tokenizers):
        ours = next(iter(measured(documents, repeat=1)))
        assert ours.name.startswith("h3n")
        assert ours.f1 == 100
        assert ours.rate > 0


def test_phrases_and_conversions_are_counted(tmp_path: Path) -> None:
    (tmp_path / "xx-a.conllu").write_text(ROWS, encoding="utf-8")
    figures = measure_phrases(tmp_path)
    assert list(figures) == ["xx"]
    counted = total(figures)
    assert (counted.sentences, counted.words, counted.lifted, counted.failures) == (3, 8, 0, 0)
    brackets = "(S (NP (PRP She)) (VP (VBZ sleeps)) (. .))\n"
    trees = trees_of(formats.read(io.StringIO(brackets), format="brackets"))
    gold = [s.dependencies for s in formats.read(io.StringIO(ROWS), format="conllu") if s.dependencies is not None]
    counts = count_agreement(trees, gold[:1], "ud2")
    assert (counts["words"], counts["governors"], counts["relations"]) == (3, 3, 3)


@pytest.mark.parametrize("name", sorted(path.stem for path in BENCHMARKS.glob("[a-z]*.py")))
def test_benchmarks_say_what_they_do(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    if name == "decoders":
        pytest.skip("decoders takes no options")
    monkeypatch.syspath_prepend(str(BENCHMARKS.parent))
    module = importlib.import_module(f"benchmarks.{name}")
    with pytest.raises(SystemExit) as left:
        module.main(["--help"])
    assert left.value.code == 0
    assert "usage" in capsys.readouterr().out
    sys.modules.pop(f"benchmarks.{name}")
