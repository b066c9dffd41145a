"""Files called `*.py` that hold no text of Python: other encodings than UTF-8, and Jupyter notebooks.

Versions of Python have different words for an encoding, none of which says what to do, and a notebook is
valid Python where it holds no `null`: such a file would define nothing.
"""

from __future__ import annotations

import re
from importlib.machinery import SourceFileLoader
from typing import Any

_DECLARED = re.compile(rb"\A(?:\xef\xbb\xbf)?(?:[ \t\f]*(?:#.*)?\r?\n)?[ \t\f]*#.*?coding[:=][ \t]*([-\w.]+)")
"""An encoding as PEP 263 lets a file declare it, in one of its first two lines."""
_NOT_UTF_8 = "is not written in UTF-8; save it as UTF-8"
_NOTEBOOK = "is a Jupyter notebook (JSON), not Python; export it (File, Download as .py)"


def check_text(content: bytes, path: str) -> None:
    """Refuse what is no text of Python.

    Raises:
        SyntaxError: with the path, a line and a message that says what to do.
    """
    if problem := _problem(content):
        line, message = problem
        raise SyntaxError(message, (path, line, None, None))


def check_imported_text() -> None:
    """Make every import of a source file check its text first, also one by another file."""
    compiled = SourceFileLoader.source_to_code

    def source_to_code(self: SourceFileLoader, data: Any, path: Any, *args: Any, **options: Any) -> Any:
        if isinstance(data, bytes):
            check_text(data, str(path))
        return compiled(self, data, path, *args, **options)

    # its overloads, and what versions of Python add to them, are passed on as they come
    SourceFileLoader.source_to_code = source_to_code  # type: ignore[method-assign, assignment]


def _problem(content: bytes) -> tuple[int, str] | None:
    """Return the line and the sentence; of an encoding that Python does not know, it says so itself."""
    if b"\0" in content:  # as of UTF-16
        return 1, _NOT_UTF_8
    if content.lstrip().startswith(b"{") and b'"nbformat"' in content and b'"cells"' in content:
        return 1, _NOTEBOOK
    declared = _DECLARED.match(content)
    try:
        content.decode(declared[1].decode() if declared else "utf-8")
    except UnicodeDecodeError as error:
        return content.count(b"\n", 0, error.start) + 1, _NOT_UTF_8
    except (LookupError, ValueError):
        pass
    return None
