"""Word documents (.docx) as a reader sees them, opened by python-docx."""

from __future__ import annotations

import zipfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import groupby
from typing import Any

from .contents import Contents, FullError, UnreadableError
from .strikes import joined_strikes, struck_out
from .thumbnails import decoded
from .word_elements import (
    CHART,
    DELETED,
    DRAWING,
    INNER,
    MATH,
    NOTES,
    RELATIONSHIPS,
    VML,
    WORD_DRAWING,
    cells_of,
    ground_of_cell,
    how_row_is_hidden,
    is_within_drawing,
    paper_of,
    parents_of,
    rows_of,
    shown_alternatives,
    text_of,
)
from .word_formulas import DEEP, mathematics
from .word_looks import Ground, Looks, W, number, on, value
from .word_numbers import ListEntry, Numbering

UNPACKED_BYTES = 256 * 2**20
MEMBERS = 5_000
PIXEL = 9525
"""In the unit of drawings, of which an inch has 914,400."""
LEAST_BOX = 50_000
"""A text box with a shorter side shows no letter."""
HEADER_WORDS = 30
"""A header with more words than these is reported: no name and no date is so long."""
PICTURE_BYTES = 32 * 2**20


def read_word(path: str) -> Contents:
    """Read a Word document.

    Raises:
        UnreadableError: it is none, or cannot be opened.
        ImportError: the library that reads Word documents is not installed.
    """
    _inspect(path)
    import docx

    try:
        opened = docx.Document(path)
        body, part, paper = opened.element.body, opened.part, paper_of(opened)
    except MemoryError:
        raise
    except Exception:  # python-docx raises whatever a damaged file makes it stumble over
        problem = "is a damaged Word document, or of another kind; save it as .docx or PDF"
        raise UnreadableError(problem) from None
    if body is None:
        raise UnreadableError("has nothing in it; save it again as .docx or PDF")
    contents = Contents("docx")
    with suppress(FullError):
        _WordBlocks(contents, part, opened.element).add_body(body, Ground(luminance=paper))
    _report_hidden_parts(contents, part)
    return contents


def _inspect(path: str) -> None:
    """Refuse an archive that is no Word document, or unpacks to too much; nothing is unpacked for that."""
    try:
        with zipfile.ZipFile(path) as archive:
            members = archive.infolist()
            kind = archive.read("mimetype")[:100] if "mimetype" in archive.namelist() else b""
    except MemoryError:
        raise
    except Exception:  # zipfile raises several errors, and others for damaged extra fields
        raise UnreadableError("is a damaged Word document; save it again as .docx or PDF") from None
    names = {member.filename for member in members}
    if b"opendocument" in kind:
        raise UnreadableError("is an OpenDocument file; save it as .docx or PDF")
    if "word/document.xml" not in names and "[Content_Types].xml" not in names:
        raise UnreadableError("is a zip archive and no Word document; hand in the document itself")
    if any(member.flag_bits & 1 for member in members):
        raise UnreadableError("is encrypted; save it without a password")
    if len(members) > MEMBERS or sum(member.file_size for member in members) > UNPACKED_BYTES:
        raise UnreadableError(f"unpacks to more than {UNPACKED_BYTES >> 20} MiB; make its pictures smaller")


def _report_hidden_parts(contents: Contents, part: Any) -> None:
    """Report comments, and headers and footers with more than a name in them."""
    for name, how, least in (
        ("comments", "a comment", 1),
        ("header", "a header", HEADER_WORDS),
        ("footer", "a footer", HEADER_WORDS),
    ):
        for root in _related(part, name):
            text = " ".join(element.text or "" for element in root.iter(f"{W}t"))
            if len(text.split()) >= least:
                contents.hide(how, text)


def _related(part: Any, name: str) -> Iterator[Any]:
    """Yield the roots of the parts that a document is related to under a name."""
    from docx.oxml import parse_xml

    for relation in part.rels.values():
        if not relation.is_external and relation.reltype.endswith(f"/{name}"):
            with suppress(Exception):  # a damaged part is as if it were not there
                target = relation.target_part
                yield target.element if hasattr(target, "element") else parse_xml(target.blob)


