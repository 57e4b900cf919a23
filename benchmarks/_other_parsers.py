"""Other people's parsers, to be measured beside ours where they are installed: spaCy and SuPar."""

from __future__ import annotations

import tempfile
from collections import deque
from collections.abc import Callable, Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, Any

from h3n import formats
from h3n.config import Treebank
from h3n.measure.parsing import SPACY_PARTS, drain
from h3n.measure.timing import least, least_in_turns
from h3n.text import segment

if TYPE_CHECKING:
    from h3n.parser import Parser

SUPAR = ("biaffine", "crf")


def compare_with_spacy(parser: Parser, name: str, text: str, *, repeat: int) -> dict[str, float]:
    """Return processor seconds of our parser, text in and both trees out, and of a spaCy pipeline, in turns.

    The pipeline runs as it comes and with its tagger and parser alone. `ImportError` or `OSError` where it is missing.
    """
    import spacy

    documents = text.split("\n\n")
    actions: dict[str, Callable[[], object]] = {"h3n, text in, both trees out": lambda: drain(parser, text)}
    for part, left_out in SPACY_PARTS.items():
        pipeline = spacy.load(name, exclude=left_out)
        actions[f"spaCy ({part}), dependencies"] = lambda pipeline=pipeline: deque(pipeline.pipe(documents), 0)  # type: ignore[misc]
    return least_in_turns(actions, repeat=repeat + 1)  # the first run is for warming up


def compare_with_supar(parser: Parser, text: str, *, treebank: Treebank, repeat: int) -> dict[str, float]:
    """Return processor seconds of our parser, text in and both trees out, and of SuPar's two on cut sentences.

    SuPar's parsers have the same encoder and are not trained. `ImportError` is raised where SuPar is missing.
    """
    words = [list(sentence.words) for sentence in segment(text)]
    tagged = [[(word, "_") for word in sentence] for sentence in words]
    with tempfile.TemporaryDirectory() as folder:
        biaffine, crf = (build_supar(kind, folder, treebank)[0] for kind in SUPAR)
        actions: dict[str, Callable[[], object]] = {
            "h3n, text in, both trees out": lambda: drain(parser, text),
            "SuPar biaffine, dependencies": lambda: biaffine.predict(words, verbose=False),
            "SuPar CRF, constituents": lambda: crf.predict(tagged, verbose=False),
        }
        return least_in_turns(actions, repeat=repeat)


def build_supar(kind: str, folder: str, treebank: Treebank) -> tuple[Any, Path]:
    """Return one of SuPar's parsers, untrained, with the same encoder, and the file that it would learn from."""
    import torch

    from h3n.model.packages import locate_encoder
    from h3n.training.data import read_treebank

    transformers: Any = import_module("transformers")
    transformers.AdamW = torch.optim.AdamW  # which SuPar imports from where it no longer is
    supar = import_module("supar")
    torch.set_num_threads(1)
    source = Path(folder) / ("train.conllx" if kind == "biaffine" else "train.pid")
    sentences = list(read_treebank(treebank))
    formats.write(sentences, source, format="conllx" if kind == "biaffine" else "brackets")
    parser_class = supar.BiaffineDependencyParser if kind == "biaffine" else supar.CRFConstituencyParser
    options = {"encoder": "bert", "bert": locate_encoder("minilm"), "feat": None, "build": True, "train": str(source)}
    more = {"n_bert_layers": 1, "mix_dropout": 0.0, "encoder_dropout": 0.1, "punct": False, "partial": False}
    parser = parser_class.build(f"{folder}/model", **options, **more, mbr=False, tree=False, proj=False)
    parser.args.update({"clip": 5.0, "update_steps": 1})
    return parser, source


def supar_training_rate(kind: str, treebank: Treebank, *, updates: int) -> float:
    """Return the sentences per second that one of SuPar's parsers learns with our encoder, batches and optimiser."""
    import torch

    with tempfile.TemporaryDirectory() as folder:
        parser, source = build_supar(kind, folder, treebank)
        parser.transform.train()
        dataset = import_module("supar.utils").Dataset(parser.transform, str(source)).build(1500, 32, True)
        parser.optimizer = torch.optim.AdamW(parser.model.parameters(), 1e-4, fused=True)
        parser.scheduler = torch.optim.lr_scheduler.ConstantLR(parser.optimizer)
        batches: Sequence[Any] = [batch for batch, _ in zip(dataset.loader, range(updates + 1), strict=False)]
        parser._train(batches[:1])
        seconds = least(lambda: parser._train(batches[1:]), repeat=1)
        return sum(len(batch.sentences) for batch in batches[1:]) / seconds
