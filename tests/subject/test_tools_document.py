"""What the tool reads out of documents of each format, what it reports as hidden, and what it refuses."""

from __future__ import annotations

import base64
import io
import json
import os
import subprocess
import sys
import textwrap
import zipfile
from pathlib import Path

import docx
import msgspec
import nbformat.v4 as notebook
import pytest
from docx.oxml import parse_xml
from docx.oxml.ns import nsdecls
from docx.shared import Pt, RGBColor
from PIL import Image

from grader.model.answers import answers_by_question
from grader.model.document import THUMBNAIL_BYTES, Document
from grader.packing.pdf import pdf
from grader.subject.tools import document as tool
from grader.subject.tools import pdf_pages, word
from grader.subject.tools.thumbnails import thumbnail

W14 = "http://schemas.microsoft.com/office/word/2010/wordml"
DOCUMENTS = Path(__file__).with_name("documents")


@pytest.fixture
def read(tmp_path):
    def read(content: bytes | str, name: str) -> Document:
        path = tmp_path / name
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return decoded(path)

    return read


def decoded(path: Path) -> Document:
    return msgspec.convert({**tool.main(str(path)), "path": path.name}, Document)


def texts(document: Document) -> list[str]:
    assert document.problem == ""
    return [block.text for block in document.blocks]


def hidden(document: Document) -> list[tuple[str, str]]:
    return [(text.how, text.begins) for text in document.hidden]


def png(side: int = 40) -> bytes:
    whole = io.BytesIO()
    Image.effect_noise((side, side), 90).save(whole, "PNG")
    return whole.getvalue()


def saved(document) -> bytes:
    whole = io.BytesIO()
    document.save(whole)
    return whole.getvalue()


def element(document, xml: str):
    """Append an element to the body of a Word document."""
    made = parse_xml(xml.replace(" ", f" {nsdecls('w', 'wp', 'a', 'pic', 'r')} ", 1))
    document.element.body.insert(len(document.element.body) - 1, made)
    return made


def paragraph(inside: str) -> str:
    return f"<w:p ><w:r><w:t>before </w:t></w:r>{inside}<w:r><w:t> after</w:t></w:r></w:p>"


