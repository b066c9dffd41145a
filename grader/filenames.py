"""Which patterns a file's name fits, and which name was meant: capitals, copies, endings, similar names."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from difflib import SequenceMatcher
from functools import cache
from pathlib import PurePosixPath

Matches = Callable[[str], bool]

# Python and pytest run these by themselves: only a pattern without a wildcard lets them in.
_NOT_BY_WILDCARD = r"(?!(?:[^/]*/)*(?:(?:(?:site|user)customize|conftest)(?:\.py|/)|[^/]*\.pth$))"

_OTHER_ENDINGS = frozenset({".txt", ".ipynb", ".py", ".py3", ".pyw", ".md", ".docx", ".doc", ".pdf"})
"""Endings under which editors and browsers store a file that should have another."""
_COMPILED = frozenset({".c", ".cc", ".cpp", ".cxx", ".c++", ".cu"})
"""Endings of sources of C, C++ and CUDA, of which one stands where the course has another."""
_HEADERS = frozenset({".h", ".hh", ".hpp", ".hxx", ".h++", ".cuh"})
"""Endings of headers, of which another one, or that of a source, stands where the course has a header."""
_LANGUAGES = {".c": "C", ".cu": "CUDA C++"}
"""Names of languages by the ending of their sources; those of all others in `_COMPILED` are C++."""
_PYTHON = frozenset({".py", ".py3", ".pyw"})
"""Endings of programs in Python, which another name does not turn into one for a compiler."""
_FORMATS = frozenset({".ipynb", ".docx", ".doc", ".pdf"})
"""Endings of formats that another name turns neither into text nor into each other."""
_ALIKE = 0.75
"""The similarity (difflib's ratio) from which on a name may be meant to be another."""
ANY_ENDING = ".*"
"""The end of a pattern that a file fits whatever format it has."""
_LONG_ENOUGH = 4
"""Letters from which on a name is recognised in a longer one, or as short for it."""
COPY = re.compile(r"( ?\(\d+\)| - copy|[ _-]copy|[ _-]\d+)+$")
"""What browsers and file managers add to the name of a second copy: `utils (1).py`, `utils - Copy.py`."""


def matcher(accepts: Iterable[str], *, anywhere: bool = False) -> Matches:
    """Return a predicate for paths that match a pattern, in which `*` and `?` stand for anything but `/`.

    With `anywhere`, also below folders that the patterns do not name.
    """
    one_of = _one_of(tuple(accepts), anywhere)
    return lambda path: one_of.fullmatch(path) is not None


@cache
def _one_of(accepts: tuple[str, ...], anywhere: bool) -> re.Pattern[str]:
    """Compile the patterns of an assignment: once, not for each submission."""
    above = "(?:.*/)?" if anywhere else ""
    return re.compile(f"{above}(?:{'|'.join(map(_expression, accepts)) or '(?!)'})")


def _expression(pattern: str) -> str:
    letters = "".join({"*": "[^/]*", "?": "[^/]"}.get(letter, re.escape(letter)) for letter in pattern)
    return _NOT_BY_WILDCARD + letters if "*" in pattern or "?" in pattern else letters


def meant(file: str, others: Iterable[str], accepted: Iterable[str] = ()) -> tuple[str, str] | None:
    """The file that was probably meant to be this one, and what must become of it; None if there is none.

    That is one of its name but for capitals, a copy's number or the folder; else one whose name resembles it;
    else the only one of its ending, if no `accepted` file has it. Of a file that may have any ending, as
    `answers.*`, what was meant keeps its own.
    """
    if file.endswith(ANY_ENDING):
        return _meant_with_its_ending(file, others)
    needed = PurePosixPath(file)
    paths = [path for path in map(PurePosixPath, others) if path != needed]
    near = [path for path in paths if _plain(path) == _plain(needed)]
    perhaps = "" if near else "if it is meant, "
    if not near:
        near = [path for path in paths if _resembles(path, needed)]
    if not near and needed.suffix not in {PurePosixPath(path).suffix for path in accepted}:
        same = [path for path in paths if path.suffix.casefold() == needed.suffix]
        near = same if len(same) == 1 else []
    if not near:
        return None
    nearest = min(near, key=lambda path: (-_likeness(path, needed), len(path.parts), str(path)))
    place = "in the top folder" if needed.parent == PurePosixPath() else f"in {needed.parent}/"
    must = [f"be called {needed.name}"] if nearest.name != needed.name else []
    must += [f"lie {place}"] if nearest.parent != needed.parent else []
    return str(nearest), saved_as(str(nearest), file) or f"{perhaps}it must {' and '.join(must)}"


def _meant_with_its_ending(pattern: str, others: Iterable[str]) -> tuple[str, str] | None:
    """Return of the files of other names the likest one that keeps its ending, and what must become of it."""
    likest: tuple[float, tuple[str, str] | None] = (0.0, None)
    for path in sorted(others):
        name = of_ending(pattern, path)
        likeness = _likeness(PurePosixPath(path), PurePosixPath(name))
        if likeness > likest[0] and (found := meant(name, [path], [name])):
            likest = (likeness, found)
    return likest[1]


def of_ending(file: str, path: str) -> str:
    """Return a file's name with the ending of another: `answers.md`, of `answers.*` and `Answer.MD`."""
    if not file.endswith(ANY_ENDING):
        return file
    return file.removesuffix(ANY_ENDING) + PurePosixPath(path).suffix.casefold()


def saved_as(path: str, needed: str) -> str:
    """Say what must become of a file of another format, or in another language, than the needed one.

    Empty if a new name will do.
    """
    old, new = (PurePosixPath(file.casefold()).suffix for file in (path, needed))
    named_in_it = PurePosixPath(path).stem.casefold().endswith(new)  # report.pdf.doc, as a browser stores it
    if old in _PYTHON and new in _COMPILED | _HEADERS and not named_in_it:
        return f"it must be written in {_LANGUAGES.get(new, 'C++')}, as {needed}"
    if old == new or named_in_it or _FORMATS.isdisjoint((old, new)):
        return ""
    if new in _FORMATS:
        return f"it must be saved as {needed}"
    return f"its {'code' if new in _COMPILED | {'.py'} else 'text'} must be handed in as {needed}"


def plain_pattern(pattern: str) -> str:
    """Return a pattern in the form of paths in a submission, as `conv.py` of `./conv.py` and `/conv.py`."""
    return re.sub(r"^(\.?/+)+", "", pattern.strip().replace("\\", "/"))


def _resembles(path: PurePosixPath, needed: PurePosixPath) -> bool:
    """Tell whether a name holds another, is much like it, or differs in its ending alone."""
    stem, wanted = COPY.sub("", path.stem.casefold()), needed.stem.casefold()
    if path.suffix.casefold() == needed.suffix.casefold():
        parts = re.split(r"[^a-z0-9]+", stem)
        return (
            wanted in parts
            or _holds(stem, wanted)
            or _abbreviates(stem, wanted)
            or SequenceMatcher(None, stem, wanted).ratio() >= _ALIKE
        )
    ending, wanted_ending = path.suffix.casefold(), needed.suffix.casefold()
    of_a_kind = ending in _OTHER_ENDINGS or {ending, wanted_ending} <= _COMPILED
    of_a_kind |= wanted_ending in _HEADERS and ending in _HEADERS | _COMPILED
    return of_a_kind and stem in (wanted, needed.name.casefold())


def _abbreviates(one: str, other: str) -> bool:
    """Tell whether the shorter name has the longer one's first letter, and others of it in order."""
    short, whole = sorted((one, other), key=len)
    letters = iter(whole)
    return len(short) >= _LONG_ENOUGH and short[0] == whole[0] and all(letter in letters for letter in short)


def _likeness(path: PurePosixPath, needed: PurePosixPath) -> float:
    """Return difflib's ratio of two names, 1 where they differ in what a copy's name is given alone."""
    return SequenceMatcher(None, _plain(path), _plain(needed)).ratio()


def _holds(stem: str, wanted: str) -> bool:
    return len(wanted) >= _LONG_ENOUGH and stem.startswith(wanted)


def _plain(path: PurePosixPath) -> str:
    """A file's name in small letters, without what makes a copy's name another one."""
    return COPY.sub("", path.stem.casefold()) + path.suffix.casefold()
