"""The command line: `main` runs a command and turns everything that can go wrong into one line.

Exit codes: 0 fine, 1 findings, 2 bad usage, bad input or a machine that does not do what it is asked for, 130 after
Ctrl-C. Everything else is imported inside `main`, so that even an early Ctrl-C shows no traceback.
"""

from __future__ import annotations

import os
from typing import NoReturn


def main() -> None:
    """Run the command line; every expected error, of usage and of the machine too, is one line on stderr."""
    try:
        from h3n.cli.streams import prepare_streams
        from h3n.errors import H3nError, missing_extra

        prepare_streams()
        try:
            from h3n.cli.commands import run

            code = run()
        except H3nError as error:
            _fail(str(error))
        except ModuleNotFoundError as error:
            known = missing_extra(error)
            if known is error:
                raise
            _fail(str(known))
        except OSError as error:
            _fail(_os_message(error))
        except MemoryError:
            _fail("not enough memory")
        except RuntimeError as error:
            if not str(error).startswith("Symlink loop"):  # pathlib's word for ELOOP
                raise
            _fail(str(error))
    except KeyboardInterrupt:
        raise SystemExit(130) from None
    raise SystemExit(code)


def _os_message(error: OSError) -> str:
    """Return what the operating system complains about, and of what."""
    reason = error.strerror or str(error)
    if error.filename is not None:
        return f"{os.fsdecode(error.filename)}: {reason}"
    try:
        os.getcwd()  # noqa: PTH109 - pathlib's takes the same way
    except OSError:
        return "the working folder does not exist any more; change into another"
    return f"standard output cannot be written: {reason}"


def _fail(message: str) -> NoReturn:
    from h3n.cli.streams import silence_stdout
    from h3n.cli.terminal import say

    silence_stdout()
    say(message)
    raise SystemExit(2) from None
