"""A model of torch: a network with its vocabulary and options, loaded from a folder and saved into one.

A saved model is a folder: ``model.safetensors`` (all weights), ``parser.json`` (options and vocabulary), for a
pretrained encoder its own configuration and tokenizer, and a learned segmenter where there is one. Nothing in it is
executed on loading.
"""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

from safetensors.numpy import save_file

from h3n.config import Config, table_of, without_folders
from h3n.engine.engine import Engine
from h3n.engine.segmenter import LearnedSegmenter, write_segmenter
from h3n.engine.storage import Array, pack
from h3n.engine.vocabulary import Vocabulary
from h3n.files import checksum, drafted, write_text, written_folder
from h3n.model.network import Network
from h3n.model.running import TorchNetwork
from h3n.model.saved import load_saved
from h3n.models import ABOUT, ENCODER, SEGMENTER, SHA256, VERSION, WEIGHTS
from h3n.text import ENGLISH, Segmenter


class Model:
    """A network with its vocabulary and options, to be trained or run. A user sees it as `h3n.parser.Parser`."""

    def __init__(
        self, network: Network, vocabulary: Vocabulary, config: Config, segmenter: Segmenter = ENGLISH
    ) -> None:
        self.network = network
        self.vocabulary = vocabulary
        self.config = config
        self.segmenter = segmenter

    @property
    def engine(self) -> Engine:
        """Return what runs the network, as it is now, by the interface that all networks have."""
        network = TorchNetwork(self.network, helper=self.vocabulary.helper)
        return Engine(network, self.vocabulary, self.config, self.network.tokenizer, self.segmenter)

    def with_decoding(self, **options: Any) -> Model:
        """Return the model with other options of decoding, such as ``weight``."""
        config = replace(self.config, decoding=replace(self.config.decoding, **options))
        return Model(self.network, self.vocabulary, config, self.segmenter)

    @classmethod
    def load(cls, folder: str | Path, *, device: str = "cpu") -> Model:
        """Return the model saved in a folder."""
        network, vocabulary, config, segmenter = load_saved(Path(folder))
        return cls(network.to(device).eval(), vocabulary, config, segmenter)

    def save(
        self,
        folder: str | Path,
        *,
        bits: int = 32,
        embedding_bits: int | None = None,
        inner_bits: int | None = None,
    ) -> None:
        """Write the model into a folder; see `h3n.engine.storage` for fewer bits a weight.

        The folder appears whole; where it is there already, the files are replaced one by one and others are kept.
        """
        path = Path(folder)
        state = {name: value.detach().cpu().numpy() for name, value in self.network.state_dict().items()}
        weights = pack(state, bits, embedding_bits=embedding_bits, inner_bits=inner_bits)
        if path.is_dir():
            self._write(path, weights)
        else:
            with written_folder(path) as draft:
                self._write(draft, weights)

    def _write(self, path: Path, weights: dict[str, Array]) -> None:
        with drafted(path / WEIGHTS) as draft:
            save_file(weights, draft, metadata={"format": "pt"})
        if self.network.tokenizer is not None:
            (path / ENCODER).mkdir(exist_ok=True)
            self.network.encoder.save(path / ENCODER)
        if isinstance(self.segmenter, LearnedSegmenter):
            write_segmenter(self.segmenter, path)
        about: dict[str, Any] = {"version": VERSION, SHA256: checksum(path / WEIGHTS), SEGMENTER: self.segmenter.name}
        about |= {"config": table_of(without_folders(self.config)), "vocabulary": self.vocabulary.to_json()}
        write_text(path / ABOUT, json.dumps(about, ensure_ascii=False, indent=1) + "\n")
        (path / WEIGHTS).chmod((path / ABOUT).stat().st_mode)  # who may read a model may read all of it
