"""h3n where NLTK wants a parser."""

from __future__ import annotations

import pickle
from collections.abc import Iterator

import pytest

from h3n.errors import TreeError
from h3n.parser import Parser, Result
from h3n.parser.parser import NO_LIMITS, Limits

nltk = pytest.importorskip("nltk", reason="nltk is not installed")

from nltk.parse.api import ParserI  # noqa: E402
from nltk.parse.dependencygraph import DependencyGraph  # noqa: E402

from h3n.nltk import DependencyParser, dependency_graph  # noqa: E402
from h3n.nltk import Parser as NltkParser  # noqa: E402

WORDS = ["The", "dog", "sees", "a", "cat", "."]
OTHER = ["A", "teacher", "sleeps", "."]


def only(parser: Parser, words: list[str]) -> Result:
    (result,) = parser.parse(words=words)
    return result


def test_it_is_a_parser_of_nltk(parser: Parser) -> None:
    mine = NltkParser(parser)
    assert isinstance(mine, ParserI)
    (tree,) = mine.parse(WORDS)
    assert isinstance(tree, nltk.Tree)
    assert tree == only(parser, WORDS).to_nltk()
    assert tree.leaves() == WORDS
    assert mine.parse_one(WORDS) == tree
    assert mine.parse_all(WORDS) == [tree]


def test_sentences_come_in_order_and_a_sentence_without_words_has_no_parse(parser: Parser) -> None:
    found = [list(trees) for trees in NltkParser(parser).parse_sents(iter([WORDS, [], OTHER]))]
    assert [[tree.leaves() for tree in trees] for trees in found] == [[WORDS], [], [OTHER]]
    assert NltkParser(parser).parse_one([]) is None


def test_a_stream_is_not_read_to_its_end_first(parser: Parser) -> None:
    def endless() -> Iterator[list[str]]:
        while True:
            yield WORDS

    first = next(NltkParser(parser).parse_sents(endless()))
    assert next(first).leaves() == WORDS


def test_raw_text_is_cut_into_words(parser: Parser) -> None:
    mine = NltkParser(parser)
    (tree,) = mine.raw_parse("The dog sees a cat.")
    assert tree.leaves() == WORDS
    (one,), (two,) = mine.raw_parse_sents(["The dog\nsees a cat.", "A teacher sleeps."])
    assert (one.leaves(), two.leaves()) == (WORDS, OTHER)
    # One string is one sentence there, whatever it holds, and a text may have several.
    (tree,) = mine.raw_parse("The dog sees a cat. A teacher sleeps.")
    assert tree.leaves() == WORDS + OTHER
    texts = mine.parse_text("The dog sees a cat. A teacher sleeps.")
    assert [tree.leaves() for tree in texts] == [WORDS, OTHER]


def test_tags_that_are_given_stay(parser: Parser) -> None:
    tagged = list(zip(OTHER, ["DT", "NNP", "VBZ", "."], strict=True))
    (tree,) = NltkParser(parser).tagged_parse(tagged)
    assert tree.pos() == tagged


def test_dependency_graphs(parser: Parser) -> None:
    result = only(parser, WORDS)
    mine = DependencyParser(parser)
    assert isinstance(mine, ParserI)
    (graph,) = mine.parse(WORDS)
    assert isinstance(graph, DependencyGraph)
    nodes = [graph.nodes[number] for number in range(1, len(WORDS) + 1)]
    assert tuple(node["head"] for node in nodes) == result.heads
    assert tuple(node["rel"] for node in nodes) == result.relations
    assert [node["word"] for node in nodes] == WORDS
    assert graph.root is graph.nodes[1 + result.heads.index(0)]
    assert not graph.contains_cycle()
    # NLTK reads the same graph from the rows of CoNLL.
    rows = "\n".join(line for line in result.conllu().splitlines() if not line.startswith("#"))
    read = DependencyGraph(rows, top_relation_label=graph.top_relation_label)
    assert read.tree() == graph.tree()
    assert list(read.triples()) == list(graph.triples())


def test_what_a_decoder_does_not_find_is_said(parser: Parser) -> None:
    with pytest.raises(TreeError, match="no phrase structure"):
        NltkParser(parser, decoder="eisner").parse_one(WORDS)
    with pytest.raises(TreeError, match="no dependencies"):
        DependencyParser(parser, decoder="cky").parse_one(WORDS)
    assert DependencyParser(parser, decoder="eisner").parse_one(WORDS) is not None


def test_a_sentence_over_the_limits_has_no_parse(parser: Parser) -> None:
    short = Parser(parser.engine, limits=Limits(max_words=4, max_pieces=NO_LIMITS.max_pieces))
    assert [len(list(trees)) for trees in NltkParser(short).parse_sents([WORDS, OTHER])] == [0, 1]


def test_it_goes_through_pickle(parser: Parser) -> None:
    again = pickle.loads(pickle.dumps(NltkParser(parser, decoder="hpsg")))
    assert again.decoder == "hpsg"
    assert again.parse_one(WORDS) == NltkParser(parser, decoder="hpsg").parse_one(WORDS)


def test_the_graph_of_any_result(parser: Parser) -> None:
    (result,) = parser.parse("The dog sees a cat.")
    assert dependency_graph(result).nodes[2]["word"] == "dog"
