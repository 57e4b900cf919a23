"""Scores every test here may use."""

from __future__ import annotations

import numpy as np
import pytest

from h3n.decode import Scores

from .samples import random_scores


@pytest.fixture
def scores() -> Scores:
    """Return the scores of a sentence of nine words, new for each test: a test may change them."""
    return random_scores(np.random.default_rng(0), 9)
