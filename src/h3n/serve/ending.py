"""The last resort: a process that was told to end and does not.

Python runs its handlers of signals, and any thread, only while nobody keeps the interpreter's lock. A native call may
keep it for good; so a small process beside this one waits for the signal, too, and is told of it by the C code that
Python receives signals with, which needs no lock.
"""

from __future__ import annotations

import contextlib
import logging
import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from threading import Timer

_log = logging.getLogger("h3n.serve")
# Reads a pipe: a byte is a signal, its end is that of the process that is watched.
_WATCH = """
import os, select, signal, sys
process, seconds = int(sys.argv[1]), float(sys.argv[2])
while os.read(0, 1):
    if not select.select([0], [], [], seconds)[0]:
        os.kill(process, signal.SIGKILL)
        break
"""


def end(code: int = 1) -> None:
    """End the process where it stands: no thread can be made to stop."""
    if code:
        _log.error("work is under way that does not end; the process ends without it")
    for stream in (sys.stdout, sys.stderr):
        stream.flush()
    os._exit(code)


def end_later(seconds: float) -> None:
    """End the process after so many seconds, if it is there by then."""
    timer = Timer(seconds, end)
    timer.daemon = True
    timer.start()


@contextlib.contextmanager
def killed_after_signal(seconds: float) -> Iterator[None]:
    """Have the process killed so many seconds after a signal, if it is there by then. Not on Windows."""
    if os.name != "posix":
        yield
        return
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    watch = [sys.executable, "-I", "-S", "-c", _WATCH, str(os.getpid()), str(seconds)]
    nowhere = subprocess.DEVNULL
    with subprocess.Popen(watch, stdin=reading, stdout=nowhere, stderr=nowhere, start_new_session=True):
        os.close(reading)
        before = signal.set_wakeup_fd(writing, warn_on_full_buffer=False)
        try:
            yield
        finally:
            signal.set_wakeup_fd(before)
            os.close(writing)  # which ends it
