"""The paths that the page uses, without a browser."""

from __future__ import annotations

import gzip
import io
import re
from pathlib import Path

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")

from h3n import draw, formats
from h3n.parser import Parser
from h3n.serve.page import SCRIPTS, disagreements
from h3n.trees import Dependencies, Sentence
from tests.serve.conftest import Running

TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"


def test_page_needs_nothing_from_outside(service: Running) -> None:
    status, page, headers = service.send("/")
    assert status == 200
    assert headers["content-type"] == "text/html; charset=utf-8"
    assert not re.search(r"https?://|<style|onclick|style=", page)
    scripts = re.findall(r"<script[^>]*>(.*?)</script>", page, flags=re.S)
    assert scripts == [""]
    for path in re.findall(r'(?:src|href)="(/static/[^"]+)"', page):
        assert service.send(path)[0] == 200
    for name in SCRIPTS:
        script = service.send(f"/static/{name}")[1]
        assert not re.search(r"innerHTML|outerHTML|insertAdjacentHTML|document\.write|eval\(|https?://", script)
        assert {path.removeprefix("./") for path in re.findall(r'from "([^"]+)"', script)} <= set(SCRIPTS)


def test_no_request_leads_to_the_file_system(service: Running) -> None:
    for path in ("/static/", "/static/page.py", "/static/..%2fapp.py", "/static/%2e%2e/app.py", "/static//etc/passwd"):
        assert service.send(path)[0] == 404
    assert service.send("/v1/treebank?name=/etc/passwd", b"")[0] == 422
    status, answer, _ = service.send("/v1/treebank?name=/etc/hosts.conllu", b"")
    assert (status, answer["sentences"]) == (200, [])


@pytest.mark.parametrize("name", ["dev.conllu", "dev.ptb"])
def test_treebank_is_read_and_drawn(service: Running, name: str) -> None:
    body = (TREEBANK / name).read_bytes()
    _, answer, _ = service.send(f"/v1/treebank?name={name}", body)
    sentences = list(formats.read(TREEBANK / name))
    assert [row["sentence"]["words"] for row in answer["sentences"]] == [list(one.words) for one in sentences]
    assert service.send(f"/v1/treebank?name={name}.gz", gzip.compress(body))[1] == answer
    _, drawn, _ = service.send("/v1/draw", {"sentence": answer["sentences"][0]["sentence"]})
    assert drawn["svg"] == draw.svg(sentences[0])


def test_two_files_over_the_same_sentences_are_one_treebank(service: Running) -> None:
    first, second = ((TREEBANK / name).read_bytes() for name in ("dev.ptb", "dev.conllu"))
    path = "/v1/treebank?name=dev.ptb&second=dev.conllu"
    status, answer, _ = service.send(f"{path}&size={len(first)}", first + second)
    assert status == 200
    assert all({"tree", "heads"} <= set(row["sentence"]) for row in answer["sentences"])
    assert service.send(f"{path}&size={len(first + second) + 1}", first + second)[1]["field"] == "size"
    shorter = first.partition(b"\n")[2]
    status, answer, _ = service.send(f"{path}&size={len(shorter)}", shorter + second)
    assert (status, answer["field"]) == (422, "body")


def test_damage_is_said_with_its_line(service: Running) -> None:
    status, answer, _ = service.send("/v1/treebank?name=x.conllu", b"1\tone\n\n")
    assert (status, answer["field"]) == (422, "body")
    assert ":1:" in answer["error"]
    assert service.send("/v1/treebank?name=x.doc", b"")[1]["field"] == "name"
    assert service.send("/v1/draw", {"sentence": {"version": 1}})[1]["field"] == "sentence"


def test_words_on_which_the_two_trees_disagree_are_named() -> None:
    (sentence,) = formats.read(io.StringIO("(S (NP (D a) (N b)) (V c))\n"), format="brackets")
    agreeing = Sentence(words=sentence.words, tree=sentence.tree, dependencies=Dependencies((1, 2, -1), ("x",) * 3))
    crossing = Sentence(words=sentence.words, tree=sentence.tree, dependencies=Dependencies((2, 2, -1), ("x",) * 3))
    assert disagreements(agreeing) == []
    assert len(disagreements(crossing)) == 1
    assert disagreements(sentence) == []


def test_parts_of_a_picture_are_named(service: Running, parser: Parser) -> None:
    (result,) = parser.parse("The old dog sees a cat.", decoder="hpsg")
    body = {"text": "The old dog sees a cat.", "decoder": "hpsg", "fields": ["svg"], "picture": {"parts": True}}
    svg = service.send("/v1/parse", body)[1]["sentences"][0]["svg"]
    assert set(re.findall(r'<text[^>]* data-word="(\d+)"', svg)) == {str(at) for at in range(len(result))}
    assert set(re.findall(r'<text[^>]* data-span="([\d-]+)"', svg)) == {f"{s.start}-{s.end}" for s in result.spans}
    assert set(re.findall(r'<text[^>]* data-arc="(\d+)"', svg)) == {str(at) for at in range(len(result))}
    assert set(re.findall(r'data-edge-word="(\d+)"', svg)) == {str(at) for at in range(len(result))}
    assert re.sub(r' data-[\w-]+="[\d-]+"', "", svg) == draw.svg(result.drawable)
    status, answer, _ = service.send("/v1/parse", {**body, "picture": {"parts": True, "fit": 400}})
    assert (status, answer["field"]) == (422, "picture.parts")
