"""The page in a real browser: headless Chromium, driven by Playwright. `.ci/programs` installs what is needed."""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("fastapi", reason="needs the extra serve")
pytest.importorskip("playwright.sync_api", reason="needs playwright")

from tests.serve.conftest import Running

CHROMIUM = shutil.which("chromium")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs the program chromium (.ci/programs)")
TREEBANK = Path(__file__).parents[2] / "examples" / "treebank"
TEXT = "The old dog sees a cat. The cat sleeps."
FLAGS = ["--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking"]
FLAGS += ["--disable-component-update", "--disable-sync"]
AXE = Path(os.environ.get("H3N_AXE", Path.home() / ".cache" / "h3n" / "axe.min.js"))


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    from playwright.sync_api import sync_playwright

    with sync_playwright() as driver:
        chromium = driver.chromium.launch(executable_path=CHROMIUM, args=FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def page(browser: Any, service: Running) -> Iterator[Any]:
    context = browser.new_context(viewport={"width": 1100, "height": 800})
    context.grant_permissions(["clipboard-read", "clipboard-write"], origin=service.url)
    context.set_default_timeout(20_000)
    opened = context.new_page()
    problems: list[str] = []
    opened.on("pageerror", lambda error: problems.append(str(error)))
    opened.on("console", lambda line: problems.append(line.text) if "Content Security" in line.text else None)
    opened.on("dialog", lambda dialog: problems.append(dialog.message))
    opened.goto(service.url)
    opened.wait_for_selector("figure svg")
    yield opened
    context.close()
    assert problems == []


def wait(page: Any, condition: Callable[[], bool]) -> None:
    """Wait from here: the page's policy does not let the browser evaluate a condition again and again."""
    for _ in range(1000):
        if condition():
            return
        page.wait_for_timeout(20)
    pytest.fail("nothing came of it in 20 s")


def parse(page: Any, text: str) -> None:
    page.fill("#text", text)
    page.click("button[type=submit]")
    wait(page, lambda: not page.text_content("#status").startswith("Parsing"))


def status(page: Any, part: str) -> None:
    wait(page, lambda: part in page.text_content("#status"))


def error(page: Any, part: str) -> None:
    wait(page, lambda: part in page.text_content("#error"))


def test_every_sentence_is_a_picture_that_lights_up(page: Any) -> None:
    parse(page, TEXT)
    assert page.locator("figure svg").count() == 2
    word = page.locator('figure:nth-of-type(1) text[data-word="2"]')
    word.hover()
    assert "lit" in word.get_attribute("class")
    assert "dog" in page.locator("figure:nth-of-type(1) .info").text_content()
    assert "% sure" in page.locator("figure:nth-of-type(1) .info").text_content()
    assert page.locator("figure:nth-of-type(1) path.lit").count() >= 1
    page.mouse.move(0, 0)
    assert page.locator(".lit").count() == 0


def test_click_forbids_and_removal_gives_the_tree_back(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    before = page.locator("figure svg").inner_html()
    page.locator('text[data-arc="0"]').click()
    page.wait_for_selector("#constraints li")
    assert "forbid arc" in page.text_content("#constraints")
    status(page, "differ from before")
    assert page.locator(".changed").count() >= 1
    assert page.locator("figure svg").inner_html() != before
    page.locator("#constraints button").click()
    page.wait_for_selector("#constraints li", state="hidden")
    assert page.locator('text[data-arc="0"]').text_content() in before


def test_drag_requires_an_arc_and_a_conflict_is_said(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.locator('text[data-word="5"]').drag_to(page.locator('text[data-word="0"]'))
    page.wait_for_selector("#constraints li")
    assert "require arc cat → The" in page.text_content("#constraints")
    assert page.locator('text[data-word="0"]').get_attribute("aria-label").split(" of ")[1].startswith("cat")
    page.locator('text[data-word="3"]').drag_to(page.locator('text[data-word="0"]'))
    error(page, "contradict each other: arc cat → The required; arc sees → The required")
    assert page.locator("#constraints li.conflict").count() == 2
    page.locator("#constraints li:nth-child(1) button").click()
    wait(page, lambda: not page.text_content("#error"))
    status(page, "1 sentence")
    assert page.locator('text[data-word="0"]').get_attribute("aria-label").split(" of ")[1].startswith("sees")


def test_drag_over_words_requires_a_phrase(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.select_option("#drag", "span")
    page.locator('text[data-word="3"]').drag_to(page.locator('text[data-word="1"]'))
    page.wait_for_selector("#constraints li")
    assert "require phrase “old dog sees”" in page.text_content("#constraints")
    status(page, "differ from before")
    assert page.locator('text[data-span="1-4"]').count() == 1


def test_clicks_on_two_words_do_what_a_drag_does(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.locator('text[data-word="5"]').click()
    status(page, "Governor: cat")
    page.locator('text[data-word="5"]').click()
    wait(page, lambda: page.locator(".marked").count() == 0)
    page.locator('text[data-word="5"]').click()
    page.locator('text[data-word="0"]').click()
    page.wait_for_selector("#constraints li")
    assert "require arc cat → The" in page.text_content("#constraints")


def test_two_decoders_stand_side_by_side(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.select_option("#compare", label="tiny, mst")
    wait(page, lambda: page.locator(".pair svg").count() == 2)
    status(page, "differ between the two")
    assert page.locator(".pair > div:nth-child(2) [data-span]").count() == 0


def test_walk_by_keyboard_alone(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.locator("svg text[tabindex='0']").focus()
    focused = "() => ({...document.activeElement.dataset})"
    page.locator('text[data-word="0"]').focus()
    page.keyboard.press("ArrowRight")
    assert page.evaluate(focused) == {"word": "1"}
    page.keyboard.press("ArrowDown")
    assert page.evaluate(focused) == {"arc": "1"}
    page.keyboard.press("ArrowUp")
    page.keyboard.press("ArrowUp")
    assert "span" in page.evaluate(focused)
    assert "phrase" in page.evaluate("document.activeElement.getAttribute('aria-label')")
    page.keyboard.press("Enter")
    page.wait_for_selector("#constraints li")
    assert "forbid phrase" in page.text_content("#constraints")
    page.locator('text[data-word="0"]').focus()
    page.keyboard.press("s")
    for _ in range(2):
        page.keyboard.press("ArrowRight")
    page.keyboard.press("e")
    wait(page, lambda: "require phrase “The old dog”" in page.text_content("#constraints"))
    status(page, "1 sentence")
    assert page.evaluate(focused) == {"word": "2"}  # the keyboard is where it was, though the picture is a new one


def test_text_is_never_html(page: Any) -> None:
    payloads = '<script>alert(1)</script> <img src=x onerror=alert(2)> <svg onload=alert(3)> "><b>bold</b> &lt;i&gt;'
    parse(page, payloads)
    assert page.locator("#results script, #results img, #results b, #results svg svg").count() == 0
    captions = " ".join(page.locator("figcaption").all_text_contents())
    assert all(part in captions for part in ("<script>", "<img", "<svg", "<b>", "&lt;"))
    page.wait_for_timeout(200)  # for a dialog that must not come: the fixture looks


def test_link_holds_text_and_constraints(page: Any) -> None:
    parse(page, "The old dog sees a cat.")
    page.locator('text[data-arc="0"]').click()
    page.wait_for_selector("#constraints li")
    link = page.evaluate("location.href")
    page.goto("about:blank")
    page.goto(link)
    page.wait_for_selector("#constraints li")
    assert page.input_value("#text") == "The old dog sees a cat."
    assert "forbid arc" in page.text_content("#constraints")


def test_copy_and_download(page: Any) -> None:
    parse(page, "The cat sleeps.")
    page.click("figure .row button:has-text('Copy')")
    status(page, "Copied")
    assert page.evaluate("navigator.clipboard.readText()").startswith("(")
    page.select_option("figure select", label="PNG")
    page.click("figure .row button:has-text('Copy')")
    status(page, "Copied sentence 1 as PNG")
    assert page.evaluate("navigator.clipboard.read().then(items => items[0].types)") == ["image/png"]
    with page.expect_download() as download:
        page.click("figure .row button:has-text('Download')")
    assert Path(download.value.path()).read_bytes().startswith(b"\x89PNG")


def test_treebank_can_be_looked_through(page: Any) -> None:
    page.set_input_files("#file", TREEBANK / "dev.conllu")
    page.wait_for_selector("#shown svg")
    count = page.locator("#list li").count()
    assert count > 2
    status(page, "Sentence 1 of")
    page.click("#next")
    status(page, "Sentence 2 of")
    page.click("#previous")
    status(page, "Sentence 1 of")
    page.fill("#search", "no such words")
    assert page.locator("#list li").count() == 0
    page.set_input_files("#file", {"name": "bad.conllu", "mimeType": "text/plain", "buffer": b"1\tone\n"})
    error(page, "bad.conllu")


def test_treebank_files_are_dropped_on_the_page(page: Any) -> None:
    contents = {name: (TREEBANK / name).read_text(encoding="utf-8") for name in ("dev.ptb", "dev.conllu")}
    crossing = contents["dev.conllu"].replace("\t4\tdet\t", "\t5\tdet\t", 1)
    assert crossing != contents["dev.conllu"]
    page.evaluate(
        """contents => {
            const transfer = new DataTransfer();
            for (const [name, text] of Object.entries(contents)) transfer.items.add(new File([text], name));
            const options = {dataTransfer: transfer, bubbles: true, cancelable: true};
            document.body.dispatchEvent(new DragEvent("drop", options));
        }""",
        contents | {"dev.conllu": crossing},
    )
    page.wait_for_selector("#shown svg")
    status(page, "The two trees disagree on")
    assert page.locator("#shown [data-span]").count() > 0
    assert page.locator("#shown .changed").count() > 0
    page.check("#disagreeing")
    assert page.locator("#list li.disagrees").count() == page.locator("#list li").count() >= 1


def test_phone_long_sentence_right_to_left_and_dark(browser: Any, service: Running) -> None:
    context = browser.new_context(viewport={"width": 380, "height": 700}, color_scheme="dark")
    page = context.new_page()
    page.goto(service.url)
    page.wait_for_selector("figure svg")
    parse(page, " ".join(["the", "old", "dog", "sees", "a"] * 20) + " cat.")
    assert page.evaluate("document.scrollingElement.scrollWidth") <= 380
    assert page.evaluate("(box => box.scrollWidth > box.clientWidth)(document.querySelector('.scroll'))")
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(18, 21, 27)"
    parse(page, "הכלב רואה חתול")
    assert page.locator(".scroll").get_attribute("dir") == "rtl"
    first, last = (page.locator(f'text[data-word="{at}"]').bounding_box()["x"] for at in (0, 2))
    assert first > last
    context.close()


@pytest.mark.skipif(not AXE.is_file(), reason="needs axe-core (.ci/programs)")
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_serious_finding_of_axe(browser: Any, service: Running, scheme: str) -> None:
    context = browser.new_context(color_scheme=scheme)
    page = context.new_page()
    page.goto(service.url)
    page.wait_for_selector("figure svg")
    page.evaluate(AXE.read_text(encoding="utf-8"))
    findings = page.evaluate("axe.run()")["violations"]
    serious = [(one["id"], one["nodes"][0]["html"]) for one in findings if one["impact"] in ("serious", "critical")]
    context.close()
    assert serious == []