class _WordBlocks:
    """Walks over the elements of a document."""

    def __init__(self, contents: Contents, part: Any, document: Any) -> None:
        self._contents = contents
        self._part = part
        self._looks = Looks(next(_related(part, "styles"), None))
        self._numbering = Numbering(next(_related(part, "numbering"), None))
        self._notes = {
            kind: {note.get(f"{W}id"): note for root in _related(part, kind) for note in root}
            for kind in NOTES.values()
        }
        self._fields: list[bool] = []
        """Of each open field, whether its code goes on, which no reader sees."""
        self._counts_pages = document.find(f".//{W}lastRenderedPageBreak") is not None

    def add_body(self, container: Any, ground: Ground, deep: int = 0) -> None:
        """Add the paragraphs and tables of a body, a text box, a note or a cell."""
        if deep > DEEP:
            self._contents.incomplete = "a part of it is nested too deeply to be read"
            return
        for child in container:
            if child.tag == f"{W}p":
                self._add_paragraph(child, ground, deep)
            elif child.tag == f"{W}tbl":
                self._add_table(child, ground, deep)
            elif child.tag == f"{W}altChunk":
                self._contents.incomplete = "it embeds another document, which is not read; save it as a PDF"
            elif child.tag in DELETED:
                self._hide_all("deleted text", child)
            elif child.tag in INNER:
                self.add_body(child, ground, deep + 1)
            else:
                for inner in shown_alternatives(child):
                    self.add_body(inner, ground, deep + 1)

    def _add_paragraph(self, paragraph: Any, ground: Ground, deep: int) -> None:
        reader = _ParagraphReader(self, paragraph, ground)
        reader.read()
        text = reader.shown()
        entry = self._entry(paragraph) if text.strip() or not reader.hidden else None
        kind, level = self._kind(paragraph, entry)
        listed = entry or ListEntry(number="", level=0, series=0)
        if text.strip() or (entry and entry.number):
            self._contents.add(text, kind, number=listed.number, level=level, series=listed.series)
        self._finish(reader, deep)

    def _finish(self, reader: _ParagraphReader, deep: int) -> None:
        """Add what stands beside the text of a paragraph, and report what is hidden in it."""
        for how, text in reader.concealed():
            self._contents.hide(how, text)
        for width, height, content in reader.pictures[: self._contents.room_for_pictures]:
            pixels = decoded(content) if content else (0, 0, b"")
            self._contents.picture(*((*pixels[:2], pixels[2]) if pixels[0] else (width, height, b"")))
        for box, box_ground in reader.boxes:
            self.add_body(box, box_ground, deep + 1)
        for kind, identifier in reader.notes:
            note = self._notes[kind].get(identifier)
            if note is not None:
                self.add_body(note, Ground(), deep + 1)

    def _entry(self, paragraph: Any) -> ListEntry | None:
        properties = self._looks.paragraph_property(paragraph, "numPr")
        if properties is None:
            return None
        depth = number(value(properties, "ilvl")) or 0.0
        return self._numbering.next(value(properties, "numId"), int(depth) if 0 <= depth < 9 else 0)

    def _kind(self, paragraph: Any, entry: ListEntry | None) -> tuple[str, int]:
        """Return the kind of a paragraph, and how deep it is nested."""
        name = self._looks.style_name(self._looks.paragraph_style(paragraph))
        outline = self._looks.paragraph_property(paragraph, "outlineLvl")
        depth = number(outline.get(f"{W}val")) if outline is not None else None
        if name.startswith("heading ") or (depth is not None and 0 <= depth < 9):
            level = number(name.removeprefix("heading ")) if name.startswith("heading ") else None
            return "heading", int(level or (depth or 0.0) + 1)
        if name == "title":
            return "heading", 1
        return ("list", entry.level) if entry else ("paragraph", 0)

    def _add_table(self, table: Any, ground: Ground, deep: int) -> None:
        rows = list(rows_of(table))
        ground = self._table_ground(table, ground)
        columns = max((len(list(cells_of(row))) for row in rows), default=0)
        for row in rows:
            properties = row.find(f"{W}trPr")
            hidden = how_row_is_hidden(properties) if properties is not None else ""
            if hidden:
                self._hide_all(hidden, row)
                continue
            cells = list(cells_of(row))
            if columns == 1:
                for cell in cells:
                    self.add_body(cell, ground_of_cell(cell, ground), deep + 1)
                continue
            texts, readers = [], []
            for cell in cells:
                text, inside = self._cell(cell, ground_of_cell(cell, ground), deep + 1)
                texts.append(text)
                readers += inside
            self._contents.add("\t".join(texts), "table")
            for reader in readers:
                self._finish(reader, deep)

    def _table_ground(self, table: Any, ground: Ground) -> Ground:
        """Return the ground of a table: of one whose style shades some cells it is not known."""
        properties = table.find(f"{W}tblPr")
        style = value(properties, "tblStyle") if properties is not None else ""
        shaded = any(
            next(owner.iter(f"{W}shd"), None) is not None for owner in self._looks.style_chain(style)
        )
        around = Ground(luminance=None, hidden=ground.hidden) if shaded else ground
        hidden = ground.hidden or self._looks.hidden_by_table(style, around)
        return Ground(luminance=around.luminance, hidden=hidden)

    def _cell(self, cell: Any, ground: Ground, deep: int) -> tuple[str, list[_ParagraphReader]]:
        """Return the text of a cell, a line for each paragraph, and the readers of these."""
        lines, readers = [], []
        for paragraph in cell.iter(f"{W}p") if deep <= DEEP else ():
            if is_within_drawing(paragraph, cell):
                continue
            reader = _ParagraphReader(self, paragraph, ground)
            reader.read()
            readers.append(reader)
            text = reader.shown()
            entry = self._entry(paragraph) if text.strip() or not reader.hidden else None
            number_text = f"{entry.number}. " if entry and entry.number else ""
            if number_text or text.strip():
                lines.append(number_text + text.replace("\t", " "))
        return "\n".join(lines), readers

    def _hide_all(self, how: str, element: Any) -> None:
        parts = [part.text or "" for part in element.iter(f"{W}t", f"{W}delText")]
        self._contents.hide(how, " ".join(parts))

    def ground(self, paragraph: Any, around: Ground) -> Ground:
        """Return the ground of a paragraph."""
        return self._looks.ground(paragraph, around)

    def style(self, paragraph: Any) -> str:
        """Return the style of a paragraph."""
        return self._looks.paragraph_style(paragraph)

    def hidden(self, run: Any, style: str, ground: Ground) -> str:
        """Return how a run is hidden."""
        return self._looks.hidden(run, style, ground)

    def struck(self, run: Any, style: str) -> bool:
        """Tell whether a run is struck out."""
        return self._looks.struck(run, style)

    @property
    def in_field_code(self) -> bool:
        """Whether what comes next is the code of a field, and not its result."""
        return any(self._fields)

    def turn_field(self, kind: str | None) -> None:
        """Begin a field, pass on from its code to its result, or end it."""
        if kind == "begin":
            self._fields.append(True)
        elif kind == "separate" and self._fields:
            self._fields[-1] = False
        elif kind == "end" and self._fields:
            self._fields.pop()

    def break_page(self, *, rendered: bool) -> None:
        """Count a page: by the breaks that Word noted when it last rendered them, else by those typed."""
        if rendered == self._counts_pages:
            self._contents.page += 1
            self._contents.pages = self._contents.page

    def embedded(self, identifier: str | None) -> bytes:
        """Return the bytes of a picture of the document; none of a linked one, which is not fetched."""
        relation = self._part.rels.get(identifier) if identifier else None
        if relation is None or relation.is_external or not self._contents.room_for_pictures:
            return b""
        content: bytes = relation.target_part.blob
        return content if len(content) <= PICTURE_BYTES else b""


