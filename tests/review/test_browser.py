"""Chromium at work on the pages: by keyboard alone, on a phone, in the dark, for a screen reader."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from types import SimpleNamespace

import pytest

from tests.review.test_points import ITEM, first, newest, rows
from tests.review.test_safety import HOSTILE, PAGES, hostile_class, hostile_paths

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)")


@pytest.fixture(scope="module")
def chromium() -> Iterator[object]:
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


@pytest.fixture
def browse(demo, chromium):
    """Open the pages as somebody, in a context of its own; what the page complains of is a failure."""
    contexts, complaints = [], []

    def opened(name: str = "Ada", **options):
        context = chromium.new_context(
            viewport=options.pop("viewport", {"width": 1280, "height": 900}), **options
        )
        contexts.append(context)
        page = context.new_page()
        page.set_default_timeout(60_000)
        page.on("pageerror", lambda error: complaints.append(str(error)))
        page.on(
            "console", lambda message: complaints.append(message.text) if message.type == "error" else None
        )
        page.goto(f"{demo.address}/enter?token={demo.tokens[name]}")
        return page

    yield SimpleNamespace(open=opened, complaints=complaints)
    for context in contexts:
        context.close()


@pytest.fixture
def browse_site(csye, chromium):
    """Open the pages of the course's assignment; GRADER_RECORDING names the file of a recording."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900})
    recording = os.environ.get("GRADER_RECORDING")
    if recording:
        context.tracing.start(screenshots=True, snapshots=True)

    def opened(name: str):
        page = context.new_page()
        page.goto(f"{csye.address}/enter?token={csye.tokens[name]}")
        return page

    yield opened
    if recording:
        context.tracing.stop(path=recording)
    context.close()


def press(page, *keys: str) -> None:
    """Press keys of which the last one leads to another page."""
    for key in keys[:-1]:
        page.keyboard.press(key)
    with page.expect_navigation():
        page.keyboard.press(keys[-1])


def test_a_question_is_graded_by_keyboard_alone(demo, browse, total):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    numbers = []

    def here() -> int:
        number = int(page.url.rsplit("/", 1)[1])
        numbers.append(number)
        return number

    by_digits = here()
    press(page, "1", "0", "1", ".", "1", "Enter")
    by_suggestion = here()
    press(page, "a")
    everything = here()
    press(page, "f", "Enter")
    nothing = here()
    press(page, "x", "Enter")
    with_comment = here()
    page.keyboard.press("c")
    page.keyboard.type("Look at 1 and n again")
    page.keyboard.press("Escape")
    press(page, "1", "1", "1", "1", "Enter")
    taken_back = here()
    press(page, "n")
    press(page, "p")
    assert page.url.endswith(f"/{taken_back}")
    press(page, "f", "Enter")
    press(page, "u")
    assert page.url.endswith(f"/{taken_back}")
    assert len(set(numbers)) == 6
    assert [total(n) for n in (by_digits, everything, nothing, with_comment, taken_back)] == [
        3.0,
        4.0,
        0.0,
        4.0,
        0.0,
    ]
    assert total(by_suggestion) == rows(demo, "suggested")[1][0]
    assert rows(demo, "comment")[4] == ("Look at 1 and n again",)
    assert browse.complaints == []