class TestMarkdown:
    @pytest.mark.parametrize(
        ("written", "read_as"),
        [
            ("1. 20.", [("1", "20.")]),
            ("1) 20.\n\n2) 7)", [("1", "20."), ("2", "7)")]),
            ("## Question 1\n\n20.", [("", "Question 1"), ("", "20.")]),
            ("1. How many?\n\n20.", [("1", "How many?"), ("", "20.")]),
            ("1. 20. These are *weights*", [("1", "20. These are weights")]),
            (
                "1. 20) weights\n2. 1. first\n   2. second",
                [("1", "20) weights"), ("2", ""), ("1", "first"), ("2", "second")],
            ),
            ("1. 20. weights\n   21. biases", [("1", ""), ("20", "weights"), ("21", "biases")]),
            # entries in their order are numbers of answers, also where nothing stands behind them
            ("1. yes\n2.\n3. no", [("1", "yes"), ("2", ""), ("3", "no")]),
            ("1. yes\n1.\n1. no", [("1", "yes"), ("2", ""), ("3", "no")]),
            ("1. yes\n\n-\n\nno", [("1", "yes"), ("", "no")]),
            ("1. yes\n   -\n\n   no", [("1", "yes"), ("", "no")]),
        ],
    )
    def test_a_number_with_a_full_stop_is_text_where_no_list_has_it(self, read, written, read_as):
        blocks = read(written, "a.md").blocks
        assert [(block.number, block.text) for block in blocks] == read_as

    @pytest.mark.parametrize("numbers", [("1", "2", "3"), ("1", "2.1", "2.2", "3")])
    @pytest.mark.parametrize("between", [" ", "\n   "])
    def test_a_list_with_which_an_answer_begins_is_of_it_or_of_its_parts(self, read, numbers, between):
        written = f"1. one\n2.{between}1. first\n   2. second\n3. three"
        answers = answers_by_question(read(written, "answers.md"), dict.fromkeys(numbers, ""))
        assert [answers[number].text for number in ("1", "3")] == ["one", "three"]
        assert "\n".join(answers[number].text for number in numbers[1:-1]) == "first\nsecond"
        assert all(answer.text for answer in answers.values())
        assert all(answer.certain for answer in answers.values()) or len(numbers) == 3

    @pytest.mark.parametrize(
        ("written", "read_as"),
        [
            ("```\n{}\n```", "{}"),
            ("\n```python\n{}\n```", "{}"),
            ("```\n{}\n```\nas I counted", "{}\nas I counted"),
            ("    {}", "{}"),
            ("| all | {} |\n|---|---|\n| {} | in all |", "all\t{}\n{}\tin all"),
            ("- {}\n- in all", "{}\nin all"),
            ("> - {}", "{}"),
        ],
    )
    def test_the_number_of_an_entry_stands_before_all_that_it_holds(self, read, written, read_as):
        answers = ("20", "7", "64")
        questions = {"1": "How many weights?", "2": "How many biases?", "3": "How large is the batch?"}
        entries = [
            textwrap.indent(written.replace("{}", answer), "   ").replace("  ", f"{number}.", 1)
            for number, answer in zip(questions, answers, strict=True)
        ]
        found = answers_by_question(read("\n".join(entries), "answers.md"), questions)
        assert [answer.text for answer in found.values()] == [read_as.replace("{}", a) for a in answers]
        assert all(answer.certain for answer in found.values())

    @pytest.mark.parametrize(
        ("written", "read_as"),
        [
            ("c*k*k rows, and x**2 + y**2", "c*k*k rows, and x**2 + y**2"),
            ("a *plain* word, **bold**, *a***b** and un*frozen*", "a plain word, bold, ab and unfrozen"),
            ("2*n*m* of **k**2", "2*n*m* of k2"),
        ],
    )
    def test_stars_that_join_words_are_a_formula_and_no_emphasis(self, read, written, read_as):
        assert texts(read(written, "a.md")) == [read_as]

    def test_blocks(self, read):
        found = read(
            "# T\n\nA\nB\n\n3. c\n   - d\n4. e\n\n| q | a |\n|--|--|\n| 1 | x |\n\n```py\n# Q1\n```\n", "a.md"
        )
        assert [(b.kind, b.number, b.level, b.text) for b in found.blocks] == [
            ("heading", "", 1, "T"),
            ("paragraph", "", 0, "A\nB"),
            ("list", "3", 1, "c"),
            ("list", "", 2, "d"),
            ("list", "4", 1, "e"),
            ("table", "", 0, "q\ta"),
            ("table", "", 0, "1\tx"),
            ("code", "", 0, "# Q1"),
        ]

    def test_numbers_are_those_typed_or_counted_where_all_are_alike(self, read):
        assert [b.number for b in read("1. a\n3. b\n7. c\n", "a.md").blocks] == ["1", "3", "7"]
        assert [b.number for b in read("1. a\n1. b\n1. c\n", "a.md").blocks] == ["1", "2", "3"]

    @pytest.mark.parametrize(
        ("text", "how"),
        [
            ("a <!-- secret words --> b", "an HTML comment"),
            ("a\n\n<!-- secret\nwords -->\n\nb", "an HTML comment"),
            ("a <span style='display: none'>secret words</span> b", "HTML that hides it"),
            ("a\n\n<div style='display:none'>\n\nsecret words\n\n</div>\n\nb", "HTML that hides it"),
            ("a <b hidden>secret words</b> b", "HTML that hides it"),
            ("a <font style='COLOR:#FFF'>secret words</font> b", "HTML that hides it"),
            ("a <font color='#fefefe'>secret words</font> b", "HTML that hides it"),
            ("a <i style='color: rgb(250, 255, 250)'>secret words</i> b", "HTML that hides it"),
            ("a <i style='color:Snow'>secret words</i> b", "HTML that hides it"),
            ("a <i style='font-size:0'>secret words</i> b", "HTML that hides it"),
            ("a <i style='visibility:hidden'>secret words</i> b", "HTML that hides it"),
            ("a\n\n<script>\nsecret words\n</script>\n\nb", "an element that shows nothing"),
            ("a b <span hidden/>secret words", "HTML that hides it"),
            ("a b <script/>secret words", "an element that shows nothing"),
            ("a <b popover>secret words</b> b", "HTML that hides it"),
            ("a <meter>secret words</meter> b", "an element that shows nothing"),
            ("a\n\n[//]: # (secret words)\n\nb", "a link that is not shown"),
            ("a \U000e0073\U000e0065\U000e0063\U000e0072\U000e0065\U000e0074 b", "characters without width"),
        ],
    )
    def test_what_is_hidden_is_left_out_and_reported(self, read, text, how):
        found = read(text, "a.md")
        assert "secret" not in "".join(texts(found))
        assert "".join(texts(found)).replace("\n", "").split() in (["a", "b"], ["ab"])
        assert [(h, begins.split()[0]) for h, begins in hidden(found)] == [(how, "secret")]

    def test_characters_without_width_split_no_word(self, read):
        found = read("1\u200b.\u200b a\ufeffllo\u00adcate " + "\u200b" * 20, "a.md")
        assert texts(found) == ["1. allocate"]
        assert hidden(found) == [("24 characters without width", "")]

    def test_letters_in_another_order_are_reported(self, read):
        assert hidden(read("a \u202edesrever\u202c", "a.md")) == [
            ("characters that turn the order of others round", "")
        ]

    @pytest.mark.parametrize("turn", ["\u202d", "\u202e"])
    def test_a_turned_text_is_not_what_a_reader_sees(self, read, turn):
        assert texts(read(f"a {turn}(1, 2)\u202c", "a.md")) == ["a \ufffd(1, 2)"]

    @pytest.mark.parametrize(
        "style",
        [
            "position:absolute; left:-9999px",
            "text-indent: -500em",
            "height:0;overflow:hidden",
            "max-width: 1px",
            "clip-path: inset(100%)",
            "position:absolute;clip:rect(0 0 0 0)",
            "transform: scale(0)",
            "filter:opacity(0%)",
            "font-size: 0.05em",
            "font: 0/0 a",
            "opacity: 0.01",
            "zoom: 0.01",
            "line-height: 0; overflow: hidden",
            "max-height: 3px; overflow: hidden",
            "margin-left: -99em",
            "position: fixed; top: 200vh",
            "transform: rotateY(90deg)",
            "display: n&#111;ne",
            "dis\\play: none",
            "display: /**/ none",
            "color: #0000",
            "color: rgba(0, 0, 0, 0)",
            "color: hsl(0, 0%, 100%)",
            "color: var(--paper, #fff)",
            "background: white; color: white",
            "background: black",
            "-webkit-text-fill-color: transparent",
        ],
    )
    def test_a_style_that_takes_text_out_of_sight_hides_it(self, read, style):
        found = read(f'seen <span style="{style}">secret</span>', "a.md")
        assert texts(found) == ["seen"]
        assert hidden(found) == [("HTML that hides it", "secret")]

    @pytest.mark.parametrize(
        "style",
        [
            "margin-left: -2px",
            "line-height: 1",
            "width: 100%",
            "border-width:0",
            "transform: scale(0.9)",
            "font-size: 0.8em; height: 12px",
            "max-height: none",
            "text-align: right; padding: 0 2px; border: 1px solid #ccc",
            "background-color: #f0f0f0; color: rgb(10, 20, 30)",
            "color: red !important",
            "border-radius: 0.3em; box-shadow: 0 2px 4px 0 rgba(34, 36, 38, .12)",
            "display: inline-block; color: #999; border-bottom: 1px solid #d9d9d9; padding: 2px;",
        ],
    )
    def test_other_styles_hide_nothing(self, read, style):
        assert texts(read(f'seen <span style="{style}">too</span>', "a.md")) == ["seen too"]

    @pytest.mark.parametrize(
        "style",
        ["color:#c00", "color:#333", "background:#000;color:#fff", "background-color:#fff", "font-size:12px"],
    )
    def test_other_styles_are_visible(self, read, style):
        assert texts(read(f"<b style='{style}'>shown</b>", "a.md")) == ["shown"]

    @pytest.mark.parametrize(
        ("html", "words"),
        [
            ("<p style='background:#000;color:#fff'>seen</p>", 1),
            ("<p style='background:#000;color:#fff'><b style='color:#000'>secret</b></p>", 0),
            ("<p style='color:#fff;background:#000'><b style='background:#fff'>secret</b></p>", 0),
            ("<p style='color:#fff;background:#000'><b style='color:inherit'>seen</b></p>", 1),
            ("<table bgcolor=black><tr><td>secret</td></tr></table>", 0),
            (f"<p>{'<b style=font-size:0.6em>' * 2}secret</p>", 0),
            (f"<p>{'<small>' * 3}seen</p>", 1),
            (f"<p>{'<small>' * 6}secret</p>", 0),
            ("<p style='transform:scale(.6)'><b style='transform:scale(.6)'>secret</b></p>", 0),
            ("<p style='font-size:80%'>seen</p>", 1),
            ("<p style='font-size:1e-3px'>secret</p>", 0),
            ("<p style='margin-left:-1e5px'>secret</p>", 0),
            ("<p style='margin-left:-9in'>secret</p>", 0),
            ("<p style='margin-left:9999px'>secret</p>", 0),
            ("<p style='display:table-column'>secret</p>", 0),
            ("<p style='max-height:20px;overflow:hidden'>secret</p>", 0),
            ("<font color=red>seen</font>", 1),
            ("<p style='color:white' style='color:black'>secret</p>", 0),
            ("<body text=white>secret</body>", 0),
            ("<svg width=0 height=0><text>secret</text></svg>", 0),
            ("<math><mphantom>secret</mphantom></math>", 0),
            ("<p style='font-family:Wingdings'>secret</p>", 0),
            ("<p bgcolor=lightgray>seen</p>", 1),
            (f"{'<b>' * 150}seen", 1),
            (f"{'<b>' * 250}<b style='display:none'>secret", 0),
            (f"<p style='color:{'red ' * 9999}'>secret</p>", 0),
            ("<p style='color:#fff;color:black junk'>secret</p>", 0),
        ],
    )
    def test_a_style_adds_to_those_around_it(self, read, html, words):
        assert "".join(texts(read(f"a\n\n<div>{html}</div>\n", "a.md"))) == "a" + "seen" * words

    @pytest.mark.parametrize(
        ("style", "pictures"),
        [("zoom: 50%", 1), ("box-shadow: 0 2px 4px 0 rgba(34, 36, 38, .12)", 1), ("opacity: 0", 0)],
    )
    def test_a_picture_that_is_small_or_has_a_shadow_is_shown(self, read, style, pictures):
        found = read(f"a <img style='{style}' src='p.png'>", "a.md")
        assert len(found.pictures) == pictures

    @pytest.mark.parametrize(
        "sheet", ["<style>p{display:none}</style>", '<link rel="stylesheet" href="data:text/css,p%7B%7D">']
    )
    def test_a_style_sheet_is_not_read_and_said(self, read, sheet):
        found = read(f"{sheet}\n\nwords\n", "a.md")
        assert "style sheet" in found.incomplete
        assert texts(found)[-1] == "words"

    def test_details_can_be_opened_and_are_visible(self, read):
        assert "inside" in "".join(texts(read("<details><summary>s</summary>inside</details>", "a.md")))

    def test_pictures_of_its_own_folder(self, read, tmp_path):
        (tmp_path / "p.png").write_bytes(png())
        embedded = base64.b64encode(png(30)).decode()
        found = read(f"a\n\n![](p.png)\n\nb <img src='data:image/png;base64,{embedded}'>\n", "a.md")
        assert [(p.width, p.after, bool(p.thumbnail)) for p in found.pictures] == [
            (40, 1, True),
            (30, 2, True),
        ]

    @pytest.mark.parametrize(
        "address",
        ["http://127.0.0.1:9/p.png", "file:///etc/hostname", "/etc/hostname", "../out.png", "link.png",
         "%2e%2e/out.png",
         "deep/../../out.png", "folder", "missing.png", "a%00b"],
    )  # fmt: skip
    def test_no_other_picture_is_fetched(self, read, tmp_path, address):
        (tmp_path.parent / "out.png").write_bytes(png())
        (tmp_path / "folder").mkdir()
        (tmp_path / "deep").mkdir()
        (tmp_path / "link.png").symlink_to(tmp_path.parent / "out.png")
        found = read(f"a ![x]({address})", "a.md")
        assert all((p.width, p.thumbnail) == (0, "") for p in found.pictures)


