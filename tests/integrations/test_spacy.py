"""h3n as a component of spaCy."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

import pytest

import h3n
from h3n.errors import TreeError, UnknownName
from h3n.parser import Parser

spacy = pytest.importorskip("spacy", reason="spacy is not installed")

from spacy import displacy  # noqa: E402
from spacy.matcher import DependencyMatcher, Matcher  # noqa: E402
from spacy.tokens import Doc, DocBin  # noqa: E402
from spacy.training import Example  # noqa: E402

import h3n.integrations.spacy  # noqa: E402 - registers the component where the package's metadata is older
from h3n.integrations.spacy import NonConstituentException  # noqa: E402

TEXT = "The dog sees a cat. A teacher sleeps."


def pipeline(model: Path, **options: Any) -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("h3n", config={"model": str(model), **options})
    return nlp


@pytest.fixture(scope="module")
def nlp(tiny_model: Path) -> Any:
    return pipeline(tiny_model)


def trees(doc: Any) -> list[Any]:
    tokens = [(token.head.i, token.dep_, token.tag_, token.pos_) for token in doc]
    return [tokens, [sentence._.parse_string for sentence in doc.sents]]


def test_the_package_names_the_component() -> None:
    entries = [entry for entry in entry_points(group="spacy_factories") if entry.name == "h3n"]
    if not entries:
        pytest.skip("h3n was installed before it had an entry point for spaCy; install it again")
    assert [entry.load() for entry in entries] == [h3n.integrations.spacy.make]


def test_governors_relations_and_tags_are_those_of_the_parser(nlp: Any, parser: Parser) -> None:
    doc = nlp(TEXT)
    results = list(parser.parse(TEXT))
    assert [len(sentence) for sentence in doc.sents] == [len(result) for result in results] == [6, 4]
    for sentence, result in zip(doc.sents, results, strict=True):
        heads = [0 if token.head == token else token.head.i - sentence.start + 1 for token in sentence]
        assert tuple(heads) == result.heads
        assert tuple(token.tag_ for token in sentence) == result.tags
        assert result.brackets() == f"(ROOT {sentence._.parse_string})"
        relations = [token.dep_ for token in sentence if token.dep_ != "ROOT"]
        assert relations == [arc.relation for arc in result.arcs if arc.governor >= 0]
        assert sentence.root.dep_ == "ROOT"
    assert doc.has_annotation("DEP", require_complete=True)


def test_phrases_are_those_of_the_parser(nlp: Any, parser: Parser) -> None:
    (result,) = parser.parse("The dog sees a cat.")
    (sentence,) = nlp("The dog sees a cat.").sents
    phrases = [one for one in sentence._.constituents if one._.labels]
    assert [(one.start, one.end, one._.labels) for one in phrases] == [
        (span.start, span.end, span.labels) for span in result.spans
    ]
    assert [one._.head.i for one in phrases] == [span.head for span in result.spans]
    for one in sentence._.constituents:
        assert all(child._.parent == one for child in one._.children)
        if len(one) > 1:
            assert "".join(child.text_with_ws for child in one._.children) == one.text_with_ws
    assert sentence._.parent is None
    for token in sentence:
        largest = token._.head_span
        assert largest._.head == token
        assert largest._.parent is None or largest._.parent._.head != token
    assert sentence.root._.head_span == sentence


def test_what_users_of_benepar_write() -> None:
    """The example of benepar's README does what is written there, its component's name and model changed."""
    nlp = spacy.blank("en")
    nlp.add_pipe("h3n", config={"model": "en"})
    doc = nlp("The time for action is now. It's never too late to do something.")
    sent = next(iter(doc.sents))
    tree = "(S (NP (NP (DT The) (NN time)) (PP (IN for) (NP (NN action)))) (VP (VBZ is) (ADVP (RB now))) (. .))"
    assert sent._.parse_string == tree
    assert sent._.labels == ("S",)
    assert next(iter(sent._.children)).text == "The time for action"
    assert isinstance(sent._.constituents, Iterator)
    assert (doc[0]._.labels, doc[0]._.parse_string, doc[0]._.parent.text) == ((), "(DT The)", "The time")
    assert (doc[3]._.labels, doc[3]._.parse_string) == (("NP",), "(NP (NN action))")


def test_a_span_that_is_not_a_constituent_is_said(nlp: Any) -> None:
    doc = nlp(TEXT)
    with pytest.raises(NonConstituentException, match=r"'cat. A' .* is not a constituent"):
        _ = doc[4:7]._.labels
    assert issubclass(NonConstituentException, TreeError)
    with pytest.raises(TreeError, match="no phrases; does its pipeline have the component 'h3n'"):
        _ = spacy.blank("en")(TEXT)[0:1]._.labels


def test_white_space_is_not_parsed(nlp: Any) -> None:
    plain, spaced = nlp(TEXT), nlp(" The dog  sees a cat. \n\n A teacher sleeps. ")
    words = [token for token in spaced if not token.is_space]
    assert [token.text for token in words] == [token.text for token in plain]
    place = {token.i: at for at, token in enumerate(words)}
    assert [place[token.head.i] for token in words] == [token.head.i for token in plain]
    assert [one._.parse_string for one in spaced.sents] == [one._.parse_string for one in plain.sents]
    assert {token.pos_ for token in spaced if token.is_space} == {"SPACE"}
    assert len(list(nlp("  \n ").sents)) == 1
    assert len(nlp("")) == 0


def test_the_words_and_the_sentences_of_spacy_stay(nlp: Any, tiny_model: Path) -> None:
    words = ["The", "dog", "can't", "sleep.", "A", "cat"]
    doc = nlp(Doc(nlp.vocab, words=words, sent_starts=[True, False, True, False, False, False]))
    assert [token.text for token in doc] == words
    assert [sentence.start for sentence in doc.sents] == [0, 2]
    again = pipeline(tiny_model, overwrite_sentences=True)
    doc = again(
        Doc(again.vocab, words=["A", "dog", "sleeps", ".", "A", "cat", "sleeps", "."], sent_starts=[True] + [False] * 7)
    )
    assert [sentence.start for sentence in doc.sents] == [0, 4]


def test_tags_are_left_alone_if_asked(tiny_model: Path) -> None:
    nlp = pipeline(tiny_model, disable_tagger=True)
    doc = nlp(Doc(nlp.vocab, words=["A", "dog"], tags=["X", "Y"]))
    assert [token.tag_ for token in doc] == ["X", "Y"]
    assert doc[0].dep_


def test_decoders_for_one_kind_of_tree(tiny_model: Path) -> None:
    phrases = pipeline(tiny_model, decoder="cky")(TEXT)
    assert not phrases.has_annotation("DEP")
    assert [sentence.start for sentence in phrases.sents] == [0, 6]
    assert next(phrases.sents)._.head is None
    arcs = pipeline(tiny_model, decoder="eisner")(TEXT)
    assert arcs.has_annotation("DEP")
    with pytest.raises(TreeError, match="not a constituent"):
        _ = next(arcs.sents)._.labels


def test_streams_in_order_and_in_processes(nlp: Any) -> None:
    texts = [TEXT, "", "A house.", "The dog sees a cat."] * 3
    expected = [trees(nlp(text)) for text in texts]
    assert [trees(doc) for doc in nlp.pipe(iter(texts), batch_size=5)] == expected
    assert [trees(doc) for doc in nlp.pipe(texts, batch_size=3, n_process=2)] == expected


def test_saved_and_loaded_it_does_the_same_without_the_first_model(nlp: Any, tiny_model: Path, tmp_path: Path) -> None:
    nlp.config["components"]["h3n"]["model"] = str(tiny_model)
    nlp.to_disk(tmp_path / "pipeline")
    config = tmp_path / "pipeline" / "config.cfg"
    config.write_text(config.read_text().replace(str(tiny_model), "/gone"))
    assert trees(spacy.load(tmp_path / "pipeline")(TEXT)) == trees(nlp(TEXT))


def test_documents_are_saved_with_both_trees(nlp: Any) -> None:
    doc = nlp(TEXT)
    data = DocBin(store_user_data=True, docs=[doc]).to_bytes()
    (again,) = DocBin().from_bytes(data).get_docs(nlp.vocab)
    assert trees(again) == trees(doc)
    assert trees(Doc(nlp.vocab).from_bytes(doc.to_bytes())) == trees(doc)


def test_displacy_and_matchers_take_the_documents(nlp: Any) -> None:
    doc = nlp("The dog sees a cat.")
    assert (
        displacy.render(doc, style="dep", jupyter=False, options={"collapse_punct": False}).count(
            'class="displacy-arrow"'
        )
        == len(doc) - 1
    )
    matcher = Matcher(nlp.vocab)
    matcher.add("root", [[{"DEP": "ROOT"}]])
    assert [doc[start].i for _, start, _ in matcher(doc)] == [next(doc.sents).root.i]
    by_tree = DependencyMatcher(nlp.vocab)
    below = {"LEFT_ID": "top", "REL_OP": ">", "RIGHT_ID": "below", "RIGHT_ATTRS": {}}
    by_tree.add("below", [[{"RIGHT_ID": "top", "RIGHT_ATTRS": {"DEP": "ROOT"}}, below]])
    assert len(by_tree(doc)) == len(list(next(doc.sents).root.children))


def test_a_sentence_over_the_limits_is_said_and_the_rest_parsed(nlp: Any, tiny_model: Path) -> None:
    mine = pipeline(tiny_model)
    mine.get_pipe("h3n")._parser = h3n.load(tiny_model, max_words=5)
    with pytest.warns(UserWarning, match="tokens 0 to 5 are not parsed"):
        doc = mine(TEXT)
    assert [sentence.start for sentence in doc.sents] == [0, 6]
    assert list(doc.sents)[1]._.parse_string == list(nlp(TEXT).sents)[1]._.parse_string


CHUNKS = {
    "The chairman of the board bought a very old house near the river.": [
        "The chairman",
        "the board",
        "a very old house",
        "the river",
    ],
    "Then, Joe and the dog's owner met us.": ["Joe", "the dog's owner", "us"],
    "She likes cats, dogs and small birds.": ["She", "cats", "dogs", "small birds"],
    "The man who sleeps knows that there is a problem.": ["The man", "who", "a problem"],
}


@pytest.fixture(scope="module")
def english() -> Any:
    nlp = spacy.blank("en")
    nlp.add_pipe("h3n", config={"model": "en"})
    return nlp


@pytest.mark.parametrize("text", CHUNKS)
def test_noun_chunks_are_from_the_phrases(english: Any, text: str) -> None:
    doc = english(text)
    assert [chunk.text for chunk in doc.noun_chunks] == CHUNKS[text]
    assert {chunk.label_ for chunk in doc.noun_chunks} == {"NP"}
    assert [chunk.text for chunk in next(doc.sents).noun_chunks] == CHUNKS[text]


def test_noun_chunks_are_saved_with_the_pipeline_and_go_to_processes(english: Any) -> None:
    text, expected = next(iter(CHUNKS.items()))
    chunks = [[chunk.text for chunk in doc.noun_chunks] for doc in english.pipe([text] * 3, n_process=2)]
    assert chunks == [expected] * 3
    data = DocBin(store_user_data=True, docs=[english(text)]).to_bytes()
    (read,) = DocBin().from_bytes(data).get_docs(english.vocab)
    assert [chunk.text for chunk in read.noun_chunks] == expected


def test_a_document_that_h3n_did_not_parse_has_the_chunks_of_its_language(nlp: Any) -> None:
    doc = Doc(nlp.vocab, words=["dogs", "bark"], heads=[1, 1], deps=["nsubj", "ROOT"], pos=["NOUN", "VERB"])
    assert [chunk.text for chunk in doc.noun_chunks] == ["dogs"]


def test_dependencies_are_kept_if_asked(tiny_model: Path) -> None:
    nlp = pipeline(tiny_model, dependencies="keep", disable_tagger=True)
    words, heads, deps = ["A", "dog", "sees", "cats"], [1, 2, 2, 2], ["det", "nsubj", "ROOT", "dobj"]
    given = {"words": words, "heads": heads, "deps": deps, "pos": ["DET", "NOUN", "VERB", "NOUN"]}
    doc = nlp(Doc(nlp.vocab, **given))
    assert [(token.head.i, token.dep_, token.pos_) for token in doc] == list(
        zip(heads, deps, given["pos"], strict=True)
    )
    assert next(doc.sents)._.parse_string.startswith("(")
    assert [chunk.text for chunk in doc.noun_chunks] == ["A dog", "cats"]
    bare = nlp(TEXT)
    assert [sentence.start for sentence in bare.sents] == [0, 6]
    assert not bare.has_annotation("DEP")
    with pytest.raises(UnknownName, match="'both'; known: keep, replace"):
        pipeline(tiny_model, dependencies="both")


def test_lemmas_and_features_of_the_parser_are_set(tiny_model: Path) -> None:
    nlp = pipeline(tiny_model)
    component = nlp.get_pipe("h3n")
    parser, columns = h3n.load(tiny_model), {"lemmas": ("a", "dog"), "features": ("_", "Case=Nom|Number=Sing")}

    class Predicting:
        """A parser that finds lemmas and features."""

        segmenter = parser.segmenter

        def parse(self, sentences: Any, *, decoder: str | None) -> Iterator[Any]:
            for result in parser.parse(sentences, decoder=decoder):
                yield replace(result, sentence=replace(result.sentence, **columns))

    component._parser = Predicting()
    doc = nlp("A  dog")
    assert [token.lemma_ for token in doc] == ["a", "", "dog"]
    assert [str(token.morph) for token in doc] == ["", "", "Case=Nom|Number=Sing"]
    assert doc[2].morph.get("Number") == ["Sing"]


def test_the_model_in_the_box_gives_lemmas_and_features() -> None:
    nlp = spacy.blank("en")
    nlp.add_pipe("h3n", config={"model": "en"})
    doc = nlp("She was making cakes.")
    assert [token.lemma_ for token in doc] == ["she", "be", "make", "cake", "."]
    assert doc[3].morph.get("Number") == ["Plur"]


def test_evaluation_scores_all_that_is_written(nlp: Any) -> None:
    gold = nlp(TEXT)
    scores = nlp.evaluate([Example(nlp.make_doc(TEXT), gold.copy())])
    for name in ("dep_uas", "dep_las", "tag_acc", "pos_acc", "sents_f", "constituents_f"):
        assert scores[name] == pytest.approx(1.0), name
    other = gold.copy()
    other._.h3n = [row if row[4] < 0 else [*row[:2], "X", *row[3:]] for row in gold._.h3n]
    changed = nlp.evaluate([Example(nlp.make_doc(TEXT), other)])
    tops = sum(row[4] < 0 for row in gold._.h3n)
    assert changed["constituents_p"] == pytest.approx(tops / len(gold._.h3n))
    without = nlp.evaluate([Example(nlp.make_doc(TEXT), nlp.make_doc(TEXT))])
    assert without["constituents_f"] is without["dep_las"] is None


@pytest.mark.parametrize("text", ["", " ", "\n\n", "  \n ", "\u00a0", "A dog. \n\n  ", "\t\tA dog sleeps.\n"])
def test_blank_texts_cost_nothing(nlp: Any, text: str) -> None:
    doc = nlp(text)
    for span in [*doc.sents, doc[0:1], *(doc[i : i + 1] for i in range(len(doc)))]:
        if not len(span):
            continue
        blank = not span.text.strip()
        assert blank == (span._.parse_string == "")
        assert not blank or (span._.labels, list(span._.constituents), list(span._.children)) == ((), [], [])
        assert not blank or (span._.parent, span._.head) == (None, None)
    for token in doc:
        _ = (token._.labels, token._.parse_string, token._.parent, token._.head_span)
    _ = list(doc.noun_chunks)


def test_tokens_may_be_merged_and_split_afterwards(english: Any) -> None:
    doc = english("The very old dog saw New York.")
    before = next(doc.sents)._.parse_string
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[5:7])
        retokenizer.merge(doc[1:3])
    (sentence,) = doc.sents
    assert [token.text for token in doc] == ["The", "very old", "dog", "saw", "New York", "."]
    assert "New_York" in sentence._.parse_string
    assert sentence._.parse_string != before
    assert doc[4]._.labels == ("NP",)
    for constituent in sentence._.constituents:
        assert all(child._.parent == constituent for child in constituent._.children)
        assert constituent._.head in constituent
    assert [chunk.text for chunk in doc.noun_chunks] == ["The very old dog", "New York"]
    assert doc[2]._.head_span.text == "The very old dog"


def test_merged_tokens_are_parsed(english: Any) -> None:
    doc = english.make_doc("She saw New York.\nIt rained.")
    with doc.retokenize() as retokenizer:
        retokenizer.merge(doc[2:4])
        retokenizer.merge(doc[4:7])
    doc = english(doc)
    assert all(sentence._.parse_string for sentence in doc.sents)
    assert "New_York" in "".join(sentence._.parse_string for sentence in doc.sents)
