"""Files that a rubric names, held against what an assignment accepts, without a submission."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath
from typing import Any, get_args

from grader.config.decode import keys_of
from grader.config.problem import KeyPath, closest
from grader.config.type_words import quoted
from grader.filenames import matcher, plain_pattern
from grader.files import files_below
from grader.model.assignment import Assignment
from grader.model.options import FunctionName, ModuleName, ProgramFile, SubmittedFile
from grader.subject.tools.diagnostics import SOURCES

_SET = re.compile(r"\[[^]]+\]")
_WILDCARD = re.compile(r"[*?[]")


def unaccepted_options(
    options: type, values: Mapping[str, Any], assignment: Assignment, folder: Path
) -> Iterator[tuple[KeyPath, str]]:
    """Yield the keys of an item that name files which can never be there, be it as `module.function`."""
    for key, option in keys_of(options).items():
        kind, *_ = get_args(option.kind) or (option.kind,)
        if kind not in (FunctionName, ModuleName, ProgramFile, SubmittedFile) or key not in values:
            continue
        several = not isinstance(values[key], str)
        for number, name in enumerate(values[key] if several else [values[key]]):
            if kind in (FunctionName, ModuleName):
                message = _uncallable(name.partition(".")[0], assignment, folder)
            else:
                message = unaccepted(name, assignment, folder, by_course=kind is ProgramFile)
            if message:
                yield ((key, number) if several else (key,)), message


def _uncallable(module: str, assignment: Assignment, folder: Path) -> str:
    """Return why no file of a module can ever be there, and what to do; empty if one can, or is built."""
    products = assignment.build.products if assignment.build else ()
    is_built = any(PurePosixPath(path).name.partition(".")[0] == module for path in products)
    return "" if is_built else unaccepted(f"{module}.py", assignment, folder)


def unaccepted(pattern: str, assignment: Assignment, folder: Path, *, by_course: bool = True) -> str:
    """Return why no file that fits a pattern can ever be there, and what to do; empty if one can.

    With `by_course` a file of `given/` counts as one that was handed in. Where `accepts` fits no file of the
    reference, or one of its patterns has a form that fits none, it is that which is wrong.
    """
    if pattern.startswith("/") or ".." in pattern.split("/"):
        return f"{quoted(pattern)} leads out of the submission; write a path below its top folder"
    accepts = [plain_pattern(accepted) for accepted in assignment.accepts]
    one_file = not _WILDCARD.search(pattern)
    may_fit = matcher(accepts)(pattern) if one_file else any(overlap(pattern, each) for each in accepts)
    if may_fit or _fits_nothing(accepts, folder):
        return ""
    if _has(folder / "given", pattern):
        advice = "name a file of the submission"
        return "" if by_course else f"{quoted(pattern)} lies in given/, and nobody hands it in; {advice}"
    if _has(folder / "reference", pattern):
        return _of_reference(pattern, accepts, files_below(folder / "reference"), by_course)
    return _absent(pattern, accepts, files_below(folder / "given") if by_course else None)


def _of_reference(pattern: str, accepts: Collection[str], reference: Collection[str], by_course: bool) -> str:
    """Return the message on a file that the reference has, and that no pattern of `accepts` fits."""
    for other in reference:
        for parts in ((pattern, other), (other, pattern)):
            if (joined := "".join(parts)) in accepts:  # Python joins texts without a comma between
                written = ", ".join(map(repr, parts))
                return f"{quoted(joined)} in accepts has no comma between its parts; write {written}"
    near = closest(pattern, accepts)
    if near and not any(fnmatchcase(file, near) for file in reference):
        return f"{quoted(pattern)} is called so in reference/, and {near} in accepts; write one name in both"
    advice = "add it to accepts in assignment.py"
    advice = f"move it to given/, or {advice}" if by_course else advice
    return f"{quoted(pattern)} lies in reference/ alone, and no pattern of accepts fits it; {advice}"


def _absent(pattern: str, accepts: Collection[str], given: Collection[str] | None) -> str:
    """Return the message on a file of nobody's; without `given` it can only be the submission's."""
    near = closest(pattern, [*accepts, *(given or ())])
    if given is None:
        advice = f"did you mean {near}?" if near else "add one to accepts in assignment.py"
        return f"no pattern of accepts fits {quoted(pattern)}; {advice}"
    advice = f"write given/{pattern}, or name it in accepts if students hand it in"
    advice = f"did you mean {near}?" if near else advice
    return f"given/ has no {quoted(pattern)}, and no pattern of accepts fits it; {advice}"


def _fits_nothing(accepts: Collection[str], folder: Path) -> bool:
    """Tell whether patterns fit no file of the reference, which has some."""
    files = files_below(folder / "reference")
    return bool(files) and not any(overlap(file, pattern) for file in files for pattern in accepts)


def _has(folder: Path, pattern: str) -> bool:
    return any(fnmatchcase(path.relative_to(folder).as_posix(), pattern) for path in folder.rglob("*"))


def requires_objection(assignment: Assignment, folder: Path) -> str:
    """Return which file of `requires` can never be handed in, and what to do; empty if each can."""
    for module, needed in assignment.requires.items():
        for name in needed:
            if message := unaccepted(name, assignment, folder):
                return f"[{module!r}]: {message}"
    return ""


def replaced_files(assignment: Assignment, folder: Path) -> tuple[str, ...]:
    """Return the files of `given/` that take the place of what students hand in, so that theirs never runs.

    Those are Python files and compiled sources that the reference has, too: at its top, named in `accepts`
    without a wildcard, or with another content in `given/`, as a starter has. Another source of the same
    content may come with the task, unless nothing else is compiled.
    """
    reference, given = folder / "reference", folder / "given"
    files = {*files_below(reference)}
    compiled = {file for file in files if assignment.build and file.endswith(SOURCES)}
    both = sorted(file for file in files if file.endswith((".py", *SOURCES)) and (given / file).is_file())
    nothing_else = compiled <= {*both}

    def is_replaced(file: str) -> bool:
        if (file in compiled and nothing_else) or file in assignment.accepts:
            return True
        top = file.endswith(".py") and "/" not in file
        return top or (reference / file).read_bytes() != (given / file).read_bytes()

    return tuple(filter(is_replaced, both))


def replaced_objection(file: str) -> str:
    """Return the message on a file of `given/` that takes the place of the one that students hand in."""
    return f"given/{file} takes the place of the {file} that students hand in; rename one of them"


def overlap(pattern: str, other: str) -> bool:
    """Tell whether some name may fit both patterns, in which `*` stands for anything and `?` for a character.

    A set of characters, as `[ab]`, is taken for any character.
    """
    first, second = (_SET.sub("?", text) for text in (pattern, other))
    row = [all(letter == "*" for letter in second[:length]) for length in range(len(second) + 1)]
    for letter in first:
        above, row = row, [row[0] and letter == "*"]
        for column, partner in enumerate(second, start=1):
            if "*" in (letter, partner):
                row.append(above[column] or row[-1] or (above[column - 1]))
            else:
                row.append(above[column - 1] and (letter == partner or "?" in (letter, partner)))
    return row[-1]


def names_of(patterns: Collection[str]) -> tuple[str, ...]:
    """Return the patterns that are plain names of files."""
    return tuple(pattern for pattern in patterns if not {"*", "?"} & {*pattern})
