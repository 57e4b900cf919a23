"""Our BERT, RoBERTa and MPNet against those of transformers, which share no code with them."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
import torch

from h3n.engine.architectures import UnknownEncoder
from h3n.model.bert import FILES, Bert
from h3n.model.encoders import load_plain
from h3n.model.library import wrapped
from h3n.model.mpnet import Mpnet

Folder = Callable[[str], Path]
KINDS = ["bert", "roberta", "xlm-roberta", "mpnet"]


def filled(folder: Path) -> tuple[Bert, torch.nn.Module]:
    """Return ours and theirs with the same weights."""
    from transformers import AutoModel

    theirs = AutoModel.from_pretrained(folder).eval()
    theirs.pooler = None
    if theirs.config.model_type == "mpnet":
        torch.nn.init.normal_(theirs.encoder.relative_attention_bias.weight)  # so that distance counts for something
    ours = load_plain(folder)[0].eval()
    ours.load_state_dict(theirs.state_dict())
    return ours, theirs


@pytest.mark.parametrize("kind", KINDS)
def test_vectors_are_those_of_transformers(kind: str, tiny_encoder: Folder) -> None:
    ours, theirs = filled(tiny_encoder(kind))
    torch.manual_seed(1)
    ids = torch.randint(5, ours.config.vocab_size, (3, 9))
    mask = torch.ones_like(ids)
    for row, length in enumerate((9, 4, 1)):
        mask[row, length:] = 0
        ids[row, length:] = ours.config.pad_token_id
    choices = [{"attention_mask": mask}]
    if ours.config.type_vocab_size:
        types = torch.randint(0, ours.config.type_vocab_size, ids.shape)
        choices.append({"attention_mask": mask, "token_type_ids": types})
    with torch.inference_mode():
        for given in choices:
            expected = theirs(input_ids=ids, **given).last_hidden_state
            found = ours(input_ids=ids, **given).last_hidden_state
            assert torch.allclose(found[mask.bool()], expected[mask.bool()], atol=1e-5)
        whole = ids[:1]
        expected = theirs(input_ids=whole, attention_mask=mask[:1]).last_hidden_state
        assert torch.allclose(ours(whole, mask[:1]).last_hidden_state, expected, atol=1e-5)


def test_distances_count_as_in_transformers(tiny_encoder: Folder) -> None:
    ours, theirs = filled(tiny_encoder("mpnet"))
    assert isinstance(ours, Mpnet)
    distances = torch.arange(-400, 401)
    classes = theirs.encoder.relative_position_bucket(-distances, num_buckets=32)  # it counts the other way round
    expected = theirs.encoder.relative_attention_bias(classes).T
    assert torch.equal(ours.by_distance(400), expected)


@pytest.mark.parametrize("kind", KINDS)
def test_pieces_are_those_of_transformers(kind: str, tiny_encoder: Folder) -> None:
    from transformers import AutoTokenizer

    theirs = AutoTokenizer.from_pretrained(tiny_encoder(kind), add_prefix_space=True)
    words = ["Mary", "saw", "unbelievable", "(", "\u00e9\u00df", "\u2028", "trees"]
    left, right = load_plain(tiny_encoder(kind))[1], wrapped(theirs, limit=40)
    assert (left.padding, left.unknown) == (theirs.pad_token_id, theirs.unk_token_id)
    assert left.tokenize(words).ids.tolist() == right.tokenize(words).ids.tolist()
    assert left.tokenize(words).words.tolist() == right.tokenize(words).words.tolist()
    assert (left.before, left.after, left.types, left.padding) == (
        right.before,
        right.after,
        right.types,
        right.padding,
    )


def test_dropout_is_for_training_alone(tiny_encoder: Folder) -> None:
    ours, _ = filled(tiny_encoder("bert"))
    ids = torch.full((1, 8), 7)
    mask = torch.ones_like(ids)
    assert torch.equal(ours(ids, mask).last_hidden_state, ours(ids, mask).last_hidden_state)
    ours.train()
    assert not torch.equal(ours(ids, mask).last_hidden_state, ours(ids, mask).last_hidden_state)


def test_what_is_saved_is_what_was_read(tiny_encoder: Folder, tmp_path: Path) -> None:
    folder = tiny_encoder("bert")
    load_plain(folder)[0].config.save_pretrained(tmp_path)
    assert all((tmp_path / name).read_bytes() == (folder / name).read_bytes() for name in FILES)
    load_plain(tmp_path)[0].config.save_pretrained(tmp_path)  # onto itself
    assert (tmp_path / FILES[0]).stat().st_size > 0


@pytest.mark.parametrize(("name", "value"), [("hidden_act", "relu"), ("model_type", "electra"), ("is_decoder", True)])
def test_other_kinds_are_left_to_transformers(name: str, value: object, tiny_encoder: Folder, tmp_path: Path) -> None:
    shutil.copytree(tiny_encoder("bert"), tmp_path, dirs_exist_ok=True)
    load_plain(tmp_path)
    options = json.loads((tmp_path / "config.json").read_text())
    (tmp_path / "config.json").write_text(json.dumps({**options, name: value}))
    with pytest.raises(UnknownEncoder, match=r"install h3n\[train\] .* or take a model with one of"):
        load_plain(tmp_path)


def test_transformers_is_needed_for_the_rest(tiny_encoder: Folder) -> None:
    with pytest.raises(UnknownEncoder):
        load_plain(tiny_encoder("xlnet"))


def test_a_saved_parser_needs_no_transformers(tiny_encoder: Folder, tmp_path: Path) -> None:
    from h3n.config import load_config
    from h3n.engine.vocabulary import Seen
    from h3n.model import build_network, count_vocabulary
    from h3n.model.model import Model
    from h3n.trees import Dependencies, Span
    from tests.parsing import parse

    seen = Seen(words=("a", "b"), spans=(Span(0, 2, "S"),), dependencies=Dependencies((1, -1), ("det", "root")))
    settings = ["preset=minilm", f'encoder.name="{tiny_encoder("bert")}"', "encoder.layers.size=32"]
    settings += ["encoder.layers.heads=2", "encoder.layers.inner=32", "scorers.arc=16"]
    config = load_config(settings=settings)
    vocabulary = count_vocabulary([seen], keep_words=False)
    parser = Model(build_network(config, vocabulary).eval(), vocabulary, config)
    parser.save(tmp_path)
    again = Model.load(tmp_path)
    given = [["Mary", "saw", "trees"], ["it"]]
    assert [p.sentence for p in parse(again, given)] == [p.sentence for p in parse(parser, given)]
    code = (
        "import sys\nimport h3n\nfrom h3n.model.model import Model\n"
        f"Model.load({str(tmp_path)!r})\nlist(h3n.load({str(tmp_path)!r}).parse([['Mary', 'saw', 'trees']]))\n"
        "sys.exit('transformers' in sys.modules)"
    )
    subprocess.run([sys.executable, "-c", code], check=True)
