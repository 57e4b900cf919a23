"""Every option with values that do not belong there: each is accepted, or refused in one line that names the option."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import reduce
from pathlib import Path
from typing import Any, get_type_hints

import pytest

from h3n.config import Config, Treebank, check, config_of, load_config, table_of
from h3n.errors import H3nError, UsageError
from h3n.training import train
from h3n.training.data import Example

WRONG: tuple[Any, ...] = (
    "",
    "nonsense",
    "a\0b",
    "x" * 100_000,
    -1,
    0,
    1,
    7,
    2**31,
    2**63,
    2**64,
    -(10**30),
    10**5000,
    -0.5,
    0.0,
    1.0,
    1.5,
    1e308,
    math.nan,
    math.inf,
    -math.inf,
    True,
    None,
    [],
    [0.5],
    [1.0, 1.0],
    [1, "x", {}],
    ["a\0b"],
    [[[]]],
    {},
    {"odd": 1},
    {"a": {"b": "c"}},
)


def leaves(kind: type = Config, where: str = "") -> Iterator[str]:
    """Yield the path of every option."""
    hints = get_type_hints(kind)
    for known in dataclasses.fields(kind):
        path = f"{where}.{known.name}" if where else known.name
        yield path
        if dataclasses.is_dataclass(hints[known.name]):
            yield from leaves(hints[known.name], path)


def nested(path: str, value: Any) -> dict[str, Any]:
    for part in reversed(path.split(".")):
        value = {part: value}
    table: dict[str, Any] = value
    return table


def assert_one_line(error: H3nError, *names: str) -> None:
    said = str(error)
    assert "\n" not in said
    assert len(said) < 1000
    assert any(name in said for name in names), said


PATHS = tuple(leaves())


@pytest.mark.parametrize("path", PATHS)
def test_every_option_with_every_wrong_value(path: str) -> None:
    refused = 0
    for value in WRONG:
        try:
            config = config_of(nested(path, value))
        except UsageError as error:
            refused += 1
            assert_one_line(error, path, path.rpartition(".")[0] or path)
        else:
            assert config_of(table_of(config)) == config
    assert refused > len(WRONG) / 3


@pytest.mark.parametrize("path", [f"data.train[0].{known.name}" for known in dataclasses.fields(Treebank)])
def test_every_option_of_a_treebank_with_every_wrong_value(path: str) -> None:
    for value in WRONG:
        try:
            config_of({"data": {"train": [{path.rpartition(".")[2]: value}]}})
        except UsageError as error:
            assert_one_line(error, path)


TINY = ("encoder.layers.size=8", "encoder.layers.heads=2", "encoder.layers.head_size=4", "encoder.layers.inner=4")
NUMBERS = [path for path in PATHS if type(reduce(getattr, path.split("."), Config())) in (int, float)]
WHOLE = [f"{path}={value}" for path in NUMBERS for value in (0, 1, 3)]


@pytest.mark.parametrize("setting", WHOLE)
def test_what_is_accepted_can_be_trained_with(
    setting: str, tmp_path: Path, treebank: Callable[..., list[Example]], options: Callable[..., Config]
) -> None:
    """The smallest values of every number, with the parts switched on that read them."""
    reads = ("encoder.characters=lstm", "encoder.tags=true", "scorers.order=3", "scorers.pair=3")
    short = ("training.epochs=1", "training.checks=1", "training.tune=false", "batches.words=20")
    try:
        config = options(tmp_path / "run", *TINY, *reads, *short, setting)
    except UsageError as error:
        assert_one_line(error, setting.partition("=")[0])
        return
    try:
        train(config, treebank("train", 2), [])
    except UsageError as error:
        assert_one_line(error, setting.partition("=")[0])


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        (["encoder.layers.size=7"], r"option encoder\.layers\.size: 7 is odd; half is content and half position"),
        (["encoder.layers.head_size=5"], r"option encoder\.layers\.head_size: 5 is odd"),
        (
            ["training.seed=-1"],
            r"option training\.seed: -1 is out of range; accepted: between 0 and 9223372036854775807",
        ),
        (
            ["optimiser.betas=[1.0,1.0]"],
            r"option optimiser\.betas\[0\]: 1\.0 is out of range; accepted: 0 or more, less",
        ),
        (["optimiser.betas=[0.9]"], r"option optimiser\.betas: expected a list of 2, found one of 1"),
        (["optimiser.rate=inf"], r"option optimiser\.rate: inf is out of range; accepted: finite numbers"),
        (["output="], r"option output: is empty"),
        (["decoding.head_score=order"], r"option decoding\.head_score: 'order' needs a score learned by order"),
        (["encoder.words=false"], r"option encoder\.words: nothing of a word is read"),
        (["encoder.kind=pretrained"], r"option encoder\.name: encoder\.name is empty"),
        (
            ["encoder.kind=pretrained", "encoder.name=x", "encoder.windows=3"],
            r"option encoder\.windows: 3; accepted: 0,",
        ),
        ([f"training.epochs={'9' * 5000}"], r"setting training\.epochs: a whole number of too many digits"),
        ([f"training.epochs=0x{'f' * 5000}"], r"option training\.epochs: a whole number of very many digits is out of"),
        (
            [f"training.epochs={'[' * 5000}{']' * 5000}"],
            r"the configuration: tables or lists inside each other too deep",
        ),
        ([f"{'a.' * 5000}a=1"], r"the configuration: tables or lists inside each other too deep|unknown option a;"),
        (["preset=3"], r"option preset: expected a string, found 3"),
    ],
)
def test_options_that_do_not_fit_are_named(settings: list[str], message: str) -> None:
    with pytest.raises(UsageError, match=message) as refused:
        load_config(settings=settings)
    assert_one_line(refused.value, "")


@pytest.mark.parametrize(
    "text",
    [
        f"a = {'9' * 10_000}",
        f"training.seed = 0x{'f' * 10_000}",
        f"a = {'[' * 20_000}{']' * 20_000}",
        f"a = {'{a=' * 20_000}1{'}' * 20_000}",
        f"{'.'.join('a' * 20_000)} = 1",
        f"[{'.'.join('a' * 20_000)}]",
        "[[data.train]]\nfiles = 'x'\n[data.train]\n",
        'output = "\\u0000"',
        f"{'k' * 100_000} = 1",
        '"a\\nb" = 1',
        "data.train = [1, 'x', {}]",
        "= 1",
    ],
)
def test_files_of_all_kinds_of_damage_are_one_line(text: str, tmp_path: Path) -> None:
    path = tmp_path / "c.toml"
    path.write_text(text)
    with pytest.raises(H3nError) as refused:
        load_config(path)
    assert_one_line(refused.value, "")


def test_options_made_in_python_are_checked_too(tmp_path: Path, treebank: Callable[..., list[Example]]) -> None:
    config = load_config(settings=["preset=small"])
    odd = replace(config, encoder=replace(config.encoder, layers=replace(config.encoder.layers, size=7)))
    with pytest.raises(UsageError, match="is odd"):
        check(odd)
    with pytest.raises(UsageError, match="is odd"):
        train(replace(odd, output=str(tmp_path / "run")), treebank("train", 2), [])
    assert not (tmp_path / "run").exists()
