"""Lemmas and features learned on top of a model that stays as it is: its vectors are computed once, then kept."""

from __future__ import annotations

import json
import time
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import torch
from safetensors.numpy import load_file, save_file
from torch import Tensor
from torch.nn.utils.rnn import pad_sequence

from h3n.config import Config, check
from h3n.engine.engine import Engine
from h3n.engine.storage import pack
from h3n.engine.vocabulary import PADDING, count_vocabulary
from h3n.engine.words import PREFIX, name_features, name_lemmas
from h3n.errors import UsageError
from h3n.evaluate.heads import ClassCounts, count_classes
from h3n.files import checksum, write_text, written_folder
from h3n.model.loss import word_columns, word_losses
from h3n.model.model import Model
from h3n.model.words import WordHeads
from h3n.models import ABOUT, SHA256, WEIGHTS, locate
from h3n.parser.loading import load_engine
from h3n.system import locked
from h3n.training.data import Example, number, seen
from h3n.training.evaluation import bare, word_classes
from h3n.training.events import Check, Listener, Note, Update
from h3n.training.plan import rate_factor
from h3n.training.processes import Processes, set_threads
from h3n.trees import Sentence

WORDS = 1000  # of a batch


@dataclass(frozen=True, slots=True)
class Rows:
    """What the scorers read of the words of all sentences in a row."""

    vectors: Tensor  # in 16 bits: those of a whole treebank have to stay in memory
    tags: Tensor
    upos: Tensor
    characters: Tensor

    def at(self, places: Tensor) -> tuple[Tensor, Tensor, Tensor, Tensor]:
        """Return some words, as `WordHeads` reads them."""
        return (
            self.vectors[places].float(),
            self.tags[places].float(),
            self.upos[places].float(),
            self.characters[places].long(),
        )


def train_words(
    config: Config, examples: Iterable[Example], dev: Sequence[Example], *, report: Listener = lambda _: None
) -> Model:
    """Return the model that ``start`` names with lemmas and features of its own, as it was saved in ``model``.

    The best of all epochs is kept, by lemmas and features right on dev; without dev the last one.
    """
    folder = Path(check(config).output)
    with locked(folder):
        if (folder / "model").exists():
            raise UsageError(f"{folder} holds a model already; --set output=... starts elsewhere")
        set_threads(config, Processes())
        torch.manual_seed(config.training.seed)
        train = list(examples)
        model = _with_heads(config, train)
        report(Note(text=f"{len(train)} sentences to learn from, {len(dev)} to check against: reading them once"))
        _learn(model, config, train, dev, report=report)
        with written_folder(folder / "model") as draft:
            save_beside(model, locate(config.start), draft)
    return model


