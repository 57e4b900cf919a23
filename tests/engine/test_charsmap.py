"""Tables of characters of SentencePiece: sound ones are read, and none leads out of itself."""

from __future__ import annotations

import base64
import struct

import pytest
from tokenizers import normalizers

from h3n.engine.tokenizer_file import NORMALIZERS, _check_part, _Fault


def table(**units: int) -> dict[str, str]:
    """Return the part with a trie in which `a` stands for `b`, some of its units changed."""
    trie = [0] * 512
    trie[0] = 256 << 10
    trie[256 ^ ord("a")] = ord("a") | 256 | ((256 ^ ord("a") ^ 300) << 10)
    trie[300] = 1 << 31
    for place, unit in units.items():
        trie[int(place[1:])] = unit
    content = struct.pack("<I512I", 4 * len(trie), *trie) + b"b\0"
    return {"type": "Precompiled", "precompiled_charsmap": base64.b64encode(content).decode()}


def test_a_sound_table_is_accepted_and_does_what_it_says() -> None:
    part = table()
    assert _check_part(part, NORMALIZERS, "normalizer") == 1.0
    assert normalizers.Precompiled(base64.b64decode(part["precompiled_charsmap"])).normalize_str("cab") == "cbb"


@pytest.mark.parametrize(
    "units", [{"_0": 600 << 10}, {"_353": ord("a") | (9999 << 10)}, {"_300": 1 << 31 | 7}], ids=["root", "unit", "text"]
)
def test_a_table_that_leads_out_of_itself_is_refused(units: dict[str, int]) -> None:
    with pytest.raises(_Fault, match="leads out of the table"):
        _check_part(table(**units), NORMALIZERS, "normalizer")