class TestText:
    def test_paragraphs_and_pages(self, read):
        found = read("1. a\nb\n\n2. c\f3. d", "a.txt")
        assert [(b.text, b.page) for b in found.blocks] == [("1. a\nb", 1), ("2. c", 1), ("3. d", 2)]
        assert found.pages == 2

    @pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig", "utf-16", "cp1252"])
    def test_encodings(self, read, encoding):
        assert texts(read("caf\xe9 \u20ac".encode(encoding), "a.txt")) == ["caf\xe9 \u20ac"]

    def test_bytes_that_are_no_text(self, read):
        assert texts(read(b"\xc3\xa9\xc3\xa9\xc3\xa9 \xff x", "a.txt")) == ["\xe9\xe9\xe9 \ufffd x"]
        assert texts(read(b"1. a \x07\x1b[31m b", "a.txt")) == ["1. a [31m b"]


class TestNotebook:
    def made(self, *cells) -> str:
        return json.dumps(notebook.new_notebook(cells=list(cells)))

    def test_cells_and_outputs(self, read):
        picture = base64.b64encode(png()).decode()
        outputs = [
            notebook.new_output("stream", text="printed\n"),
            notebook.new_output("execute_result", {"text/plain": "3"}),
            notebook.new_output("display_data", {"image/png": picture, "text/plain": "<Figure>"}),
            notebook.new_output("display_data", {"text/html": "<b>bold</b><!-- secret -->"}),
            notebook.new_output("error", ename="E", evalue="v", traceback=["\x1b[31mE: v\x1b[0m"]),
        ]
        found = read(
            self.made(
                notebook.new_markdown_cell("## Question 1\n\nAn answer."),
                notebook.new_code_cell("# Q2\nx", outputs=outputs),
                notebook.new_raw_cell("raw"),
            ),
            "a.ipynb",
        )
        assert [(b.kind, b.text) for b in found.blocks] == [
            ("heading", "Question 1"),
            ("paragraph", "An answer."),
            ("code", "# Q2\nx"),
            ("output", "printed"),
            ("output", "3"),
            ("output", "bold"),
            ("output", "E: v"),
            ("paragraph", "raw"),
        ]
        assert [(p.width, p.after) for p in found.pictures] == [(40, 5)]
        assert hidden(found) == [("an HTML comment", "secret")]

    @pytest.mark.parametrize(
        "metadata",
        [
            {"jupyter": {"source_hidden": True}},
            {"tags": ["hide-input"]},
            {"tags": ["remove-cell"]},
            {"hide_input": True},
        ],
    )
    @pytest.mark.parametrize("make", [notebook.new_code_cell, notebook.new_markdown_cell])
    def test_hidden_cells(self, read, metadata, make):
        found = read(self.made(make("secret words", metadata=metadata)), "a.ipynb")
        assert (texts(found), hidden(found)) == ([], [("a hidden cell", "secret words")])

    def test_hidden_outputs(self, read):
        outputs = [notebook.new_output("stream", text="secret")]
        cell = notebook.new_code_cell("x", outputs=outputs, metadata={"jupyter": {"outputs_hidden": True}})
        found = read(self.made(cell), "a.ipynb")
        assert (texts(found), hidden(found)) == (["x"], [("a hidden output", "secret")])

    def test_a_picture_attached_to_a_cell(self, read):
        attached = {"p.png": {"image/png": base64.b64encode(png()).decode()}}
        cell = notebook.new_markdown_cell("![x](attachment:p.png)", attachments=attached)
        assert [p.width for p in read(self.made(cell), "a.ipynb").pictures] == [40]

    def test_an_old_notebook(self, read):
        cells = [{"cell_type": "markdown", "source": ["1. a\n", "b"], "metadata": {}}]
        old = {
            "nbformat": 3,
            "nbformat_minor": 0,
            "metadata": {},
            "worksheets": [{"cells": cells, "metadata": {}}],
        }
        assert texts(read(json.dumps(old), "a.ipynb")) == ["a\nb"]


