"""What this machine gives to a process: its processors, and a folder that no other process works in."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

from h3n.errors import InputError, UsageError

try:
    import fcntl
except ImportError:  # not a POSIX system: nothing to lock with
    fcntl = None  # type: ignore[assignment]

LOCK = ".lock"


def processors() -> int:
    """Return how many processors this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


@contextlib.contextmanager
def locked(folder: Path, *, what: str = "training") -> Iterator[None]:
    """Hold a folder, which is made if need be, for this process; raise if another process holds it.

    The system lets go of the lock when the process ends, however it ends.
    """
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    except OSError as error:
        raise InputError(f"output {folder}: cannot be made: {error.strerror}") from None
    try:
        _lock(handle, folder, what)
        with contextlib.suppress(OSError):  # who holds it is said for convenience only; the disk may be full
            os.truncate(handle, 0)
            os.write(handle, f"{os.getpid()}\n".encode())
        yield
    finally:
        os.close(handle)


def _lock(handle: int, folder: Path, what: str) -> None:
    if fcntl is None:
        return
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        holder = os.read(handle, 20).decode(errors="replace").strip()
        who = f" (process {holder})" if holder.isdigit() else ""
        raise UsageError(f"{folder}: another {what}{who} is at work in this folder; wait for it or stop it") from None
    except OSError:
        pass  # a file system that knows no locks
