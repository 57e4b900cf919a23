"""Where two files disagree, and the page that shows it."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from xml.etree import ElementTree

import pytest
from typer.testing import CliRunner

from h3n import formats
from h3n.cli.commands import app
from h3n.draw.plots import bar_plot, interval_plot
from h3n.errors import MismatchError
from h3n.evaluate import ClassCounts
from h3n.trees import Constituent, Dependencies, Leaf, Sentence, Span
from h3n.workbench import diff_page, find_differences, genres, judge

WORDS = ("the", "dog", "saw", "<cats>")
TREE = Constituent(
    "TOP",
    (
        Constituent(
            "S",
            (
                Constituent("NP", (Leaf("DT", "the"), Leaf("NN", "dog"))),
                Constituent("VP", (Leaf("VBD", "saw"), Constituent("NP", (Leaf("NNS", "<cats>"),)))),
            ),
        ),
    ),
)
FLAT = Constituent(
    "TOP",
    (
        Constituent(
            "S",
            (
                Constituent("PP", (Leaf("DT", "the"), Leaf("NN", "dog"))),
                Leaf("VBD", "saw"),
                Leaf("NNS", "<cats>"),
            ),
        ),
    ),
)


def sentence(
    tree: Constituent | None = TREE,
    *,
    governors: tuple[int, ...] = (1, 2, -1, 2),
    relations: tuple[str, ...] = ("det", "nsubj", "root", "obj"),
    comments: tuple[str, ...] = (),
) -> Sentence:
    tags = ("DT", "NN", "VBD", "NNS")
    arcs = Dependencies(governors, relations)
    return Sentence(words=WORDS, tags=tags, tree=tree, dependencies=arcs, comments=comments)


OTHER = sentence(FLAT, governors=(2, 2, -1, 2), relations=("det", "obj", "root", "obj"))


def test_what_is_different_is_found_and_counted() -> None:
    differences, tables = find_differences([sentence(), sentence()], [sentence(), OTHER])
    assert [one.size for one in differences] == [0, 6]
    changed = differences[1]
    assert changed.arcs == {0, 1}
    assert changed.spans[0] == {Span(0, 2, "NP"), Span(2, 4, "VP"), Span(3, 4, "NP")}
    assert changed.spans[1] == {Span(0, 2, "PP")}
    assert tables.labels["NP", "PP"] == 1
    assert tables.labels["VP", "(no phrase)"] == 1
    assert tables.relations == {
        ("det", "det"): 2,
        ("nsubj", "nsubj"): 1,
        ("nsubj", "obj"): 1,
        ("root", "root"): 2,
        ("obj", "obj"): 2,
    }
    assert tables.by_distance == {"1": ClassCounts(6, 5), "root": ClassCounts(2, 2)}
    assert tables.by_length == {"1-10": ClassCounts(8, 6)}
    assert tables.phrases_by_length == {"1-10": ClassCounts(8, 5)}


def test_what_is_different_is_marked_in_the_drawing() -> None:
    (difference,), _ = find_differences([sentence()], [OTHER])
    marked = difference.drawable(0)
    assert marked.arcs == [0.0, 0.0, 1.0, 1.0]
    assert marked.spans == {(0, 2): 0.0, (2, 4): 0.0, (3, 4): 0.0}
    page = diff_page([difference], find_differences([sentence()], [OTHER])[1], names=("a", "b"))
    assert page.count("h3n-doubt") >= 2
    (same,), tables = find_differences([sentence()], [sentence()])
    assert "h3n-doubt" not in diff_page([same], tables, names=("a", "b"))


@pytest.mark.parametrize(
    ("comments", "expected"),
    [
        (["# newdoc id = GUM_academic_art", "", "# newdoc id = GUM_vlog_x"], ["academic", "academic", "vlog"]),
        (["# genre = letter", "", "# sent_id = weblog-blogspot.com_x-1"], ["letter", "unknown", "weblog"]),
        (["# sent_id = GUM_bio_byron-9", "# sent_id = 7", ""], ["bio", "unknown", "unknown"]),
    ],
)
def test_genres_are_in_comments(comments: list[str], expected: list[str]) -> None:
    assert list(genres(sentence(comments=(comment,) if comment else ()) for comment in comments)) == expected


def test_sentences_are_sorted_as_asked() -> None:
    short = Sentence(words=("hm",), dependencies=Dependencies((-1,), ("root",)))
    wrong = replace(short, dependencies=Dependencies((-1,), ("dep",)))
    differences, tables = find_differences([sentence(), short, sentence()], [OTHER, wrong, sentence()])
    places = {
        order: [page.index(f"<h3>{number}:") for number in (1, 2)]
        for order in ("error", "length", "file")
        if (page := diff_page(differences, tables, names=("a", "b"), order=order))
    }
    assert places["error"][0] < places["error"][1]
    assert places["length"][1] < places["length"][0]
    assert places["file"][0] < places["file"][1]
    assert "<h3>3:" not in diff_page(differences, tables, names=("a", "b"))
    assert "<h3>2:" not in diff_page(differences, tables, names=("a", "b"), top=1)


def test_two_parsers_are_judged_by_gold() -> None:
    gold = [sentence()] * 20
    verdict = judge(gold, [sentence()] * 20, [OTHER] * 20, samples=200, seed=0)
    assert verdict.only == (40, 0)
    assert verdict.p < 1e-6
    assert verdict.intervals["LAS"].difference == 50.0
    differences, tables = find_differences([sentence()] * 20, [OTHER] * 20)
    page = diff_page(differences, tables, names=("a", "b"), verdict=verdict)
    assert "in A alone: 40" in page
    assert "95 % interval" in page


def test_no_tree_in_common_is_an_error() -> None:
    arcs, phrases = replace(sentence(), tree=None), replace(sentence(), dependencies=None)
    with pytest.raises(MismatchError, match="no kind of tree in common"):
        find_differences([arcs], [phrases])


def test_plots_are_sound_svg() -> None:
    for plot in (
        bar_plot([("<a>", 3.0, "3"), ("b", 0.0, "0")]),
        interval_plot({"UAS": (-1.0, 0.5, 2.0)}),
        bar_plot([]),
    ):
        assert ElementTree.fromstring(plot).tag.endswith("svg")


def test_the_command_writes_a_page_without_scripts_or_outside_files(tmp_path: Path) -> None:
    first, second = tmp_path / "a.jsonl", tmp_path / "b.jsonl"
    formats.write([sentence(comments=("# newdoc id = GUM_bio_x",)), sentence()], str(first))
    formats.write([sentence(), OTHER], str(second))
    page = tmp_path / "diff.html"
    options = ["--gold", str(first), "--samples", "50", "-o", str(page)]
    result = CliRunner().invoke(app, ["diff", str(first), str(second), *options])
    assert result.exit_code == 1
    text = page.read_text(encoding="utf-8")
    assert "<script" not in text
    assert not [part for part in ("src=", "href=", "url(", "@import") if part in text]
    assert "bio" in text
    assert '<th class="name">in A</th><th class="name">in B</th><th>times</th>' in text
    assert "&lt;cats&gt;" in text
    assert "<cats>" not in text
    assert CliRunner().invoke(app, ["diff", str(first), str(first), "-o", str(page)]).exit_code == 0
    formats.write([sentence(tree=None)] * 2, str(tmp_path / "c.conllu"))
    formats.write([sentence()] * 2, str(tmp_path / "c.ptb"))
    both = f"{tmp_path / 'c.ptb'},{tmp_path / 'c.conllu'}"
    assert CliRunner().invoke(app, ["diff", both, str(first), "-o", str(page)]).exit_code == 0
