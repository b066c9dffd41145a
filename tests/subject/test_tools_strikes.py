"""Text that its writer struck out stays in the document, between signs; other lines leave none."""

from __future__ import annotations

import io
from pathlib import Path

import docx
import nbformat
import pytest

from grader.packing.pdf import assembled, stream
from grader.subject.tools import document as tool

DOCUMENTS = Path(__file__).with_name("documents")


@pytest.fixture
def read(tmp_path):
    def read(content: bytes, name: str) -> list[str]:
        path = tmp_path / name
        path.write_bytes(content)
        return [block["text"] for block in tool.main(str(path))["blocks"]]

    return read


def page(drawing: str, before: str = "") -> bytes:
    """A PDF of one page: a text of 11 points on the base line 700, with a drawing behind or over it."""
    text = "BT /F 11 Tf 40 700 Td (a warp has 16 threads) Tj ET"
    return assembled(
        [
            b"<< /Type /Catalog /Pages 2 0 R >>",
            b"<< /Type /Pages /Count 1 /Kids [4 0 R] >>",
            b"<< /Type /Font /Subtype /Type1 /BaseFont /Courier >>",
            b"<< /Type /Page /Parent 2 0 R /MediaBox [0 0 595 842] /Contents 5 0 R"
            b" /Resources << /Font << /F 3 0 R >> >> >>",
            stream(b"", f"{before}\n{text}\n{drawing}".encode()),
        ]
    )


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("a ~~wrong~~ word", "a ~~wrong~~ word"),
        ("a <del>wrong</del> word", "a ~~wrong~~ word"),
        ("<s>all <b>of it</b></s>", "~~all of it~~"),
        ('<span style="text-decoration: line-through red">all</span>', "~~all~~"),
        ('<span style="text-decoration: underline">all</span>', "all"),
        ("<s>never closed", "~~never closed"),
        ('<s style="display:none">gone</s>rest', "rest"),
        ("</s>closed alone", "closed alone"),
    ],
)
@pytest.mark.parametrize("name", ["a.md", "a.ipynb"])
def test_struck_markdown_and_html_are_marked(read, text, shown, name):
    cells = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(text)])
    content = nbformat.writes(cells) if name.endswith("ipynb") else text
    assert read(content.encode(), name) == [shown]


def test_struck_runs_of_word_are_marked_as_one(read):
    document = docx.Document()
    paragraph = document.add_paragraph("a ")
    for words, strike in (("wrong ", "strike"), ("word", "double_strike"), (" and more", "")):
        run = paragraph.add_run(words)
        if strike:
            setattr(run.font, strike, True)
    style = document.styles.add_style("Withdrawn", 1)
    style.font.strike = True
    document.add_paragraph("all of it", style="Withdrawn")
    document.add_paragraph("but this", style="Withdrawn").runs[0].font.strike = False
    whole = io.BytesIO()
    document.save(whole)
    assert read(whole.getvalue(), "a.docx") == ["a ~~wrong word~~ and more", "~~all of it~~", "but this"]


@pytest.mark.parametrize(
    ("drawing", "shown"),
    [
        ("1 w 38 703.5 m 180 703.5 l S", "~~a warp has 16 threads~~"),
        ("0.7 w 105 703.5 m 119 703.5 l S", "a warp has ~~16~~ threads"),
        ("1 0 0 RG 0.7 w 100 696 m 125 711 l S 100 711 m 125 696 l S", "a warp has ~~16~~ threads"),
        ("0.5 w 38 698.6 m 180 698.6 l S", "a warp has 16 threads"),
        ("0.5 w 30 690 m 300 690 l 300 715 l 30 715 l s 100.2 690 m 100.2 715 l S", "a warp has 16 threads"),
    ],
    ids=["a line", "a word", "a cross", "an underline", "a table"],
)
def test_a_line_across_the_text_of_a_pdf_strikes_it(read, drawing, shown):
    assert read(page(drawing), "a.pdf") == [shown]


def test_what_lies_under_a_text_does_not_strike_it(read):
    assert read(page("", before="1 1 0 rg 30 690 200 25 re f 0 g"), "a.pdf") == ["a warp has 16 threads"]


@pytest.mark.parametrize("name", ["table.pdf", "two_columns.pdf", "plot.pdf", "dark.pdf", "grey.pdf"])
def test_no_text_of_a_usual_page_is_struck(name):
    blocks = tool.main(str(DOCUMENTS / name))["blocks"]
    assert blocks
    assert not [block["text"] for block in blocks if "~~" in block["text"]]
