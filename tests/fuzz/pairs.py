"""Two files over the same sentences of which one is damaged: `evaluate`, `diff` and `check` as targets."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from random import Random

from h3n import formats
from h3n.errors import FormatError
from h3n.evaluate import Convention, load_parameters, usual_parameters
from h3n.formats import Reading
from h3n.measure.scores import Choices, score_files
from h3n.trees import Sentence
from h3n.workbench import check_treebank, diff_page, find_differences, judge
from tests.formats.helpers import parse
from tests.fuzz.driver import Target
from tests.fuzz.mutations import mutated
from tests.fuzz.scratch import scratch

TREES = (
    b"(TOP (S (NP (DT the) (NN dog)) (VP (VBZ barks)) (. .)))\n(TOP (S (NP (PRP it)) (VP (VBZ is) (ADJP (JJ old)))))\n"
)
ROWS = (
    b"# sent_id = a-1\n# text = the dog barks.\n"
    b"1\tthe\t_\tDET\tDT\t_\t2\tdet\t_\t_\n"
    b"2\tdog\t_\tNOUN\tNN\t_\t3\tnsubj\t_\t_\n"
    b"3\tbarks\t_\tVERB\tVBZ\t_\t0\troot\t_\tSpaceAfter=No\n"
    b"4\t.\t_\tPUNCT\t.\t_\t3\tpunct\t_\t_\n\n"
    b"1\tit\t_\tPRON\tPRP\t_\t3\tnsubj\t_\t_\n"
    b"2\tis\t_\tAUX\tVBZ\t_\t3\tcop:x\t_\t_\n"
    b"3\told\t_\tADJ\tJJ\t_\t0\troot\t_\t_\n\n"
)
SOUND = {"ptb": TREES, "conllu": ROWS}


def make(chance: Random) -> bytes:
    """Return an ending, a seed, and a damaged file."""
    ending = chance.choice(list(SOUND))
    return f"{ending} {chance.randrange(1000)}\n".encode() + mutated([SOUND[ending]], chance)


def _taken_apart(content: bytes) -> tuple[str, Random, bytes]:
    first, _, rest = content.partition(b"\n")
    ending, seed = first.decode().split()
    return ending, Random(seed), rest


def _files(ending: str, content: bytes) -> tuple[str, str]:
    folder: Path = scratch().top
    paths = folder / f"gold.{ending}", folder / f"predicted.{ending}"
    for path, text in zip(paths, (SOUND[ending], content), strict=True):
        path.write_bytes(text)
    return str(paths[0]), str(paths[1])


@cache
def _conventions() -> list[Convention]:
    parameters = [usual_parameters(), load_parameters("collins"), load_parameters("spmrl")]
    return [
        Convention(parameters=one, punctuation=kind, punctuation_tags=frozenset(), subtypes=kind == "tag")
        for one, kind in zip(parameters, ("unicode", "tag", "relation"), strict=True)
    ]


def score(content: bytes) -> None:
    """Scores are numbers between their bounds, in either direction, or the pair is refused."""
    ending, chance, rest = _taken_apart(content)
    files = _files(ending, rest)
    if chance.random() < 0.5:
        files = files[1], files[0]
    name = "brackets" if ending == "ptb" else "conllu"
    choices = Choices(
        convention=chance.choice(_conventions()),
        strict=chance.random() < 0.5,
        table=chance.choice([None, "evalb", "compact"]) if ending == "ptb" else None,
        limit=chance.choice([None, 1]),
        leaf_ancestor=chance.random() < 0.3,
        by_label=chance.random() < 0.3,
        by_length=chance.random() < 0.3,
        conll18=ending == "conllu" and chance.random() < 0.3,
    )
    result = score_files(*files, names=(name, name), choices=choices)
    json.dumps(result.numbers, allow_nan=False)
    assert result.lines


def _sentences(ending: str, content: bytes) -> list[Sentence]:
    name = "brackets" if ending == "ptb" else "conllu"
    return parse(content, name, Reading(strip_traces=True))


def differ(content: bytes) -> None:
    """Two files are compared on a page, or refused; a file does not differ from itself."""
    ending, chance, rest = _taken_apart(content)
    damaged, sound = _sentences(ending, rest), _sentences(ending, SOUND[ending])
    differences, _ = find_differences(damaged, damaged)
    assert not any(one.size for one in differences)
    differences, tables = find_differences(damaged, sound)
    verdict = judge(sound, damaged, sound, samples=3, seed=1) if chance.random() < 0.3 else None
    if differences:
        page = diff_page(differences, tables, names=("<a>", "b"), verdict=verdict, order="error", top=3)
        assert "<a>" not in page


def check(content: bytes) -> None:
    """Both trees of a treebank are judged, or the pair is refused."""
    ending, _, rest = _taken_apart(content)
    other = "conllu" if ending == "ptb" else "ptb"
    sentences = list(formats.pair(_sentences(ending, rest), _sentences(other, SOUND[other])))
    for finding in check_treebank(sentences):
        assert finding.what
        assert 0 <= finding.start < finding.end


def read_pair(content: bytes) -> None:
    """What does not fit together is handed over and counted; nothing is left out without a word."""
    ending, _, rest = _taken_apart(content)
    other = "conllu" if ending == "ptb" else "ptb"
    problems: list[FormatError] = []
    mismatches: list[Exception] = []
    name = "brackets" if ending == "ptb" else "conllu"
    read = parse(rest, name, Reading(on_problem=problems.append))
    pairs = list(formats.pair(read, _sentences(other, SOUND[other]), on_mismatch=mismatches.append))
    assert len(pairs) + len(mismatches) >= min(len(read), 2)


PAIR_TARGETS = {
    "evaluate": Target(make, score, share=12),
    "diff": Target(make, differ, share=4),
    "check": Target(make, check, share=12),
    "pairs": Target(make, read_pair, share=40),
}
