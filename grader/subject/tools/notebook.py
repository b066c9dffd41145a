"""Jupyter notebooks as a reader sees them: cells of text and code, and what the code printed."""

from __future__ import annotations

import json
import os
import re
import warnings
from base64 import b64decode
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any

from .contents import Contents, FullError, UnreadableError
from .html_text import HtmlText
from .markdown import add_markdown
from .thumbnails import decoded

NOTEBOOK_BYTES = 64 * 2**20
CELLS = 5_000
OUTPUT_CHARACTERS = 20_000
"""Of one output."""
_COLOURS = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_PICTURES = ("image/png", "image/jpeg", "image/gif", "image/svg+xml")
_HIDDEN_TAGS = {
    "hide-cell": ("source", "outputs"),
    "remove-cell": ("source", "outputs"),
    "hide-input": ("source",),
    "remove-input": ("source",),
    "hide_input": ("source",),
    "hide-output": ("outputs",),
    "remove-output": ("outputs",),
}


def read_notebook(path: str) -> Contents:
    """Read a notebook of any version.

    Raises:
        UnreadableError: it is no notebook.
        ImportError: the library that reads notebooks is not installed.
    """
    contents = Contents("ipynb")
    with suppress(FullError):
        cells = _opened(path)
        for cell in cells[:CELLS]:
            if isinstance(cell, Mapping):
                _add_cell(contents, cell)
        if len(cells) > CELLS:
            contents.incomplete = f"only its first {CELLS} cells are read"
    return contents


def _opened(path: str) -> list[Any]:
    if os.path.getsize(path) > NOTEBOOK_BYTES:
        raise UnreadableError(f"is larger than {NOTEBOOK_BYTES >> 20} MiB; clear large outputs and save it")
    from nbformat import converter, reader

    with open(path, "rb") as file:
        content = file.read(NOTEBOOK_BYTES)
    encoding = "utf-16" if content.startswith((b"\xff\xfe", b"\xfe\xff")) else "utf-8-sig"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # of cells without an id, and the like
            notebook = converter.convert(reader.reads(content.decode(encoding, "replace")), 4)
    except MemoryError:
        raise
    except Exception:  # a damaged notebook trips the conversion anywhere
        raise UnreadableError("is no notebook that can be opened; save it again in Jupyter") from None
    cells = notebook.get("cells") if isinstance(notebook, Mapping) else None
    if not isinstance(cells, list):
        raise UnreadableError("is no notebook that can be opened; save it again in Jupyter")
    return cells


def _add_cell(contents: Contents, cell: Mapping[str, Any]) -> None:
    source = _joined(cell.get("source"))
    hidden = set(_hidden_parts(cell.get("metadata")))
    if "source" in hidden:
        contents.hide("a hidden cell", source)
    elif cell.get("cell_type") == "markdown":
        attachments = cell.get("attachments")
        add_markdown(contents, contents.start_of(source), lambda address: _attached(attachments, address))
    else:
        contents.add(source, "code" if cell.get("cell_type") == "code" else "paragraph")
    outputs = cell.get("outputs")
    for output in outputs if isinstance(outputs, list) else ():
        if isinstance(output, Mapping):
            _add_output(contents, output, hidden="outputs" in hidden)


def _hidden_parts(metadata: Any) -> Iterator[str]:
    """Yield the parts of a cell that Jupyter folds away."""
    if not isinstance(metadata, Mapping):
        return
    jupyter = metadata.get("jupyter")
    if isinstance(jupyter, Mapping):
        yield from ("source",) if jupyter.get("source_hidden") is True else ()
        yield from ("outputs",) if jupyter.get("outputs_hidden") is True else ()
    if metadata.get("hide_input") is True:
        yield "source"
    tags = metadata.get("tags")
    for tag in tags if isinstance(tags, list) else ():
        yield from _HIDDEN_TAGS.get(tag, ()) if isinstance(tag, str) else ()


def _add_output(contents: Contents, output: Mapping[str, Any], *, hidden: bool) -> None:
    data = output.get("data")
    data = data if isinstance(data, Mapping) else {}
    text = _joined(output.get("text")) or _joined(data.get("text/plain"))
    if output.get("output_type") == "error":
        text = _joined(output.get("traceback")) or _joined(output.get("evalue"))
    text = _COLOURS.sub("", text[: 2 * OUTPUT_CHARACTERS])[:OUTPUT_CHARACTERS]
    picture = next((kind for kind in _PICTURES if data.get(kind)), "")
    if hidden:
        contents.hide("a hidden output", text)
        return
    if picture:
        contents.picture(*decoded(_base64(data[picture])))
        return
    if not text and (html := _joined(data.get("text/html") or data.get("text/markdown"))):
        parts: list[str] = []
        HtmlText(parts.append, contents.hide, lambda _: contents.picture(0, 0)).feed(
            html[: 5 * OUTPUT_CHARACTERS]
        )
        text = "".join(parts)[:OUTPUT_CHARACTERS]
    contents.add(text.strip("\n"), "output")


def _attached(attachments: Any, address: str) -> bytes:
    """Return a picture that a cell holds."""
    if not (isinstance(attachments, Mapping) and address.startswith("attachment:")):
        return b""
    bundle = attachments.get(address.removeprefix("attachment:"))
    kinds = bundle if isinstance(bundle, Mapping) else {}
    return next((_base64(kinds[kind]) for kind in _PICTURES if kinds.get(kind)), b"")


def _base64(value: Any) -> bytes:
    try:
        return b64decode(_joined(value))
    except ValueError:
        return b""


def _joined(value: Any) -> str:
    """Return the text of a value that is a text or a list of its lines; of others their JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return "".join(part for part in value if isinstance(part, str))
    return json.dumps(value)[:OUTPUT_CHARACTERS] if isinstance(value, Mapping) else ""
