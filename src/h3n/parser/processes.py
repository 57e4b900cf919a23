"""A loaded parser in other processes: in a child made by fork, and sent to one by pickle.

The threads of torch do not survive a fork: a child that asks for them waits for ever. So a child computes on one
thread, which is also what several processes beside each other need.
"""

from __future__ import annotations

import os
from functools import cache

import torch


@cache
def prepare_for_forks() -> None:
    """See to it that a process forked from this one can parse; once is enough."""
    if hasattr(os, "register_at_fork"):
        os.register_at_fork(after_in_child=_use_one_thread)


def _use_one_thread() -> None:
    torch.set_num_threads(1)