def save_beside(model: Model, start: Path, folder: Path) -> None:
    """Write a model whose weights are those of another one, as they are stored there, and scorers of words.

    Where the other one is stored in few bits, the scorers are stored in 8.
    """
    model.save(folder)
    stored = load_file(start / WEIGHTS)
    few = any(value.dtype.kind in "iu" for value in stored.values())
    learned = {name: value.numpy() for name, value in model.network.state_dict().items() if name.startswith(PREFIX)}
    save_file(stored | pack(learned, 8 if few else 32), folder / WEIGHTS)
    about = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
    about[SHA256] = checksum(folder / WEIGHTS)
    write_text(folder / ABOUT, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
    (folder / WEIGHTS).chmod((folder / ABOUT).stat().st_mode)  # who may read a model may read all of it


def _with_heads(config: Config, examples: Sequence[Example]) -> Model:
    """Return the model to start from with scorers that have yet to learn; what else it knows stays as it is."""
    start = Model.load(locate(config.start))
    counted = count_vocabulary(
        map(seen, examples), keep_words=False, keep_characters=True, keep_features=True, keep_lemmas=True
    )
    known = start.vocabulary
    vocabulary = replace(
        known,
        characters=known.characters or counted.characters,
        features=known.features or counted.features,  # there may be layers that read them
        bundles=counted.bundles,
        scripts=counted.scripts,
        irregular=counted.irregular,
    )
    options = replace(start.config, words=replace(config.words, only=False))
    start.network.words = WordHeads(start.network.encoder.size, options.words, vocabulary)
    return Model(start.network, vocabulary, options, start.segmenter)


def _learn(model: Model, config: Config, train: Sequence[Example], dev: Sequence[Example], *, report: Listener) -> None:
    heads = model.network.words
    if heads is None:
        raise ValueError("the network has no scorers of words")
    reader = _reader(model, config)
    rows, dev_rows = read_rows(reader, train), read_rows(reader, dev)
    report(Note(text=f"{len(rows.vectors)} words to learn from, {len(dev_rows.vectors)} to check against"))
    targets = [number(example, model.vocabulary, tokenizer=None).targets for example in train]
    columns = word_columns(targets, [len(example.sentence) for example in train])
    size, epochs = config.batches.words or WORDS, config.training.epochs
    updates = -(-len(rows.vectors) // size)
    optimiser = torch.optim.AdamW(heads.parameters(), lr=config.optimiser.rate, betas=config.optimiser.betas)
    best, kept, step = -1.0, heads.state_dict(), 0
    started = time.perf_counter()
    for epoch in range(epochs):
        heads.train()
        chance = torch.Generator().manual_seed(config.training.seed + epoch)
        total = 0.0
        for places in torch.split(torch.randperm(len(rows.vectors), generator=chance), size):
            factor = rate_factor(step, epochs * updates, options=config.optimiser)
            for group in optimiser.param_groups:
                group["lr"] = config.optimiser.rate * factor
            loss = _loss(heads, rows, columns, places, config)
            optimiser.zero_grad()
            torch.autograd.backward(loss)
            optimiser.step()
            step, total = step + 1, total + float(loss.detach())
            report(
                Update(
                    step=step,
                    total=epochs * updates,
                    epoch=epoch,
                    done=step - epoch * updates,
                    updates=updates,
                    loss=float(loss.detach()),
                    words=len(places),
                )
            )
        heads.eval()
        scores, each = evaluate_words(model, dev, dev_rows) if dev else ({}, {})
        found = sum(scores.values())
        better = found > best or not dev  # without dev the last one is kept
        row = {"step": step, "epoch": epoch + 1, "loss": total / updates, "seconds": time.perf_counter() - started}
        report(Check(row=row | scores | {"treebanks": each}, best=better))
        if better:
            best, kept = found, {name: value.clone() for name, value in heads.state_dict().items()}
    heads.load_state_dict(kept)


def _loss(heads: WordHeads, rows: Rows, columns: dict[str, Tensor], places: Tensor, config: Config) -> Tensor:
    scores = heads(*rows.at(places))
    known = {name: column[places] for name, column in columns.items()}
    terms = word_losses(scores, known, zero=torch.zeros(()))
    return (config.loss.lemma * terms["lemma"] + config.loss.feature * terms["feature"]) / len(places)


def _reader(model: Model, config: Config) -> Engine:
    """Return what computes the vectors: as parsers do it on this machine, in 8 bits where that is faster."""
    engine = load_engine(locate(config.start), device="cpu", precision="auto")
    return Engine(engine.network, model.vocabulary, model.config, engine.tokenizer)


def read_rows(engine: Engine, examples: Sequence[Example]) -> Rows:
    """Return what the scorers of words read, by a network that nothing changes any more."""
    styles = [example.style for example in examples]
    sentences = {at: bare(example.sentence, tags=engine.config.encoder.tags) for at, example in enumerate(examples)}
    parts: dict[int, list[Tensor]] = {}
    read = engine.read(sentences, styles=styles)
    for numbers, inputs in engine.group(read):
        output = engine.network.run(inputs)
        lengths = list(output.lengths)
        columns = [torch.from_numpy(column) for column in (output.vectors(), output.tag_scores(), output.upos_scores())]
        split = [torch.split(column.half(), lengths) for column in columns]
        for row, at in enumerate(numbers):
            parts[at] = [column[row] for column in split]
    order = range(len(examples))
    characters = [torch.from_numpy(ids) for at in order for ids in read[at].characters]
    return Rows(
        vectors=torch.cat([parts[at][0] for at in order]),
        tags=torch.cat([parts[at][1] for at in order]),
        upos=torch.cat([parts[at][2] for at in order]),
        characters=pad_sequence(characters, batch_first=True, padding_value=PADDING).to(torch.int32),
    )


@torch.inference_mode()
def evaluate_words(
    model: Model, examples: Sequence[Example], rows: Rows
) -> tuple[dict[str, float], dict[str, dict[str, float]]]:
    """Return the shares of lemmas and features that are right, in percent, with tags that were predicted.

    The second part has them for each treebank, where there are several.
    """
    heads, known = model.network.words, model.vocabulary
    if heads is None:
        raise ValueError("the network has no scorers of words")
    scores = heads(*rows.at(torch.arange(len(rows.vectors))))
    names, chosen = (known.upos, rows.upos) if known.upos else (known.tags, rows.tags)
    tags = [names[tag] if names else "" for tag in chosen.argmax(dim=1).tolist()]
    words = [word for example in examples for word in example.sentence.words]
    lemmas = features = None
    if scores.lemmas is not None and known.scripts:
        lemmas = name_lemmas(words, tags, scores.lemmas.numpy(), known)
    if scores.features:
        features = name_features([choice.numpy() for choice in scores.features], known)
    sentences, first = [], 0
    for example in examples:
        here = slice(first, first + len(example.sentence))
        first = here.stop
        sentences.append(
            Sentence(
                words=example.sentence.words,
                lemmas=tuple(lemmas[here]) if lemmas is not None else None,
                features=tuple(features[here]) if features is not None else None,
            )
        )
    counts: dict[str, dict[str, ClassCounts]] = {}
    for example, found in zip(examples, sentences, strict=True):
        for name, (wanted, given) in word_classes(example.sentence, found).items():
            if wanted is not None and given is not None:
                for part in ("", example.treebank):
                    of_part = counts.setdefault(part, {})
                    of_part[name] = of_part.get(name, ClassCounts()) + count_classes(wanted, given)
    shares = {part: {name: count.accuracy for name, count in of_part.items()} for part, of_part in counts.items()}
    return shares.pop("", {}), shares if len(shares) > 1 else {}
