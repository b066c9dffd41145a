"""Chromium at work on a report: on a phone, and on paper."""

from __future__ import annotations

import shutil
from dataclasses import replace

import pytest

from grader.model.drawing import ValueTable
from grader.model.observation import Outcome, Quantity
from grader.reports.html import Html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
playwright = pytest.importorskip("playwright.sync_api")
pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="needs Chromium (apt install chromium)")

BROKEN_WORDS = """selector => {
    const broken = [];
    for (const table of document.querySelectorAll(selector)) {
        const texts = document.createTreeWalker(table, NodeFilter.SHOW_TEXT);
        for (let text = texts.nextNode(); text; text = texts.nextNode()) {
            if (text.parentElement.closest(".sr")) continue;
            for (const word of text.data.matchAll(/\\S+/g)) {
                const range = document.createRange();
                range.setStart(text, word.index);
                range.setEnd(text, word.index + word[0].length);
                if (new Set([...range.getClientRects()].map(box => box.top)).size > 1) broken.push(word[0]);
            }
        }
    }
    return broken;
}"""
"""Words of some elements that do not stand on one line."""
CUT_TABLES = """() => [...document.querySelectorAll(".scroll")]
    .filter(box => box.scrollWidth > box.clientWidth).map(box => box.innerText)"""


@pytest.fixture(scope="module")
def chromium():
    with playwright.sync_playwright() as started:
        browser = started.chromium.launch(executable_path=CHROMIUM, args=["--no-sandbox"])
        yield browser
        browser.close()


def opened(chromium, view, width=360):
    page = chromium.new_page(viewport={"width": width, "height": 740})
    page.set_content(Html().render(view))
    return page


SUGGESTED = ValueTable(
    title="Suggested points",
    head=("Criterion", "Finding", "Suggested", "Of"),
    words=frozenset({1}),
    rows=(
        ("collective communication: two functions, 2 points each", "partly met: 1 of 2", "2", "4"),
        ("methods for multiple machines", "not found", "0", "1.5"),
        ("differentiation", "uncertain", "0", "1"),
        ("Together", "", "2", "6.5"),
    ),
)


@pytest.mark.parametrize("width", [360, 1280])
def test_a_table_of_words_fits_and_breaks_none(make, chromium, width):
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5)])
    page = opened(chromium, replace(card.staff, drawings={"a": (SUGGESTED,)}), width)
    assert page.evaluate(CUT_TABLES) == []
    assert page.evaluate(BROKEN_WORDS, "table") == []
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_names_in_a_table_of_numbers_keep_their_words_on_a_phone(make, chromium):
    names = ("cudaMemcpyAsync", "cudaDeviceGetStreamPriorityRange", "GPU 0 to GPU 1")
    table = ValueTable(
        head=("API call", "share", "running sum", "sum of the shares"),
        rows=tuple((name, "27.22%", "27.22%", "27.22%") for name in names),
    )
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5)])
    page = opened(chromium, replace(card.staff, drawings={"a": (table,)}))
    heights = page.evaluate("""() => [...document.querySelectorAll(".seen tbody th")].map(cell =>
        Math.round(cell.clientHeight / parseFloat(getComputedStyle(cell).lineHeight)))""")
    # one line, and two for what is longer than 16 characters, beside the padding
    assert heights[0] == heights[2] < heights[1] <= 3
    assert page.evaluate("document.documentElement.scrollWidth") <= 360


def test_titles_and_names_break_between_the_words_of_an_identifier(make, chromium):
    title = "matmul_transpose_numba_with_shared_memory of src/kernels/matmul_transposed.py is faster"
    case = make.case("matmul_transpose_numba_with_shared_memory_for_small_matrices", note="differs")
    card = make.graded(
        [make.item("a", title)],
        [make.seen("a", 0.0, cases=(case,))],
        student="dlsys_wrong_gradient_of_weights_and_biases",
    )
    page = opened(chromium, card.student())
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    assert page.evaluate(BROKEN_WORDS, "h1, .title, h3") == []
    assert page.locator("h3").inner_text() == title


def printed(page, tmp_path):
    """The sheets of paper of a page."""
    pypdfium2 = pytest.importorskip("pypdfium2")
    path = tmp_path / "report.pdf"
    page.pdf(path=path, prefer_css_page_size=True)
    return pypdfium2.PdfDocument(path)


def texts(document):
    """The text of each sheet without white space, of which PDFium adds and drops some."""
    return ["".join(sheet.get_textpage().get_text_bounded().split()) for sheet in document]


