"""``h3n prepare``: a treebank's folder made into aligned splits with both trees."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from h3n.cli.terminal import progress, say
from h3n.errors import UsageError
from h3n.trees import Sentence


def prepare(
    name: Annotated[str | None, typer.Argument(help="A treebank of --list, or a recipe of your own (.toml).")] = None,
    source: Annotated[Path | None, typer.Argument(help="Its folder (or file).")] = None,
    out_dir: Annotated[Path | None, typer.Argument(help="A new folder to write.")] = None,
    show_list: Annotated[
        bool,
        typer.Option(
            "--list",
            help="Show every treebank, its trees, its licence and where to get it; with NAME also its layouts.",
        ),
    ] = False,
    splits: Annotated[str, typer.Option(help="Which splits, between commas.")] = "train,dev,test",
    scheme: Annotated[
        str | None, typer.Option(help="Make the dependencies with these rules (sd, ud1, ud2, zh, generic:LANG).")
    ] = None,
    labels: Annotated[
        str,
        typer.Option(help="Labels of phrases made from dependencies: names (NP), main relations or full subtypes."),
    ] = "names",
    functions: Annotated[bool, typer.Option("--functions", help="Keep function tags (NP-SBJ).")] = False,
    divide: Annotated[
        str | None, typer.Option(help="Shares of train, dev and test for files without a split: 8/1/1.")
    ] = None,
    from_version: Annotated[
        int, typer.Option(min=1, max=2, help="Version of Universal Dependencies; 1 is renamed to 2.")
    ] = 2,
    keep_going: Annotated[
        bool, typer.Option("--keep-going", help="Leave damaged sentences out and report them; exit code 1.")
    ] = False,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace a folder written before.")] = False,
) -> None:
    """Make a treebank ready: aligned train, dev and test with both trees, a manifest and a report.

    Trees that are missing are made: dependencies by head rules, phrases from dependencies. OUT_DIR gets
    {train,dev,test}.{ptb,conllu}, manifest.json (counts, checksums), report.json and report.txt (everything left out or
    disagreeing). Exit code 1 if --keep-going left damaged sentences out.

    \b
    Examples:
      h3n prepare --list
      h3n prepare gum downloads/gum prepared/gum
      h3n prepare brackets my-trees/ prepared/mine --scheme ud2 --divide 8/1/1
    """
    if show_list:
        _show_list(name)
        return
    if name is None or source is None or out_dir is None:
        raise UsageError("expected NAME SOURCE OUT_DIR; --list shows the names")
    from h3n.prepare import Options
    from h3n.prepare import prepare as run

    options = Options(
        splits=tuple(split.strip() for split in splits.split(",") if split.strip()),
        scheme=scheme,
        labels=labels,
        functions=functions,
        divide=_shares(divide),
        from_version=1 if from_version == 1 else 2,
        keep_going=keep_going,
        overwrite=overwrite,
    )
    report = run(name, source, out_dir, options=options, watch=_watch)
    print("\n".join(report.lines()))
    if report.problems:
        say(f"{report.problems} problems; see {out_dir / 'report.json'}")
        raise typer.Exit(1)


def _watch(sentences: Iterator[Sentence], label: str) -> Iterator[Sentence]:
    return progress(sentences, label=label)


def _shares(text: str | None) -> tuple[int, int, int] | None:
    if text is None:
        return None
    parts = text.split("/")
    if len(parts) != 3 or not all(part.strip().isdecimal() for part in parts):
        raise UsageError(f"--divide {text}: expected three numbers, such as 8/1/1")
    return int(parts[0]), int(parts[1]), int(parts[2])


def _show_list(name: str | None) -> None:
    from h3n.treebanks import known_recipes, load_recipe

    for recipe in map(load_recipe, known_recipes() if name is None else [name]):
        print(f"{recipe.name}: {recipe.title} [{recipe.language}]")
        print(f"  trees    {recipe.has}{f'; dependencies by scheme {recipe.scheme}' if recipe.scheme else ''}")
        print(f"  licence  {recipe.licence}")
        print(f"  get it   {recipe.get}")
        if recipe.notes:
            print(f"  note     {recipe.notes}")
        for layout in recipe.layouts if name is not None else ():
            print(f"  layout   {layout.about}, in {' or '.join(folder or 'SOURCE' for folder in layout.folders)}:")
            for pattern in (layout.trees, layout.dependencies):
                if pattern is not None:
                    print(f"             {pattern.replace('|', ' or ')}")
