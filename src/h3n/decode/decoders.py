"""The table of decoders, and the way to run them on many sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from h3n.decode import native, reference
from h3n.decode.constraints import Constraints, constrain, explain
from h3n.decode.scores import Parse, Scores
from h3n.errors import DecodeError, UnknownName, UsageError

# Up to this many words `auto` decodes exactly. Measured: below it `hpsg` takes a few percent of the time of a small
# encoder (docs/decoding.md).
EXACT_UP_TO = 100
MEMORY_LIMIT = 1 << 30  # bytes for the chart of one sentence


@dataclass(frozen=True, slots=True)
class Decoder:
    """A line of `DECODERS`: the fields of `Scores` that it needs, and its plain twin. Calling it runs it."""

    name: str
    about: str
    cost: str
    needs: tuple[str, ...]
    reference: Callable[[Scores], Parse]

    @property
    def phrases(self) -> bool:
        """Whether it finds phrases."""
        return "full" in self.needs

    @property
    def dependencies(self) -> bool:
        """Whether it finds dependencies."""
        return "arc" in self.needs

    @property
    def joint(self) -> bool:
        """Whether it finds both trees as one."""
        return self.phrases and self.dependencies

    @property
    def finds(self) -> frozenset[str]:
        """The trees that it finds, ``phrases``, ``dependencies`` or both."""
        return frozenset(kind for kind in ("phrases", "dependencies") if getattr(self, kind))

    @property
    def takes_heads(self) -> bool:
        """Whether the head of a span is its word with the best head score."""
        return "head" in self.needs

    def __call__(self, scores: Scores) -> Parse:
        """Return the best parse of one sentence by the native decoder."""
        return decode_batch([scores], self.name)[0]


def _auto_reference(scores: Scores) -> Parse:
    return (reference.hpsg if len(scores) <= EXACT_UP_TO else reference.h3n)(scores)


PARTS = {"spans": "phrases", "arcs": "dependencies"}  # what constraints are on -> the tree it is a part of
_NEEDS = native.NEEDS
DECODERS: dict[str, Decoder] = {
    decoder.name: decoder
    for decoder in (
        Decoder("cky", "best constituency tree", "n^3", _NEEDS["cky"], reference.cky),
        Decoder("mst", "best dependency tree, crossing arcs allowed", "n^2", _NEEDS["mst"], reference.mst),
        Decoder("eisner", "best projective dependency tree", "n^3", _NEEDS["eisner"], reference.eisner),
        Decoder("hpsg", "best joint tree", "n^4", _NEEDS["hpsg"], reference.hpsg),
        Decoder("h3n", "best joint tree whose heads are given", "n^3", _NEEDS["h3n"], reference.h3n),
        Decoder("auto", "hpsg up to a length, h3n beyond", "n^3", _NEEDS["h3n"], _auto_reference),
    )
}


def usual_decoder(name: str, *, phrases: bool, dependencies: bool) -> str:
    """Return the decoder a model uses where ``name`` is chosen: another if it learned one kind of tree alone."""
    if name not in DECODERS:
        raise UnknownName("decoder", name, DECODERS)
    learned = {kind for kind, known in (("phrases", phrases), ("dependencies", dependencies)) if known}
    return name if DECODERS[name].finds <= learned else "cky" if phrases else "mst"


def decode_batch(
    sentences: Sequence[Scores],
    decoder: str = "auto",
    *,
    threads: int = 1,
    exact_up_to: int = EXACT_UP_TO,
    memory_limit: int = MEMORY_LIMIT,
    constraints: Sequence[Constraints | None] | None = None,
) -> list[Parse]:
    """Return the best parse of each sentence, in order, whatever the number of threads.

    ``exact_up_to`` is the number of words up to which `auto` means `hpsg`; ``memory_limit`` bounds the chart of one
    sentence in bytes, above which `hpsg` is refused; ``constraints`` has an entry for each sentence.
    """
    if decoder not in DECODERS:
        raise UnknownName("decoder", decoder, DECODERS)
    if threads < 1:
        raise UsageError(f"{threads} threads; 1 or more is accepted")
    names = [resolve(decoder, len(scores), exact_up_to) for scores in sentences]
    for number, (scores, name) in enumerate(zip(sentences, names, strict=True)):
        if name == "hpsg":
            check_memory(number, len(scores), memory_limit)
    allowed = constrain_all(sentences, decoder, constraints) if constraints is not None else sentences
    parses = native.decode(allowed, names, threads=threads)
    found = [parse for parse in parses if parse is not None]
    if len(found) < len(parses):
        number = parses.index(None)
        wanted = constraints[number] if constraints else None
        raise DecodeError(_why_not(sentences[number], names[number], wanted, memory_limit), sentence=number)
    return found


def constrain_all(sentences: Sequence[Scores], decoder: str, constraints: Sequence[Constraints | None]) -> list[Scores]:
    """Return the scores as the constraints leave them."""
    if len(constraints) != len(sentences):
        raise UsageError(
            f"{len(constraints)} constraints for {len(sentences)} sentences; one or None for each is accepted"
        )
    allowed = []
    for number, (scores, wanted) in enumerate(zip(sentences, constraints, strict=True)):
        if wanted:
            _check_kinds(wanted, DECODERS[decoder])
            try:
                scores = constrain(scores, wanted)
            except DecodeError as error:
                raise DecodeError(error.reason, sentence=number) from None
        allowed.append(scores)
    return allowed


def _check_kinds(constraints: Constraints, decoder: Decoder) -> None:
    """Raise `UsageError` if there are constraints on something the decoder does not find."""
    for part, kind in PARTS.items():
        if constraints.has(part) and kind not in decoder.finds:
            others = ", ".join(f"`{name}`" for name, other in DECODERS.items() if kind in other.finds)
            raise UsageError(f"`{decoder.name}` finds no {part}, so none can be required or forbidden; {others} do")


def _why_not(scores: Scores, name: str, constraints: Constraints | None, memory_limit: int) -> str:
    if not constraints:
        return "no tree has a finite score"
    why = explain(scores, constraints, lambda allowed: native.decode([allowed], [name])[0] is not None)
    # Worth a look only if it can be had: the exact decoder may need more memory than there is.
    exact = name == "h3n" and native.chart_bytes("hpsg", len(scores)) <= memory_limit
    if exact and native.decode([constrain(scores, constraints)], ["hpsg"])[0] is not None:
        return f"{why} (given the head scores, from which `h3n` takes the head of a span; `hpsg` finds a tree)"
    return why


def resolve(decoder: str, words: int, exact_up_to: int) -> str:
    """Return which decoder `auto` means for a sentence of so many words."""
    if decoder != "auto":
        return decoder
    return "hpsg" if words <= exact_up_to else "h3n"


def check_memory(number: int, words: int, limit: int) -> None:
    """Raise `DecodeError` if the chart of `hpsg` is larger than the limit."""
    needed = native.chart_bytes("hpsg", words)
    if needed > limit:
        raise DecodeError(
            f"`hpsg` needs {needed / 2**20:.0f} MB for {words} words, the limit is {limit / 2**20:.0f} MB; "
            f"`h3n` needs {native.chart_bytes('h3n', words) / 2**20:.1f} MB",
            sentence=number,
        )
