"""The raw text of a treebank and where its gold tokens stand in it."""

from __future__ import annotations

import io
import os
from pathlib import Path

import pytest

from h3n import formats
from h3n.text.documents import documents, has_text, text_of
from h3n.trees import Sentence


def row(number: str, form: str, misc: str = "_") -> str:
    head, relation = ("_", "_") if "-" in number else ("0", "root") if number == "1" else ("1", "dep")
    return "\t".join([number, form, "_", "_", "_", "_", head, relation, "_", misc])


def block(*rows: str, comments: tuple[str, ...] = ()) -> str:
    return "\n".join([*comments, *rows]) + "\n\n"


FRENCH = (
    block(row("1", "Il"), row("2", "dort", "SpaceAfter=No"), row("3", "."), comments=("# newdoc id = a", "# newpar"))
    + block(
        row("1-2", "Au"),
        row("1", "À"),
        row("2", "le"),
        row("3", "lit", "SpaceAfter=No"),
        row("4", "!", "SpaceAfter=No"),
    )
    + block(row("1", "10 000"), row("2", "oui"), comments=("# text = 10\u00a0000 oui",))
    + block(row("1", "Fin"), comments=("# newpar", "# text = something else"))
    + block(row("1", "Autre"), comments=("# newdoc id = b",))
)


def read(text: str) -> list[Sentence]:
    return list(formats.read(io.StringIO(text), format="conllu"))


def test_text_is_rebuilt_with_paragraphs_and_documents() -> None:
    first, second = documents(read(FRENCH))
    assert first.paragraphs == ["Il dort. Au lit!10\u00a0000 oui", "Fin"]
    assert first.text == "Il dort. Au lit!10\u00a0000 oui\n\nFin"
    assert second.paragraphs == ["Autre"]


def test_tokens_stand_where_their_offsets_say() -> None:
    first, _ = documents(read(FRENCH))
    tokens = first.tokens()
    assert [[token.text for token in sentence] for sentence in tokens] == [
        ["Il", "dort", "."],
        ["Au", "lit", "!"],
        ["10\u00a0000", "oui"],
        ["Fin"],
    ]
    assert tokens[1][0].words == ("À", "le")
    assert all(first.text[token.start : token.end] == token.text for sentence in tokens for token in sentence)


def test_words_decide_where_the_text_spells_others() -> None:
    sentences = read(FRENCH)
    assert text_of(sentences[3]) == "Fin"
    assert [has_text(sentence) for sentence in sentences] == [True, True, True, True, False]


@pytest.mark.parametrize("name", ["world/zh/zh_pud", "world/ar/ar_pud", "world/vi/vi_vtb-ud-dev", "ud/fi_tdt-ud-dev"])
def test_nothing_of_a_treebank_is_lost(name: str) -> None:
    if not (data := os.environ.get("H3N_DATA")):
        pytest.skip("set H3N_DATA to run")
    for document in documents(formats.read(Path(data) / f"{name}.conllu.xz")):
        tokens = [token for sentence in document.tokens() for token in sentence]
        assert "".join("".join(token.text for token in tokens).split()) == "".join(document.text.split())
        assert [w for t in tokens for w in t.words] == [w for s in document.gold for w in s.words]
