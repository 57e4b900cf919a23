"""The model loaded once, for all workers of a machine.

A fork server imports this module before it forks a worker (`h3n.corpus.local`) and finds in the environment what to
load. The pages of the model are shared by all workers then, as none of them writes to it.
"""

from __future__ import annotations

import contextlib
import gc
import json
import os
from dataclasses import asdict
from functools import cache

from h3n.corpus.options import Options
from h3n.corpus.work import Job
from h3n.parser import Parser

VARIABLE = "H3N_CORPUS_JOB"


@cache
def parser_of(job: Job) -> Parser:
    """Return the parser of a job, loaded once for this process and those forked from it."""
    return job.load()


def in_words(job: Job) -> str:
    """Return a job as text, for the environment."""
    return json.dumps(asdict(job))


def _prepare(words: str) -> None:
    table = json.loads(words)
    with contextlib.suppress(Exception):  # workers try it again, and report what is wrong
        parser_of(Job(table["out"], table["model"], table["sha256"], Options(**table["options"])))
    gc.collect()
    gc.freeze()  # or the first collection would write to every page


if VARIABLE in os.environ:
    _prepare(os.environ.pop(VARIABLE))
