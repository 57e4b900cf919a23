"""What `h3n parse` is given in tests: files of three kinds, and somebody who types."""

from __future__ import annotations

import io
from collections.abc import Callable

Run = Callable[..., tuple[int, str, str]]
LINES = "This dog saw Oslo.\n\nOslo didn't see ( a  dog ) .\n"
ROWS = (
    "# sent_id = a\n# text = dogs didn't run\n"
    "1\tdogs\tdog\tNOUN\tXX\tNumber=Plur\t3\told\t_\t_\n2-3\tdidn't\t_\t_\t_\t_\t_\t_\t_\tSpaceAfter=No\n"
    "2\tdid\tdo\tAUX\tYY\t_\t0\troot\t_\t_\n3\tn't\tnot\tPART\tZZ\t_\t2\told\t_\t_\n\n"
)
TREES = "(TOP (S (NP (AA the) (BB New_York)) (VP (-NONE- *T*) (-LRB- -LRB-))))\n\n(TOP (X (CC ends)))\n"


class Keyboard(io.TextIOWrapper):
    """Standard input that somebody types."""

    def isatty(self) -> bool:
        return True