def test_half_a_point_goes_to_the_line_whose_digit_was_pressed(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")

    def parts(*keys: str) -> list[str]:
        for key in keys:
            page.keyboard.press(key)
        return page.locator(".criterion input").evaluate_all("fields => fields.map(each => each.value)")

    assert parts("0", ".") == ["0.5", "", "", ""]
    assert parts("0", ".", ".") == ["0.5", "1", "", ""]
    assert parts("f", "ArrowUp", "ArrowUp", "0", ".") == ["0.5", "1", "1", "1"]  # the next line has points
    assert parts("x", ".") == ["0", "0.5", "0", "0"], "the marked line has points, and no digit was pressed"


def test_a_kept_comment_is_two_keys_away(demo, browse):
    demo.visitor().give(ITEM, first(demo), 1, 1, 1, 1, comment="Constant memory is cached.", keep=1)
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    press(page, "r", "1", "f", "Enter")
    assert rows(demo, "comment, by")[-1] == ("Constant memory is cached.", "Bob")


@pytest.mark.slow
def test_twenty_students_and_thirteen_questions_by_keyboard_alone(csye, browse_site):
    page = browse_site("Ada")
    questions = [item.id for item in csye.desk.items.values() if item.check == "answer"]
    assert len(questions) == 13
    waiting = sum(
        csye.room.index.waits(entry, item) for entry in csye.room.index.entries for item in questions
    )
    pressed = 0
    while page.url.endswith("/a/csye7105_hw4") is False or page.locator("a.button:text-is('Grade')").count():
        if page.url.endswith("/a/csye7105_hw4"):
            while not page.evaluate("document.activeElement.matches('a.button:not(.done)')"):
                page.keyboard.press("Tab")
            press(page, "Enter")
            continue
        press(page, *(("a",) if page.locator("[name=accept]").count() else ("f", "Enter")))
        pressed += 1
    assert pressed == waiting >= 200
    index = csye.room.index.refresh()
    assert not any(index.waits(entry, item) for entry in index.entries for item in questions)
    for entry in index.entries:
        assert all(entry.line(item).standing == "final" for item in questions)


def test_two_assistants_at_once_lose_nothing(demo, browse, total):
    bob, cem = browse.open("Bob"), browse.open("Cem")
    number = first(demo)
    for page in (bob, cem):
        page.goto(f"{demo.address}/a/demo/q/{ITEM}/{number}")
    press(bob, "f", "Enter")
    press(cem, "x", "Enter")
    assert "Bob was here meanwhile" in cem.inner_text("[role=alert]")
    assert total(number) == 4.0
    press(cem, "Enter")
    assert total(number) == 0.0
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob"), (0.0, "Cem")]


def test_it_works_without_scripts(demo, browse, total):
    page = browse.open("Bob", java_script_enabled=False)
    number = first(demo)
    page.goto(f"{demo.address}/a/demo/q/{ITEM}/{number}")
    for place in range(4):
        page.fill(f"#part-{place}", "1")
    page.click("text=Save")
    assert total(number) == 4.0


def test_hostile_answers_do_nothing(demo, browse):
    numbers = hostile_class(demo)
    demo.visitor().post("/a/demo/requests", submission=numbers[0], item=ITEM, text=HOSTILE["1"])
    page = browse.open()
    press(page, "v")
    asked: list[str] = []
    page.on("request", lambda request: asked.append(request.url))
    page.on("dialog", lambda dialog: pytest.fail(dialog.message))
    paths = hostile_paths(demo, numbers) + [f"/a/demo{path}" for path in PAGES] + ["/a/demo/requests/1"]
    for path in paths:
        page.goto(demo.address + path)
        assert page.title() != "taken"
        assert page.locator("body").evaluate("body => getComputedStyle(body).display") != "none"
        assert page.locator("main").count() == 1
    assert [url for url in asked if not url.startswith((demo.address, "data:"))] == []
    assert rows(demo) == []
    assert browse.complaints == []


def everywhere(demo) -> list[str]:
    visitor = demo.visitor()
    number = first(demo)
    visitor.give(ITEM, number, 1, 1, 1, 1, comment="Good, but see " + "x" * 80, keep=1)
    visitor.post("/a/demo/requests", submission=number, item=ITEM, text="why " * 100)
    pages = [f"/a/demo{page}" for page in PAGES]
    pages += [f"/a/demo/q/{item}/{number}" for item in demo.desk.items]
    return [*pages, f"/a/demo/s/{number}?file=answers.md", "/a/demo/requests/1", f"/a/demo/q/{ITEM}/criteria"]


def test_no_page_is_wider_than_a_phone(demo, browse):
    title = demo.desk.items[ITEM].title
    demo.rubric.write_text(demo.rubric.read_text().replace(title, f"{title}, and why it matters, " * 3))
    paths = everywhere(demo)
    page = browse.open(viewport={"width": 360, "height": 740})
    for path in paths:
        page.goto(demo.address + path)
        assert page.evaluate("document.documentElement.scrollWidth") <= 360, path


def test_the_dark_is_dark_and_text_stands_out(demo, browse):
    page = browse.open(color_scheme="dark")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    for selector in ("body", ".judging", "textarea", ".answer"):
        colors = page.eval_on_selector(
            selector,
            """element => {
                const style = getComputedStyle(element);
                return [style.backgroundColor, style.color];
            }""",
        )
        back, front = (sum(map(int, re.findall(r"\d+", color)[:3])) for color in colors)
        assert back < 150, (selector, colors)
        assert front > 400, (selector, colors)


def test_a_screen_reader_finds_names_for_everything(demo, browse):
    page = browse.open()
    for path in everywhere(demo):
        page.goto(demo.address + path)
        assert page.locator("h1").count() == 1, path
        tree = page.locator("body").aria_snapshot()
        assert page.locator("iframe:not([title]), img:not([alt])").count() == 0, path
        assert "- main" in tree
        assert "- navigation" in tree
        for role in ("button", "link", "textbox", "combobox", "checkbox", "table"):
            for line in re.findall(rf"^\s*- {role}\b(.*)$", tree, re.MULTILINE):
                assert re.match(r'\s*"[^"]+|:? ?/|\s*\[', line) or line.strip(" :"), (path, role, line)
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    tree = page.locator("body").aria_snapshot()
    assert 'textbox "registers are on-chip"' in tree
    assert 'textbox "Comment for the student' in tree


def test_what_can_be_scrolled_on_a_page_is_a_stop_with_a_name_or_has_stops(demo, browse):
    page = browse.open()
    for path in everywhere(demo):
        page.goto(demo.address + path)
        nameless = page.evaluate("""() => [...document.querySelectorAll("main *")]
            .filter(box => /auto|scroll/.test(getComputedStyle(box).overflowY) && box.tagName !== "TEXTAREA")
            .filter(box => !box.querySelector("button, input, a[href]"))
            .filter(box => box.tabIndex < 0 || !box.getAttribute("aria-label"))
            .map(box => box.className)""")
        assert nameless == [], path


def test_focus_is_seen_and_the_first_stop_leads_to_the_content(demo, browse):
    page = browse.open()
    page.goto(f"{demo.address}/a/demo")
    page.keyboard.press("Tab")
    assert page.evaluate("document.activeElement.textContent") == "To the content"
    page.keyboard.press("Tab")
    assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"


def test_an_enter_that_is_held_down_saves_one_answer(demo, browse):
    page = browse.open()
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    page.keyboard.press("f")
    with page.expect_navigation():
        page.evaluate(
            """() => { for (let i = 0; i < 5; i++) document.body.dispatchEvent(
                new KeyboardEvent("keydown", {key: "Enter", bubbles: true})); }"""
        )
    assert len(rows(demo)) == 1
    assert newest(demo, first(demo)) == 0


# typed and not saved


def typed(page) -> list[str]:
    return [field.input_value() for field in page.locator(".criterion input").all()]


@pytest.mark.parametrize("leave", ["n", "v", "reload", "questions"])
def test_points_that_are_not_saved_come_back_whatever_way_one_leaves(demo, browse, leave):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    page.keyboard.press("1")
    page.keyboard.press("c")
    page.keyboard.type("Look again")
    page.keyboard.press("Escape")
    if leave == "reload":
        page.reload()
    elif leave == "questions":
        with page.expect_navigation():
            page.click("text=Questions")
    else:
        press(page, leave)
    if leave in {"n", "questions"}:
        unsaved = page.locator(".unsaved")
        assert unsaved.inner_text().startswith(
            "Typed and not saved: 1: on-chip and off-chip memory, Submission "
        )
        with page.expect_navigation():
            unsaved.locator("a").click()
    assert page.url == here
    assert typed(page) == ["1", "", "", ""]
    assert page.input_value("#comment") == "Look again"
    assert "Not saved: this is what you typed here before." in page.inner_text(".unsaved")
    page.click("text=Drop it")
    assert typed(page) == [""] * 4
    page.reload()
    assert page.locator(".unsaved").count() == 0
    assert rows(demo) == []
    assert browse.complaints == []


def test_what_is_saved_is_not_typed_any_more(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    press(page, "f", "Enter")
    page.goto(here)
    assert page.locator(".unsaved").count() == 0
    assert page.evaluate("localStorage.length") == 0


def test_what_a_refused_form_shows_is_not_lost_either(demo, browse):
    bob, cem = browse.open("Bob"), browse.open("Cem")
    number = first(demo)
    for page in (bob, cem):
        page.goto(f"{demo.address}/a/demo/q/{ITEM}/{number}")
    press(bob, "f", "Enter")
    press(cem, "x", "Enter")
    press(cem, "n")
    with cem.expect_navigation():
        cem.click(".unsaved a")
    assert typed(cem) == ["0", "0", "0", "0"]
    assert "4 of 4 by Bob" in cem.inner_text(".now")


def test_what_one_person_typed_another_one_does_not_get(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    page.keyboard.press("1")
    page.goto(f"{demo.address}/enter?token={demo.tokens['Cem']}")
    page.goto(here)
    assert typed(page) == [""] * 4
    assert page.locator(".unsaved").count() == 0


def test_somebody_elses_points_since_are_told_with_the_draft(demo, browse):
    page = browse.open("Bob")
    number = first(demo)
    page.goto(f"{demo.address}/a/demo/q/{ITEM}/{number}")
    page.keyboard.press("1")
    demo.visitor("Cem").give(ITEM, number, 0, 0, 0, 0)
    page.reload()
    assert "Somebody has given points here since." in page.inner_text(".unsaved")
    assert "0 of 4 by Cem" in page.inner_text(".now")


# the server is away


def take_the_server_away(page):
    """Have the browser refuse every request; return once it does."""
    page.route("**/*", lambda route: route.abort("connectionrefused"))
    page.wait_for_function("() => fetch('/alive').then(() => false, () => true)")


@pytest.mark.parametrize("keys", [("Enter",), ("n",), ("v",), ("u",)])
def test_without_a_server_the_page_stays_and_says_what_to_do(demo, browse, keys):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    page.keyboard.press("f")
    take_the_server_away(page)
    for key in keys:
        page.keyboard.press(key)
    line = page.locator(".offline")
    line.wait_for()
    assert "The server does not answer, and nothing was sent. Start grader review again" in line.inner_text()
    assert page.url == here
    assert typed(page) == ["1", "1", "1", "1"]
    page.unroute("**/*")
    press(page, "Enter")  # it is back
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]


def test_after_a_restart_the_page_goes_on_once_the_new_link_is_open(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    page.keyboard.press("f")
    demo.door._sessions.clear()  # as a new start would
    page.keyboard.press("Enter")
    page.locator(".offline").wait_for()
    assert "grader review was started again" in page.inner_text(".offline")
    other = page.context.new_page()
    other.goto(f"{demo.address}/enter?token={demo.tokens['Bob']}")
    press(page, "Enter")
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]


def test_nobody_saves_under_the_name_of_who_opened_another_link_in_this_browser(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    page.keyboard.press("f")
    page.context.new_page().goto(f"{demo.address}/enter?token={demo.tokens['Cem']}")
    page.keyboard.press("Enter")
    page.locator(".offline").wait_for()
    assert "open as Cem now" in page.inner_text(".offline")
    assert rows(demo) == []


def test_the_keys_open_where_they_are_seen(demo, browse):
    page = browse.open("Bob", viewport={"width": 1280, "height": 600})
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    page.keyboard.press("?")
    page.wait_for_function(
        """() => {
            const last = document.querySelector(".keys dl").lastElementChild.getBoundingClientRect();
            const box = document.querySelector(".judging").getBoundingClientRect();
            return last.bottom <= Math.min(innerHeight, box.bottom) + 1 && last.top >= 0;
        }"""
    )


def test_too_many_points_name_the_limit(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    assert page.locator(".limit:visible").count() == 0
    page.fill("#part-1", "7")
    assert page.locator(".limit:visible").all_inner_texts() == ["Give 0 to 1."]
    page.fill("#part-1", "1")
    assert page.locator(".limit:visible").count() == 0


def test_no_word_of_the_audit_is_broken_on_a_phone(demo, browse):
    everywhere(demo)
    page = browse.open(viewport={"width": 360, "height": 740})
    page.goto(f"{demo.address}/a/demo/audit")
    widths = page.eval_on_selector_all(".audit td", "cells => cells.map(cell => cell.clientWidth)")
    assert min(widths) > 250


# two at once, and somebody in a hurry


@pytest.mark.slow
def test_of_a_whole_question_that_two_grade_at_once_no_points_are_lost(demo, browse, total):
    bob, cem = browse.open("Bob"), browse.open("Cem")
    numbers = [entry.number for entry in demo.room.index.refresh().queue(demo.desk.items["q3.warp"])]
    assert len(numbers) == 20
    for place, number in enumerate(numbers):
        for page in (bob, cem):
            page.goto(f"{demo.address}/a/demo/q/q3.warp/{number}")
        first_one, second = (bob, cem) if place % 2 else (cem, bob)
        press(first_one, "f", "Enter")
        press(second, "x", "Enter")
        other = "Bob" if place % 2 else "Cem"
        assert f"{other} was here meanwhile. {other} gave 2 of 2" in " ".join(
            second.inner_text(".conflict").split()
        )
        assert typed(second) == ["0"] * len(typed(second))
        assert total(number) == demo.desk.items["q3.warp"].points
        if place % 4 < 2:
            press(second, "Enter")
            assert total(number) == 0.0
    assert len(rows(demo)) == 30
    assert sorted({row[2] for row in rows(demo)}) == ["Bob", "Cem"]


def test_a_double_click_saves_once_and_the_way_back_shows_what_was_given(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    page.keyboard.press("f")
    with page.expect_navigation():
        page.dblclick("[name=save]")
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]
    page.go_back()
    page.wait_for_url(here)
    assert "4 of 4 by Bob" in page.inner_text(".now")
    assert page.locator(".unsaved").count() == 0
    press(page, "x", "Enter")  # from there it is a change of one's own, and no conflict
    assert [row[1] for row in rows(demo)] == [4.0, 0.0]
    assert browse.complaints == []


def test_reloaded_while_it_is_saved_nothing_is_lost_or_given_twice(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    here = page.url
    page.keyboard.press("f")

    def lose_the_reply(route) -> None:
        if route.request.method == "POST":
            route.fetch(max_redirects=0)
            route.abort()
        else:
            route.continue_()

    page.route(here, lose_the_reply)
    with page.expect_event("requestfailed"):
        page.keyboard.press("Enter")
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]
    page.unroute(here)
    page.goto(here)
    assert "4 of 4 by Bob" in page.inner_text(".now")
    assert typed(page) == ["1"] * 4
    assert page.locator(".unsaved").count() == 0


def test_in_two_tabs_of_one_person_the_second_sees_what_the_first_gave(demo, browse):
    one = browse.open("Bob")
    one.goto(f"{demo.address}/a/demo/q/{ITEM}")
    two = one.context.new_page()
    two.goto(one.url)
    press(one, "f", "Enter")
    press(two, "x", "Enter")
    assert "You were here meanwhile, on another page." in two.inner_text(".conflict")
    assert [row[1] for row in rows(demo)] == [4.0]


def test_after_a_session_has_ended_what_was_typed_is_sent_with_a_new_link(demo, browse, monkeypatch):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    page.keyboard.press("f")
    with monkeypatch.context() as patched:
        patched.setattr("grader.review.people.IDLE_S", -1.0)
        page.keyboard.press("Enter")
        page.locator(".offline").wait_for()
    page.context.new_page().goto(f"{demo.address}/enter?token={demo.tokens['Bob']}")
    press(page, "Enter")
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]


CONTRAST = """() => {
    const canvas = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
    const pixel = (...colors) => {
        canvas.clearRect(0, 0, 1, 1);
        for (const color of colors) { canvas.fillStyle = color; canvas.fillRect(0, 0, 1, 1); }
        return [...canvas.getImageData(0, 0, 1, 1).data].slice(0, 3);
    };
    const light = (rgb) => {
        const [r, g, b] = rgb.map((v) => (v /= 255) <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const faint = [];
    const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
        const element = walker.currentNode.parentElement;
        const text = walker.currentNode.textContent.trim();
        if (!text || !element.checkVisibility() || element.closest(".sr, .skip, svg, script")) continue;
        const layers = [];
        for (let each = element; each; each = each.parentElement)
            layers.unshift(getComputedStyle(each).backgroundColor);
        const back = pixel("white", ...layers), style = getComputedStyle(element);
        const [a, b] = [light(back), light(pixel("white", ...layers, style.color))];
        const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
        if (ratio < 4.5) faint.push([text.slice(0, 30), ratio.toFixed(2), style.color, back.join()]);
    }
    return faint;
}"""


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_all_text_has_a_contrast_of_four_and_a_half(demo, browse, scheme):
    paths = everywhere(demo)
    demo.visitor("Bob").give("q3.warp", first(demo, "q3.warp"), accept=1)
    page = browse.open(color_scheme=scheme)
    for path in [*paths, "/a/demo/s/9999"]:
        page.goto(demo.address + path)
        assert page.evaluate(CONTRAST) == [], path
    page.evaluate(
        "document.querySelector('h1').style.color = getComputedStyle(document.body).backgroundColor"
    )
    assert len(page.evaluate(CONTRAST)) == 1


def test_every_stop_of_the_keyboard_is_seen_and_in_the_order_of_the_page(demo, browse):
    page = browse.open()
    for path in ("/a/demo", f"/a/demo/q/{ITEM}/{first(demo)}", "/a/demo/requests", "/a/demo/publish"):
        page.goto(demo.address + path)
        stops = []
        for _ in range(80):
            page.keyboard.press("Tab")
            stop = page.evaluate(
                """() => {
                    const element = document.activeElement;
                    const place = [...document.querySelectorAll("*")].indexOf(element);
                    const outline = getComputedStyle(element).outlineStyle;
                    return element === document.body ? null : [place, outline];
                }"""
            )
            if stop is None:
                break
            stops.append(stop)
        assert len(stops) > 5
        assert all(outline != "none" for _, outline in stops), path
        assert stops == sorted(stops), path


def test_what_a_moved_gradebook_does_not_take_is_kept_until_it_is_back(demo, browse):
    page = browse.open("Bob")
    page.goto(f"{demo.address}/a/demo/q/{ITEM}")
    away = demo.path.with_name("away.db")
    page.keyboard.press("f")
    demo.path.rename(away)
    press(page, "Enter")
    assert "was moved, deleted or replaced while it was open" in page.inner_text(".problem")
    away.rename(demo.path)
    with page.expect_navigation():
        page.click(".unsaved a")
    assert typed(page) == ["1"] * 4
    press(page, "Enter")
    assert [row[1:3] for row in rows(demo)] == [(4.0, "Bob")]