class TestWord:
    def test_blocks(self, read):
        made = docx.Document()
        made.add_heading("T", 0)
        made.add_heading("S", 2)
        for text in ("a", "b"):
            made.add_paragraph(text, style="List Number")
        made.add_paragraph("c", style="List Bullet")
        table = made.add_table(1, 2)
        table.cell(0, 0).text, table.cell(0, 1).text = "1", "x\ny"
        made.add_picture(io.BytesIO(png()))
        made.add_paragraph("end")
        found = read(saved(made), "a.docx")
        assert [(b.kind, b.number, b.level, b.text) for b in found.blocks] == [
            ("heading", "", 1, "T"),
            ("heading", "", 2, "S"),
            ("list", "1", 1, "a"),
            ("list", "2", 1, "b"),
            ("list", "", 1, "c"),
            ("table", "", 0, "1\tx\ny"),
            ("paragraph", "", 0, "end"),
        ]
        assert [(p.width, p.height, p.after, bool(p.thumbnail)) for p in found.pictures] == [
            (40, 40, 6, True)
        ]

    @pytest.mark.parametrize(
        ("form", "expected"),
        [
            ("decimal", ["1", "2", "2.1", "2.2", "3"]),
            ("lowerLetter", ["a", "b", "b.1", "b.2", "c"]),
            ("upperRoman", ["1", "2", "2.1", "2.2", "3"]),
        ],
    )
    def test_numbers_of_lists_over_several_levels(self, read, form, expected):
        made = docx.Document()
        numbering = made.part.numbering_part.element
        levels = "".join(
            f'<w:lvl w:ilvl="{depth}"><w:start w:val="1"/><w:numFmt w:val="{kind}"/>'
            f'<w:lvlText w:val="({text})"/></w:lvl>'
            for depth, kind, text in ((0, form, "%1"), (1, "decimal", "%1.%2"))
        )
        numbering.insert(
            0, parse_xml(f'<w:abstractNum {nsdecls("w")} w:abstractNumId="77">{levels}</w:abstractNum>')
        )
        number = f'<w:num {nsdecls("w")} w:numId="77"><w:abstractNumId w:val="77"/></w:num>'
        numbering.append(parse_xml(number))
        for depth in (0, 0, 1, 1, 0):
            properties = f'<w:pPr><w:numPr><w:ilvl w:val="{depth}"/><w:numId w:val="77"/></w:numPr></w:pPr>'
            element(made, f"<w:p >{properties}<w:r><w:t>x</w:t></w:r></w:p>")
        assert [b.number for b in read(saved(made), "a.docx").blocks] == expected

    def test_a_list_that_is_restarted(self, read):
        made = docx.Document()
        numbering = made.part.numbering_part.element
        abstract = numbering[0].get(docx.oxml.ns.qn("w:abstractNumId"))
        for number, override in (
            ("91", ""),
            ("92", '<w:lvlOverride w:ilvl="0"><w:startOverride w:val="5"/></w:lvlOverride>'),
        ):
            numbering.append(
                parse_xml(
                    f'<w:num {nsdecls("w")} w:numId="{number}">'
                    f'<w:abstractNumId w:val="{abstract}"/>{override}</w:num>'
                )
            )
        for number in ("91", "91", "92", "92"):
            properties = f'<w:pPr><w:numPr><w:ilvl w:val="0"/><w:numId w:val="{number}"/></w:numPr></w:pPr>'
            element(made, f"<w:p >{properties}<w:r><w:t>x</w:t></w:r></w:p>")
        assert [b.number for b in read(saved(made), "a.docx").blocks][2:] == ["5", "6"]

    @pytest.mark.parametrize(
        ("properties", "how"),
        [
            ("<w:vanish/>", "hidden text"),
            ('<w:color w:val="FFFFFF"/>', "text in the colour of the paper"),
            ('<w:color w:val="FAFAF0"/>', "text in the colour of the paper"),
            ('<w:color w:themeColor="background1"/>', "text in the colour of the paper"),
            ('<w:color w:val="000000"/><w:highlight w:val="black"/>', "text in the colour of the paper"),
            (
                '<w:color w:val="202020"/><w:shd w:val="clear" w:fill="000000"/>',
                "text in the colour of the paper",
            ),
            ('<w:sz w:val="2"/>', "text of 1 points"),
            ('<w:w w:val="1"/>', "text that is squeezed to lines"),
            ('<w:rFonts w:ascii="Wingdings" w:hAnsi="Wingdings"/>', "text in a font of symbols"),
            ('<w:spacing w:val="-400"/>', "letters on each other"),
            ('<w:position w:val="-3000"/>', "text beside its line"),
            ('<w:fitText w:val="1"/>', "text with a property that is not read (fitText)"),
            (
                f'<w14:textFill xmlns:w14="{W14}"><w14:noFill/></w14:textFill>',
                "text with a property that is not read (textFill)",
            ),
            (
                f'<w14:textFill xmlns:w14="{W14}"><w14:solidFill><w14:srgbClr w14:val="FFFFFF"/>'
                "</w14:solidFill></w14:textFill>",
                "text with a property that is not read (textFill)",
            ),
            (
                '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="000000"/>'
                f'<w14:textFill xmlns:w14="{W14}"><w14:solidFill><w14:srgbClr w14:val="000000"/>'
                "</w14:solidFill></w14:textFill>",
                "text in the colour of the paper",
            ),
            ('<w:rtl/><w:szCs w:val="2"/>', "text of 1 points"),
            (
                '<w:color w:val="000000"/><w:shd w:val="solid" w:color="000000" w:fill="FFFFFF"/>',
                "text in the colour of the paper",
            ),
        ],
    )
    def test_hidden_runs(self, read, properties, how):
        made = docx.Document()
        element(made, paragraph(f"<w:r><w:rPr>{properties}</w:rPr><w:t>secret words</w:t></w:r>"))
        found = read(saved(made), "a.docx")
        assert texts(found) == ["before after"]
        assert hidden(found) == [(how, "secret words")]

    @pytest.mark.parametrize(
        "properties",
        ['<w:vanish w:val="0"/>', '<w:color w:val="auto"/>', '<w:color w:val="808080"/>',
         '<w:sz w:val="16"/>',
         '<w:color w:val="FFFFFF"/><w:shd w:val="clear" w:fill="1F3864"/>',
         '<w:color w:val="FFFFFF"/><w:highlight w:val="black"/>',
         '<w:color w:val="C00000"/><w:highlight w:val="yellow"/>',
         '<w:rFonts w:ascii="Calibri"/><w:b/><w:spacing w:val="-10"/><w:position w:val="6"/>',
         '<w:shd w:val="clear" w:color="auto" w:fill="FFFFFF"/><w:kern w:val="2"/><w:noProof/>',
         '<w:rtl/><w:szCs w:val="24"/><w:rFonts w:ascii="Segoe UI Symbol"/>',
         f'<w14:textFill xmlns:w14="{W14}"><w14:solidFill><w14:srgbClr w14:val="1F3864"/></w14:solidFill>'
         "</w14:textFill>"],
    )  # fmt: skip
    def test_visible_runs(self, read, properties):
        made = docx.Document()
        element(made, paragraph(f"<w:r><w:rPr>{properties}</w:rPr><w:t>shown</w:t></w:r>"))
        found = read(saved(made), "a.docx")
        assert (texts(found), hidden(found)) == (["before shown after"], [])

    def test_what_hides_may_stand_in_a_style(self, read):
        made = docx.Document()
        style = made.styles.add_style("Quiet", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        style.font.hidden = True
        derived = made.styles.add_style("Quieter", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        derived.base_style = style
        made.styles.add_style("White", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH).font.color.rgb = RGBColor(
            255, 255, 255
        )
        made.add_paragraph("shown").add_run(" secret", style="Quieter")
        made.add_paragraph("white words", style="White")
        found = read(saved(made), "a.docx")
        assert texts(found) == ["shown"]
        assert hidden(found) == [
            ("hidden text", "secret"),
            ("text in the colour of the paper", "white words"),
        ]

    @pytest.mark.parametrize(
        ("inside", "how"),
        [
            (
                '<w:del w:id="1" w:author="a"><w:r><w:delText>secret words</w:delText></w:r></w:del>',
                "deleted text",
            ),
            (
                '<w:moveFrom w:id="1" w:author="a"><w:r><w:t>secret words</w:t></w:r></w:moveFrom>',
                "deleted text",
            ),
        ],
    )
    def test_deleted_text(self, read, inside, how):
        made = docx.Document()
        element(made, paragraph(inside))
        found = read(saved(made), "a.docx")
        assert texts(found) == ["before after"]
        assert hidden(found) == [(how, "secret words")]

    @pytest.mark.parametrize(
        "inside",
        [
            '<w:ins w:id="1" w:author="a"><w:r><w:t>shown</w:t></w:r></w:ins>',
            '<w:hyperlink w:anchor="x"><w:r><w:t>shown</w:t></w:r></w:hyperlink>',
            "<w:sdt><w:sdtContent><w:r><w:t>shown</w:t></w:r></w:sdtContent></w:sdt>",
            '<w:fldSimple w:instr="PAGE"><w:r><w:t>shown</w:t></w:r></w:fldSimple>',
            "<w:smartTag><w:r><w:t>shown</w:t></w:r></w:smartTag>",
        ],
    )
    def test_what_stands_in_other_elements(self, read, inside):
        made = docx.Document()
        element(made, paragraph(inside))
        assert texts(read(saved(made), "a.docx")) == ["before shown after"]

    def test_a_style_of_characters_shows_nothing_that_the_style_of_the_paragraph_hides(self, read):
        made = docx.Document()
        off = made.styles.add_style("Off", docx.enum.style.WD_STYLE_TYPE.CHARACTER)
        off.font.hidden = False
        made.styles.add_style("Quiet", docx.enum.style.WD_STYLE_TYPE.PARAGRAPH).font.hidden = True
        made.add_paragraph("", style="Quiet").add_run("secret", style="Off")
        assert hidden(read(saved(made), "a.docx")) == [("hidden text", "secret")]

    @pytest.mark.parametrize("place", ["font", "part"])
    @pytest.mark.parametrize(
        ("properties", "how"),
        [
            ("<w:vanish/>", "hidden text"),
            ('<w:sz w:val="2"/>', "text of 1 points"),
            ("<w:strike/>", "text that the style of its table strikes out"),
            ("<w:b/>", ""),
        ],
    )
    def test_the_style_of_a_table_may_hide_text(self, read, properties, how, place):
        made = docx.Document()
        style = made.styles.add_style("Grid", docx.enum.style.WD_STYLE_TYPE.TABLE)
        inside = f"<w:rPr {nsdecls('w')}>{properties}</w:rPr>"
        if place == "part":
            inside = f'<w:tblStylePr {nsdecls("w")} w:type="wholeTable">{inside}</w:tblStylePr>'
        style.element.append(parse_xml(inside))
        made.add_table(1, 2, style="Grid").cell(0, 0).text = "words"
        assert hidden(read(saved(made), "a.docx")) == ([(how, "words")] if how else [])

    def test_the_code_of_a_field_is_hidden_and_its_result_is_not(self, read):
        begin, separate, end = (
            f'<w:r><w:fldChar w:fldCharType="{kind}"/></w:r>' for kind in ("begin", "separate", "end")
        )
        code, result = (f"<w:r><w:t>{text}</w:t></w:r>" for text in ("secret words", "shown"))
        made = docx.Document()
        element(made, paragraph(begin + code + separate + result + end))
        found = read(saved(made), "a.docx")
        assert texts(found) == ["before shown after"]
        assert hidden(found) == [("a field's code", "secret words")]

    @pytest.mark.parametrize(("place", "is_hidden"), [(-30000, True), (30000, True), (720, False)])
    def test_a_frame_outside_of_the_page_is_hidden(self, read, place, is_hidden):
        made = docx.Document()
        words = made.add_paragraph("words in a frame")
        words._p.get_or_add_pPr().append(parse_xml(f'<w:framePr {nsdecls("w")} w:x="{place}" w:y="0"/>'))
        assert bool(hidden(read(saved(made), "a.docx"))) is is_hidden

    def test_comments_and_long_headers_are_reported(self, read):
        made = docx.Document()
        made.add_comment(made.add_paragraph("shown").runs, text="secret words", author="a")
        made.sections[0].header.paragraphs[0].text = "secret " * 40
        made.sections[0].footer.paragraphs[0].text = "A name, page 1"
        found = read(saved(made), "a.docx")
        assert texts(found) == ["shown"]
        assert [how for how, _ in hidden(found)] == ["a comment", "a header"]

    def test_a_text_box_is_read(self, read):
        made = docx.Document()
        box = "<w:txbxContent><w:p><w:r><w:t>in the box</w:t></w:r></w:p></w:txbxContent>"
        element(made, paragraph(f"<w:r><w:pict><w:shape>{box}</w:shape></w:pict></w:r>"))
        assert texts(read(saved(made), "a.docx")) == ["before after", "in the box"]

    def test_a_box_or_row_without_height_is_hidden(self, read):
        made = docx.Document()
        inside = "<w:txbxContent><w:p><w:r><w:t>secret</w:t></w:r></w:p></w:txbxContent>"
        box = f'<wp:inline><wp:extent cx="100" cy="100"/>{inside}</wp:inline>'
        element(made, paragraph(f"<w:r><w:drawing>{box}</w:drawing></w:r>"))
        cells = "<w:tc><w:p><w:r><w:t>hush</w:t></w:r></w:p></w:tc>" * 2
        element(
            made,
            f'<w:tbl ><w:tr><w:trPr><w:trHeight w:val="1" w:hRule="exact"/></w:trPr>{cells}</w:tr></w:tbl>',
        )
        found = read(saved(made), "a.docx")
        assert texts(found) == ["before after"]
        assert [how for how, _ in hidden(found)] == [
            "a text box without height or width",
            "a row without height",
        ]

    def test_white_text_on_dark_cells_is_visible(self, read):
        made = docx.Document()
        table = made.add_table(1, 2)
        for cell, fill in zip(table.rows[0].cells, ("1F3864", "FFFFFF"), strict=True):
            cell._tc.get_or_add_tcPr().append(
                parse_xml(f'<w:shd {nsdecls("w")} w:val="clear" w:fill="{fill}"/>')
            )
            cell.paragraphs[0].add_run("words").font.color.rgb = RGBColor(255, 255, 255)
        found = read(saved(made), "a.docx")
        assert texts(found) == ["words"]
        assert hidden(found) == [("text in the colour of the paper", "words")]

    def test_a_formula(self, read):
        made = docx.Document()
        made.add_paragraph("x")
        math = "http://schemas.openxmlformats.org/officeDocument/2006/math"
        made.paragraphs[0]._p.append(
            parse_xml(
                f'<m:oMath xmlns:m="{math}"><m:f><m:num><m:r><m:t>a</m:t></m:r></m:num>'
                "<m:den><m:r><m:t>b</m:t></m:r></m:den></m:f></m:oMath>"
            )
        )
        assert texts(read(saved(made), "a.docx")) == ["x(a)/(b)"]

    def test_a_linked_picture_is_not_fetched(self, read):
        made = docx.Document()
        relation = made.part.rels.get_or_add_ext_rel(
            docx.opc.constants.RELATIONSHIP_TYPE.IMAGE, "http://127.0.0.1:9/p.png"
        )
        element(
            made,
            paragraph(
                '<w:r><w:drawing><wp:inline><wp:extent cx="952500" cy="952500"/>'
                f'<a:blip r:link="{relation}" r:embed="{relation}"/></wp:inline></w:drawing></w:r>'
            ),
        )
        found = read(saved(made), "a.docx")
        assert [(p.width, p.thumbnail) for p in found.pictures] == [(100, "")]

    def test_pages_are_those_that_word_counted(self, read):
        made = docx.Document()
        made.add_paragraph("a")
        element(made, "<w:p ><w:r><w:lastRenderedPageBreak/><w:t>b</w:t></w:r></w:p>")
        found = read(saved(made), "a.docx")
        assert [(b.text, b.page) for b in found.blocks] == [("a", 1), ("b", 2)]

    def test_a_run_of_one_point(self, read):
        made = docx.Document()
        made.add_paragraph("shown").add_run(" secret").font.size = Pt(1)
        assert texts(read(saved(made), "a.docx")) == ["shown"]


class TestPdf:
    def test_lines_pictures_and_pages(self, read):
        found = read(pdf("1. a b c\n2. d e f\n[picture]\n3. g h i" + "\n" * 60 + "4. j k l"), "a.pdf")
        assert [(b.text, b.page) for b in found.blocks] == [
            ("1. a b c", 1),
            ("2. d e f", 1),
            ("3. g h i", 1),
            ("4. j k l", 2),
        ]
        assert [(p.after, bool(p.thumbnail)) for p in found.pictures] == [(2, True)]
        assert (found.pages, found.scanned, found.drawn) == (2, (), ())

    def test_text_without_ink_is_hidden(self, read):
        shown = pdf("The first line of the page is seen.\nsecret words follow here and there")
        found = read(shown.replace(b"BT /F 9", b"BT 3 Tr /F 9").replace(b"BT 3 Tr", b"BT", 1), "a.pdf")
        assert texts(found) == ["The first line of the page is seen."]
        assert hidden(found) == [("text without ink on the page", "secret words follow here and there")]

    def test_a_page_that_is_a_picture_is_a_scan(self, read):
        found = read(pdf("[picture]"), "a.pdf")
        assert (found.blocks, found.scanned, len(found.pictures)) == ((), (1,), 1)
        assert found.pictures[0].thumbnail

    def test_what_is_drawn_beside_the_text_is_said(self):
        assert decoded(DOCUMENTS / "table.pdf").drawn == (1,)

    def test_only_the_first_pages_are_read(self, read, monkeypatch):
        monkeypatch.setattr(pdf_pages, "PAGES_READ", 1)
        found = read(pdf("a b c\n" * 70), "a.pdf")
        assert found.incomplete == "only the first 1 of its 2 pages are read"

    @pytest.mark.parametrize("name", sorted(path.name for path in DOCUMENTS.glob("*.pdf")))
    def test_the_stored_ones_are_read(self, name):
        found = decoded(DOCUMENTS / name)
        assert bool(found.problem) is (name == "password.pdf")


def test_thumbnails_are_small_png():
    found = thumbnail(noise())
    assert len(found) <= THUMBNAIL_BYTES
    with Image.open(io.BytesIO(found)) as picture:
        assert picture.format == "PNG"
        picture.load()


def noise():
    import numpy as np

    return np.random.default_rng(1).integers(0, 256, (3000, 2000))


def archive(**members: bytes) -> bytes:
    whole = io.BytesIO()
    with zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as made:
        for name, content in members.items():
            made.writestr(name.replace("__", "/").replace("_dot_", "."), content)
    return whole.getvalue()


def changed(member: str, content: bytes) -> bytes:
    """A Word document with other bytes for one of its parts."""
    whole = io.BytesIO()
    with (
        zipfile.ZipFile(io.BytesIO(saved(docx.Document()))) as source,
        zipfile.ZipFile(whole, "w", zipfile.ZIP_DEFLATED) as target,
    ):
        for name in source.namelist():
            target.writestr(name, content if name == member else source.read(name))
    return whole.getvalue()


ENTITIES = "<!DOCTYPE x [<!ENTITY a0 'lol'>" + "".join(
    f"<!ENTITY a{n} '{f'&a{n - 1};' * 10}'>" for n in range(1, 10)
)
W_NS = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"'
OLD_WORD = b"\xd0\xcf\x11\xe0" + b"\0" * 600
AS_NAMED = "hand in a Word document (.docx)"
REFUSED = {
    "nothing.pdf": (b"", "is empty"),
    "text.pdf": (b"1. a", "is no PDF, but text; hand in a PDF"),
    "word.pdf": (lambda: saved(docx.Document()), "is no PDF, but a Word file or another zip"),
    "text.docx": (b"1. a", "is no Word document (.docx), but text"),
    "old.docx": (OLD_WORD, f"is no Word document (.docx), but an old or an encrypted Word file; {AS_NAMED}"),
    "old.doc": (OLD_WORD, "is an old or an encrypted Word file; hand in a PDF, a .docx"),
    "rich.txt": (b"{\\rtf1 a}", "is an RTF file"),
    "photo.md": (png, "is a picture; hand in a text file (.md)"),
    "packed.txt": (b"\x1f\x8b\x08\0", "is a compressed file"),
    "data.txt": (b"a\0b", "is data"),
    "late_data.txt": (b"a" * 5000 + b"\0", "is no text, but other data"),
    "zip.docx": (lambda: archive(a=b"b"), "is a zip archive and no Word document"),
    "nested.docx": (lambda: archive(a_dot_zip=archive(a=b"b" * 10**6)), "is a zip archive and no Word"),
    "open.docx": (lambda: archive(mimetype=b"application/vnd.oasis.opendocument"), "is an OpenDocument file"),
    "cut.docx": (lambda: saved(docx.Document())[:9000], "is a damaged Word document"),
    "entities.docx": (
        lambda: changed(
            "word/document.xml", f"{ENTITIES}]><w:document {W_NS}><w:body>&a9;</w:body></w:document>".encode()
        ),
        "",
    ),
    "external.docx": (
        lambda: changed(
            "word/document.xml",
            f"<!DOCTYPE x [<!ENTITY a SYSTEM 'file:///etc/passwd'>]><w:document {W_NS}><w:body><w:p><w:r>"
            "<w:t>&a;</w:t></w:r></w:p></w:body></w:document>".encode(),
        ),
        "",
    ),
    "deep.docx": (
        lambda: changed("word/document.xml", (f"<w:document {W_NS}><w:body>" + "<w:ins>" * 100_000).encode()),
        "is a damaged Word document",
    ),
    "macro.docx": (
        lambda: changed(
            "[Content_Types].xml",
            zipfile.ZipFile(io.BytesIO(saved(docx.Document()))).read("[Content_Types].xml").replace(
                b"wordprocessingml.document.main", b"wordprocessingml.macroEnabled.main"
            ),
        ),
        "is a damaged Word document, or of another kind",
    ),
    "text.ipynb": (b"1. a", "is no notebook that can be opened"),
    "json.ipynb": (b"[1]", "is no notebook that can be opened"),
    "cells.ipynb": (b'{"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": 3}', "is no notebook"),
    "deep.ipynb": (b"[" * 200_000, "is no notebook that can be opened"),
    "broken.pdf": (b"%PDF-1.7\n" + b"x" * 2000, "is damaged, and cannot be opened"),
}  # fmt: skip


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_no_document_ends_in_one_sentence(read, name):
    content, sentence = REFUSED[name]
    found = read(content() if callable(content) else content, name)
    assert found.problem.startswith(sentence)
    assert not (sentence and found.blocks)
    assert "\n" not in found.problem
    assert "root:" not in "".join(block.text for block in found.blocks)
    assert sum(len(block.text) for block in found.blocks) < 1000


def test_links_folders_and_pipes_are_no_documents(tmp_path):
    (tmp_path / "own.txt").write_text("1. a")
    (tmp_path / "link.txt").symlink_to(tmp_path / "own.txt")
    (tmp_path / "folder.txt").mkdir()
    os.mkfifo(tmp_path / "pipe.txt")
    for name in ("link.txt", "folder.txt", "pipe.txt", "missing.txt"):
        assert decoded(tmp_path / name).problem.startswith("is no file"), name


def test_a_package_that_is_missing_is_no_fault_of_the_file(tmp_path, monkeypatch):
    path = tmp_path / "a.docx"
    path.write_bytes(saved(docx.Document()))
    monkeypatch.setitem(sys.modules, "docx", None)
    assert tool.main(str(path)) == {"package": "python-docx"}


def test_an_archive_that_unpacks_to_too_much_is_not_unpacked(read, monkeypatch):
    monkeypatch.setattr(word, "UNPACKED_BYTES", 2**20)
    found = read(changed("word/document.xml", b"<a>" + b" " * 2**20 + b"</a>"), "a.docx")
    assert found.problem == "unpacks to more than 1 MiB; make its pictures smaller"


def test_an_archive_of_many_members_is_not_read(read, monkeypatch):
    monkeypatch.setattr(word, "MEMBERS", 5)
    assert read(saved(docx.Document()), "a.docx").problem.startswith("unpacks to more than")


def many_words() -> bytes:
    """The main part of a Word document with 100,000 paragraphs."""
    paragraphs = "<w:p><w:r><w:t>words</w:t></w:r></w:p>" * 100_000
    return f"<w:document {W_NS}><w:body>{paragraphs}</w:body></w:document>".encode()


LONG = {
    "words.txt": lambda: b"word " * 20_000_000,
    "lines.txt": lambda: b"1.\n" * 200_000,
    "words.md": lambda: b"word " * 1_000_000,
    "headings.md": lambda: b"# a\n" * 200_000,
    "lists.md": lambda: b"1. a\n1) b\n" * 100_000,
    "words.ipynb": lambda: json.dumps(
        notebook.new_notebook(cells=[notebook.new_markdown_cell("word " * 500_000)])
    ).encode(),
    "words.docx": lambda: changed("word/document.xml", many_words()),
}
SCRIPT = """
import json, resource, sys
resource.setrlimit(resource.RLIMIT_AS, (2**31, 2**31))
resource.setrlimit(resource.RLIMIT_CPU, (25, 25))
from grader.subject.tools import document
sys.stdout.write(json.dumps(document.main(sys.argv[1])))
"""


@pytest.mark.parametrize("name", LONG)
def test_long_documents_are_cut_and_that_is_said(tmp_path, name):
    """A process that the kernel gives 2 GiB and 25 s of a core reads a part of each."""
    path = tmp_path / name
    path.write_bytes(LONG[name]())
    command = [sys.executable, "-c", SCRIPT, str(path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-2000:]
    found = msgspec.convert({**json.loads(done.stdout), "path": name}, Document)
    assert (found.problem, bool(found.incomplete)) == ("", True)
    assert sum(len(block.text) for block in found.blocks) <= 400_000