class _ParagraphReader:
    """Collects the text of one paragraph, and what is drawn or hidden in it."""

    def __init__(self, blocks: _WordBlocks, paragraph: Any, around: Ground) -> None:
        self._blocks = blocks
        self._paragraph = paragraph
        self._ground = blocks.ground(paragraph, around)
        self._style = blocks.style(paragraph)
        self._pieces: list[tuple[str, str]] = []
        """How each piece of text is hidden, and the piece."""
        self.pictures: list[tuple[int, int, bytes]] = []
        self.boxes: list[tuple[Any, Ground]] = []
        self.notes: list[tuple[str, str | None]] = []

    def read(self) -> None:
        """Read all runs."""
        self._inline(self._paragraph, "", 0)

    @property
    def hidden(self) -> bool:
        """Whether it holds hidden text."""
        return any(how and text.strip() for how, text in self._pieces)

    def shown(self) -> str:
        """Return the text that a reader sees."""
        return joined_strikes("".join(text for how, text in self._pieces if not how))

    def concealed(self) -> Iterator[tuple[str, str]]:
        """Yield how a stretch of text is hidden, and the stretch."""
        for how, stretch in groupby(self._pieces, key=lambda piece: piece[0]):
            if how:
                yield how, "".join(text for _, text in stretch)

    def _inline(self, container: Any, how: str, deep: int) -> None:
        if deep > DEEP:
            return
        for child in container:
            if child.tag == f"{W}r":
                self._run(child, how or self._blocks.hidden(child, self._style, self._ground), deep)
            elif child.tag in DELETED:
                self._inline(child, "deleted text", deep + 1)
            elif child.tag in INNER:
                self._inline(child, how, deep + 1)
            elif child.tag in (f"{MATH}oMath", f"{MATH}oMathPara"):
                self._pieces.append((how, mathematics(child, 0)))
            else:
                for inner in shown_alternatives(child):
                    self._inline(inner, how, deep + 1)

    def _run(self, run: Any, how: str, deep: int) -> None:
        struck = not how and run.tag == f"{W}r" and self._blocks.struck(run, self._style)
        for child in run:
            if text := text_of(child):
                text = struck_out(text) if struck else text
                deleted = child.tag == f"{W}delText"
                unseen = "a field's code" if self._blocks.in_field_code else how
                self._pieces.append(("deleted text" if deleted else unseen, text))
            elif child.tag == f"{W}fldChar":
                self._blocks.turn_field(child.get(f"{W}fldCharType"))
            elif child.tag == f"{W}lastRenderedPageBreak":
                self._blocks.break_page(rendered=True)
            elif child.tag in NOTES:
                self.notes.append((NOTES[child.tag], child.get(f"{W}id")))
            elif child.tag in (f"{W}drawing", f"{W}pict", f"{W}object"):
                self._drawing(child, how)
            elif child.tag == f"{W}ruby":
                for inner in child.iterchildren(f"{W}rubyBase"):
                    self._inline(inner, how, deep + 1)
            elif deep <= DEEP:
                for inner in shown_alternatives(child):
                    self._run(inner, how, deep + 1)
            if child.tag == f"{W}br" and child.get(f"{W}type") == "page":
                self._blocks.break_page(rendered=False)

    def _drawing(self, drawing: Any, how: str) -> None:
        """Note the pictures and text boxes of a drawing."""
        properties = next(drawing.iter(f"{WORD_DRAWING}docPr"), None)
        if properties is not None and on(properties.get("hidden"), absent=False):
            how = how or "a hidden drawing"
        extent = next(drawing.iter(f"{WORD_DRAWING}extent"), None)
        sides = (
            [number(extent.get(side)) or 0.0 for side in ("cx", "cy")] if extent is not None else [0.0, 0.0]
        )
        tiny = extent is not None and min(sides) < LEAST_BOX
        width, height = (int(min(max(side, 0.0) / PIXEL, 100_000)) for side in sides)
        for box in drawing.iter(f"{W}txbxContent"):
            if not any(parent.tag == f"{W}txbxContent" for parent in parents_of(box, drawing)):
                hidden = how or ("a text box without height or width" if tiny else "")
                self.boxes.append((box, Ground(luminance=None, hidden=hidden)))
        if how or tiny:
            return
        for blip in drawing.iter(f"{DRAWING}blip", f"{VML}imagedata"):
            identifier = blip.get(f"{RELATIONSHIPS}embed") or blip.get(f"{RELATIONSHIPS}id")
            self.pictures.append((width, height, self._blocks.embedded(identifier)))
        self.pictures += [(width, height, b"") for _ in drawing.iter(f"{CHART}chart")]
