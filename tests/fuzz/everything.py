"""All targets by name."""

from __future__ import annotations

from tests.fuzz.arrays import ARRAY_TARGETS
from tests.fuzz.clients import CLIENT_TARGETS
from tests.fuzz.commands import COMMAND_LINES
from tests.fuzz.driver import Target
from tests.fuzz.pairs import PAIR_TARGETS
from tests.fuzz.patterns import PATTERN_TARGETS
from tests.fuzz.saved import SAVED_TARGETS
from tests.fuzz.service import SERVICE
from tests.fuzz.targets import TARGETS

ALL: dict[str, Target] = {
    **TARGETS,
    **PATTERN_TARGETS,
    **PAIR_TARGETS,
    **ARRAY_TARGETS,
    **CLIENT_TARGETS,
    **SAVED_TARGETS,
    **SERVICE,
    **COMMAND_LINES,
}
