"""What is done with the transformers library: it is kept quiet, and its tokenizers are used as ours."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from h3n.engine.pieces import Tokenizer
from h3n.errors import UsageError


@contextmanager
def quiet() -> Iterator[None]:
    """Keep transformers from drawing progress bars and reporting on weights while it loads."""
    from transformers.utils import logging as module

    library: Any = module
    bars = library.is_progress_bar_enabled()
    level = library.get_verbosity()
    library.disable_progress_bar()
    library.set_verbosity(logging.ERROR)
    try:
        yield
    finally:
        library.set_verbosity(level)
        if bars:
            library.enable_progress_bar()


def wrapped(pretrained: Any, *, limit: int) -> Tokenizer:
    """Return a fast tokenizer of the transformers library as one of ours."""
    if not getattr(pretrained, "is_fast", False):
        raise UsageError(f"{pretrained.name_or_path}: the encoder needs a fast tokenizer (a tokenizer.json)")
    return Tokenizer(
        pretrained.backend_tokenizer, padding=pretrained.pad_token_id, unknown=pretrained.unk_token_id, limit=limit
    )
