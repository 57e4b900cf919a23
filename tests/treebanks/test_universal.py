"""The checks of Universal Dependencies, one broken sentence for each."""

from __future__ import annotations

import io
from pathlib import Path

import pytest

from h3n import formats
from h3n.errors import NotUniversal
from h3n.treebanks.universal import RELATIONS, TAGS, Checks

GOOD = (
    "# sent_id = {name}\n# text = She can't sleep.\n"
    "1\tShe\tshe\tPRON\tPRP\tCase=Nom|Number=Sing\t4\tnsubj\t_\t_\n2-3\tcan't\t_\t_\t_\t_\t_\t_\t_\t_\n"
    "2\tca\tcan\tAUX\tMD\t_\t4\taux\t_\t_\n3\tn't\tnot\tPART\tRB\t_\t4\tadvmod:neg\t_\t_\n"
    "4\tsleep\tsleep\tVERB\tVB\t_\t0\troot\t_\tSpaceAfter=No\n5\t.\t.\tPUNCT\t.\t_\t4\tpunct\t_\t_\n\n"
)


def found(text: str) -> list[str]:
    problems: list[NotUniversal] = []
    checks = Checks(problems.append)
    for sentence in formats.read(io.StringIO(text), format="conllu"):
        checks(sentence)
    return [str(problem) for problem in problems]


def test_the_tables() -> None:
    assert (len(TAGS), len(RELATIONS)) == (17, 37)


def test_a_sound_treebank() -> None:
    assert found(GOOD.format(name="a") + GOOD.format(name="b")) == []


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("\tPRON\t", "\tPRO\t", "<text>:12: the tag 'PRO' in UPOS; expected one of ADJ"),
        ("\tPRON\t", "\t_\t", "<text>:12: the tag '_' in UPOS"),
        ("\tnsubj\t", "\tsubj\t", "<text>:12: the relation 'subj'; expected one of acl"),
        ("advmod:neg", "advmod:Neg", "<text>:15: the relation 'advmod:Neg'"),
        ("\taux\t", "\troot\t", "<text>:14: the relation 'root' with head 4; expected root with head 0"),
        ("\troot\t", "\tdep\t", "<text>:16: the relation 'dep' with head 0"),
        ("sent_id = b", "sent_id = a", "<text>:10: sent_id 'a' again, as at <text>:1"),
        ("sent_id = b", "sent_id = b c", "<text>:10: sent_id 'b c'; expected a name without blanks"),
        ("# sent_id = b", "# name = b", "<text>:10: 0 comments with a sent_id"),
        ("# text = She", "# text = He", '<text>:10: the text goes on with "He can\'t sleep." where the words'),
        ("\tSpaceAfter=No", "\t_", "<text>:10: the text goes on with '.' where the words go on with ' .'"),
        ("# text", "# words", "<text>:10: 0 comments with the text"),
        ("Case=Nom|Number=Sing", "Number=Sing|Case=Nom", "out of order; expected features in the order"),
        ("Case=Nom|Number=Sing", "Case=Nom|Case=Acc", "a feature twice in 'Case=Nom|Case=Acc'"),
        ("Case=Nom|Number=Sing", "case=Nom", "the feature 'case=Nom'; expected Name=Value"),
        ("can't\t_\t_", "can't\tcan\t_", "the multiword range 2-3 with more than its form"),
    ],
)
def test_what_is_not_universal(old: str, new: str, message: str) -> None:
    (problem,) = found(GOOD.format(name="a") + GOOD.format(name="b").replace(old, new))
    assert message in problem


def test_official_treebanks_have_few_problems(data: Path) -> None:
    problems: list[NotUniversal] = []
    checks = Checks(problems.append)
    count = 0
    for sentence in formats.read(data / "ud" / "en_ewt-ud-dev.conllu.xz"):
        count += len(sentence)
        checks(sentence)
    assert count > 10_000
    assert len(problems) < 0.001 * count, problems[:5]
