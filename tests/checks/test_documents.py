"""Documents read by the tool in a sandbox, and decoded from what crosses the wire."""

from __future__ import annotations

import io

import pytest

from grader.checks.documents import read_document
from grader.model.document import Document
from grader.model.observation import Observation
from grader.packing.pdf import pdf

docx = pytest.importorskip("docx")
nbformat = pytest.importorskip("nbformat")

COURSE = {"reference/work.py": ""}


def word(*paragraphs: str) -> bytes:
    document = docx.Document()
    for paragraph in paragraphs:
        document.add_paragraph(paragraph)
    whole = io.BytesIO()
    document.save(whole)
    return whole.getvalue()


def notebook(*cells: str) -> bytes:
    made = nbformat.v4.new_notebook(cells=[nbformat.v4.new_markdown_cell(cell) for cell in cells])
    return nbformat.writes(made).encode()


FORMATS = {
    "hw.md": (b"1. to()\n", "markdown"),
    "hw.txt": (b"1. to()\n", "text"),
    "hw.pdf": (pdf(text="1. to()"), "pdf"),
    "hw.docx": (word("1. to()"), "docx"),
    "hw.ipynb": (notebook("1. to()"), "ipynb"),
}


@pytest.fixture
def read(real_context, tmp_path):
    def read(name: str, content: bytes) -> Document | Observation:
        context = real_context({name: ""}, COURSE)
        (tmp_path / "workspace" / name).write_bytes(content)
        return read_document(context, name)

    return read


@pytest.mark.parametrize("name", FORMATS)
def test_every_format_is_read_in_the_sandbox(read, name):
    content, kind = FORMATS[name]
    document = read(name, content)
    assert isinstance(document, Document)
    assert (document.path, document.format, document.problem) == (name, kind, "")
    assert [f"{block.number}. {block.text}".removeprefix(". ") for block in document.blocks] == ["1. to()"]