def test_a_case_stays_on_one_sheet_with_its_name_and_its_numbers(make, chromium, tmp_path):
    cases = tuple(
        make.case(
            f"case {n}.",
            note=f"note {n}.",
            called=f"f({n})\n" * (1 + n % 4),
            returned="[0, 1]\n" * (1 + n % 5),
            quantities={f"chip {n}.": Quantity(value=n, unit="")},
        )
        for n in range(18)
    )
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.0, cases=cases)])
    sheets = texts(printed(opened(chromium, card.staff), tmp_path))
    assert len(sheets) > 3
    for n in range(18):
        (sheet,) = [sheet for sheet in sheets if f"case{n}." in sheet]
        assert f"note{n}." in sheet
        assert f"chip{n}." in sheet


def test_a_case_longer_than_a_sheet_is_printed_whole(make, chromium, tmp_path):
    lines = [f"line{n}." for n in range(200)]
    case = make.case(note="differs", returned="\n".join(lines))
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.0, cases=(case,))])
    text = "".join(texts(printed(opened(chromium, card.staff), tmp_path)))
    assert [line for line in lines if line not in text] == []


def test_the_bar_of_the_points_is_on_paper(make, chromium, tmp_path):
    observations = [make.seen("a"), make.seen("b", 0.0), make.seen("c", outcome=Outcome.NOT_OBSERVED)]
    card = make.graded([make.item(name, name, 3.0) for name in "abc"], observations)
    (sheet, *_) = printed(opened(chromium, card.staff), tmp_path)
    colours = dict.fromkeys(("full", "open", "lost"), 0)
    pixels = sheet.render(scale=1).to_pil().convert("RGB").tobytes()
    for red, green, blue in zip(pixels[::3], pixels[1::3], pixels[2::3], strict=True):
        colours["full"] += green > red + 60 and green > blue + 40
        colours["open"] += blue > red + 120 and blue > green + 60
        colours["lost"] += 170 < red == green == blue < 200
    assert min(colours.values()) > 200, colours


COMPILER = "kernels.cu:3:1: error: " + "expected_unqualified_identifier " * 9 + "before_the_end_of_it"


def with_output(make, outcome=Outcome.NOT_BUILT):
    case = make.case(note="does not compile", outcome=outcome, called=COMPILER, returned="", expected="")
    observation = make.seen("a", outcome=outcome, note="x", cases=(case,), output=COMPILER)
    return make.graded([make.item("a", "Title")], [observation]).student()


def test_lines_of_a_compiler_are_scrolled_on_a_phone_also_with_the_keyboard(make, chromium):
    page = opened(chromium, with_output(make))
    assert page.evaluate("document.documentElement.scrollWidth") <= 360
    boxes = page.locator("pre.lines")
    assert boxes.count() == 2
    for box in boxes.all():
        # one line of text between the paddings
        assert box.evaluate("pre => pre.scrollWidth > pre.clientWidth && pre.clientHeight < 60")
        assert box.get_attribute("aria-label") in {"Line", "What was printed"}
        box.evaluate("""pre => {
            pre.scrolled = new Promise(done => pre.addEventListener("scroll", done, {once: true}));
            pre.focus();
        }""")
        page.keyboard.press("ArrowRight")
        assert box.evaluate("pre => pre.scrolled.then(() => pre.scrollLeft)") > 0


def test_lines_of_a_compiler_are_printed_whole(make, chromium, tmp_path):
    text = "".join(texts(printed(opened(chromium, with_output(make)), tmp_path)))
    assert text.count("".join(COMPILER.split())) == 2


def test_what_can_be_scrolled_has_a_name_and_a_place_in_the_order_of_tabs(make, chromium):
    case = make.case(note="differs", returned="[0, 1]\n" * 200)
    card = make.graded([make.item("a", "Title")], [make.seen("a", 0.5, cases=(case,), output=COMPILER)])
    page = opened(chromium, replace(card.staff, drawings={"a": (SUGGESTED,)}))
    boxes = page.evaluate("""() => [...document.querySelectorAll("body *")]
        .filter(box => /auto|scroll/.test(getComputedStyle(box).overflowX))
        .map(box => [box.tabIndex, box.getAttribute("role"), box.getAttribute("aria-label")])""")
    assert sorted(boxes) == [[0, "group", name] for name in ("Suggested points", "What was printed")]


COURSE = "Concurrent and distributed training of deep networks, and what else there is to learn about them"


def test_the_total_stands_beside_the_name_whatever_the_course_is_called(make, chromium):
    card = make.graded([make.item("a", "Title")], [make.seen("a")])
    view = replace(card.staff, course_title=COURSE)
    page = opened(chromium, view, 1280)
    name, total = (page.locator(selector).bounding_box() for selector in ("h1", ".total"))
    assert total["x"] > 640
    assert total["y"] < name["y"] + name["height"]
    assert opened(chromium, view).evaluate("document.documentElement.scrollWidth") <= 360
