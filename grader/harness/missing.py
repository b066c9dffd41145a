"""Files that a program lacks: not handed in, handed in under nearly their names, or left out."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from grader.errors import CourseError
from grader.filenames import COPY, matcher, meant
from grader.installed import MISSPELT_NAME, nearest
from grader.model.job import Job, Task
from grader.model.observation import LEFT_OUT, MISSING_FILE, Fault, Observation, Outcome
from grader.model.submission import Submission

_LACKED = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,80})'")
_LACKED_NAME = re.compile(
    r"\bAttributeError: module '([\w.]{1,80})' has no attribute '(\w{1,80})'"
    r"|\bImportError: cannot import name '(\w{1,80})' from '([\w.]{1,80})'"
)
_LACKED_FILE = re.compile(
    r"No such file or directory: '([^']{1,200})'|\b([^\s'():]{1,200}) not found\."
    r"|([^\s'():]{1,200}): cannot open shared object file"
)
_LACKED_SOURCE = re.compile(
    r"(?:([^\s'():]{1,200}):\d+(?::\d+)?: )?fatal error: ([^\s'():]{1,200}): No such file"
)
"""What a compiler says, as a driver may pass it on: the file that asks, if one does, and the one it lacks."""
_WILDCARD = re.compile(r"[*?[]")


def without_its_file(task: Task, job: Job, programs: Collection[str] = ()) -> Observation | None:
    """Return the observation of an item whose file is missing; None if none is. No program runs.

    It needs the files that it calls, the `programs` that it runs, and what the assignment says that these
    need. It is `not_observed` where nobody can hand the file in.
    """
    course_files = Path(job.assignment_folder, "given")
    for needed in (*(f"{module}.py" for module in task.calls), *programs):
        by_default = () if (course_files / needed).is_file() else (needed,)
        for file in job.requires.get(needed.removesuffix(".py"), by_default):
            if file not in job.submission.files and not (course_files / file).is_file():
                try:
                    return without_file(task.item, file, job.submission, accepts=job.accepts)
                except CourseError as error:
                    note, outcome = "; ".join(error.problems), Outcome.NOT_OBSERVED
                    return Observation(item=task.item, outcome=outcome, note=note, fault=Fault.COURSE)
    return None


def without_file(
    item: str, file: str, submission: Submission, seed: str = "", *, accepts: Collection[str] = ()
) -> Observation:
    """Return the observation of an item whose file was not submitted.

    A pattern, as `answers.*`, is told by the files of the assignment that fit it.

    Raises:
        CourseError: no pattern of `accepts` lets the file in, so that it is the course's to give.
    """
    require_accepted(file, accepts)
    forms = _forms(file, accepts)
    note = f"{forms[0]} was not handed in" if len(forms) == 1 else f"no {_listed(forms)} was handed in"
    dropped = [path.removeprefix(submission.top) for path in submission.dropped]
    near = _meant_for_one_of(forms, dropped) if len(forms) > 1 else meant(forms[0], dropped, submission.files)
    sentence = note if len(forms) == 1 else f"{note[:1].upper()}{note[1:]}"
    sentence += f", but {near[0]} was: {near[1]}" if near else ""
    return Observation(
        item=item, outcome=Outcome.REFUSED, note=note, facts={MISSING_FILE: sentence}, seed=seed
    )


def require_accepted(file: str, accepts: Collection[str]) -> None:
    """Refuse to miss a file in a submission, if no pattern lets it in; nothing is asked of a pattern.

    Raises:
        CourseError: the course must have it in `given/`, or ask for it.
    """
    if accepts and not _WILDCARD.search(file) and not matcher(accepts)(file):
        why = f"given/ has no {file}, which is needed, and nobody is asked to hand it in"
        raise CourseError(f"{why}; put it there, or name it in accepts of assignment.py")


def _forms(file: str, accepts: Collection[str]) -> tuple[str, ...]:
    """Return the files that fit a pattern of a rubric; the pattern itself where others may fit it, too.

    Its `*` stands for `/` as well, as where checks select files.
    """
    if not _WILDCARD.search(file):
        return (file,)
    fitting = tuple(dict.fromkeys(path for path in accepts if fnmatchcase(path, file)))
    return fitting if fitting and not any(map(_WILDCARD.search, fitting)) else (file,)


def _listed(forms: Sequence[str]) -> str:
    """List files: `answers.md, .txt or .pdf`, or with their whole names if they differ in more."""
    paths = [PurePosixPath(form) for form in forms]
    alike = len({path.with_suffix("") for path in paths}) == 1
    others = [path.suffix if alike else str(path) for path in paths[1:]]
    return f"{', '.join([str(paths[0]), *others[:-1]])} or {others[-1]}"


def _meant_for_one_of(forms: Sequence[str], others: Collection[str]) -> tuple[str, str] | None:
    """Return the file that was probably meant to be one of several, and what must become of it."""
    for form in map(PurePosixPath, forms):
        alike = [path for path in others if PurePosixPath(path).suffix.casefold() == form.suffix.casefold()]
        if near := meant(str(form), alike, forms):
            return near
    stems = {PurePosixPath(form).stem.casefold() for form in forms}
    for path in map(PurePosixPath, others):
        if COPY.sub("", path.stem.casefold()) in stems:
            return str(path), "save it as one of these"
    return None


def lacked_file(note: str, accepts: Collection[str], *, patterns: bool = False) -> str:
    """Return the file that a program lacks, if the assignment accepts it by its name; empty otherwise.

    With `patterns` a module may be accepted by a pattern as `*.py`, too. For what a student's code imports
    that is no sign: it fits every name.
    """
    if module := _LACKED.search(note):
        path = module[1].replace(".", "/")
        for file in (f"{path}.py", f"{path}/__init__.py"):
            if file in accepts or (patterns and matcher(accepts)(file)):
                return file
        return next((file for file in accepts if file.startswith(f"{path}/")), "")
    if lacked := _LACKED_FILE.search(note):
        path = lacked[lacked.lastindex or 0]
        return next((file for file in accepts if path == file or path.endswith(f"/{file}")), "")
    return ""


def lacked_module(note: str) -> str:
    """Return the module that a program lacks; empty if it lacks none."""
    lacked = _LACKED.search(note)
    return lacked[1] if lacked else ""


def lacked_module_file(note: str) -> str:
    """Return the file that a module would be which a program lacks; empty if it lacks none."""
    module = lacked_module(note)
    return f"{module.replace('.', '/')}.py" if module else ""


def lacked_name(note: str) -> tuple[str, str]:
    """Return the module and the name that a program asked it for in vain; empty texts if there is none."""
    lacked = _LACKED_NAME.search(note)
    return (lacked[1] or lacked[4], lacked[2] or lacked[3]) if lacked else ("", "")


def undefined(file: str, name: str, names: Collection[str]) -> str:
    """Say that a file defines no such function or class, with the one of `names` that is nearly it."""
    lower = {other.lower(): other for other in names if other != name}
    near = nearest(name.lower(), lower, MISSPELT_NAME)
    return f"{file} defines no {name}" + (f"; did you mean {lower[near]}?" if near else "")


def file_advice(note: str, submission: Submission) -> str:
    """Say that a file which a program lacks was handed in and left out; empty if it was not.

    What a compiler lacks may be said by a driver of the course, where a product could not be made.
    """
    if lacked := _LACKED_SOURCE.search(note):
        why = source_advice(lacked[2], lacked[1] or "", submission.files, submission.dropped)
        return f"; {why}" if why else ""
    lacked = _LACKED_FILE.search(note)
    path = _of_name(lacked[lacked.lastindex or 0], submission.dropped) if lacked else ""
    return f"; {_left_out(path)}; do without it, or ask your course what may be handed in" if path else ""


def source_advice(name: str, place: str, files: Collection[str], dropped: Collection[str]) -> str:
    """Say why a file that a compiler or make lacks is not there, though it was handed in; or not.

    Args:
        name: the file as the tool names it.
        place: the file in which it is asked for; empty if that is unknown.
        files: what of the submission is accepted.
        dropped: what of it is not.
    """
    if path := _of_name(name, dropped):
        return f"{_left_out(path)}{_remedy(path, files, place)}"
    for file in files:
        if PurePosixPath(file).name.casefold() == PurePosixPath(name).name.casefold() and file != name:
            return f"{file} was handed in: its folder and all letters of its name must agree"
    return ""


def definition_advice(dropped: Collection[str], place: str, files: Collection[str]) -> str:
    """Say that a source was left out, in which a function may be defined that nobody else defines."""
    from grader.subject.tools.diagnostics import COMPILED

    sources = (path for path in dropped if path.endswith(COMPILED) and "/._" not in f"/{path}")
    path = next(sources, "")
    return f"{_left_out(path)}{_remedy(path, files, place)}, if it is defined there" if path else ""


def _left_out(path: str) -> str:
    return f"{path} {LEFT_OUT}, because the assignment does not accept it"


def _remedy(path: str, files: Collection[str], place: str = "") -> str:
    """Say into which of the accepted files to put a program text: `place`, or the only one of its ending."""
    alike = [file for file in files if PurePosixPath(file).suffix == PurePosixPath(path).suffix]
    target = place if place in files else alike[0] if len(alike) == 1 else "a file that it accepts"
    return f": put what it holds into {target}"


def _of_name(name: str, paths: Collection[str]) -> str:
    """Return the path that ends with a file's name, whatever its folder; empty if none does."""
    return next((path for path in paths if PurePosixPath(path).name == PurePosixPath(name).name), "")


def _of_module(module: str, paths: Collection[str]) -> str:
    """Return the path of a module's file, or of one in the package of that name; empty if there is none."""
    stem = f"/{module.replace('.', '/')}"
    fitting = [path for path in paths if f"/{path}".endswith((f"{stem}.py", f"{stem}/__init__.py"))]
    fitting += [path for path in paths if f"{stem}/" in f"/{path}" and path.endswith(".py")]
    return next(iter(fitting), "")


def module_advice(note: str, submission: Submission, accepts: Collection[str] = ()) -> str:
    """Say what to do about a module that an import or a call lacks; empty if it lacks none.

    `accepts` are the assignment's files: one of them is to be handed in, and not to be done without.
    """
    lacked = _LACKED.search(note)
    if not lacked:
        package, name = lacked_name(note)
        path = _of_module(f"{package}.{name}", submission.dropped) if name else ""
        return f"; {_left_out(path)}{_remedy(path, submission.files)}" if path else ""
    if (file := lacked_file(note, accepts)) in submission.files:
        return ""  # as after an import by a path that leads elsewhere, or a message of the program's own
    if file:
        return f"; {file} was not handed in"
    if path := _of_module(lacked[1], submission.dropped):
        return f"; {_left_out(path)}{_remedy(path, submission.files)}"
    return (
        "; it was not handed in and is not installed here: do without it, or ask your course what may be "
        "imported"
    )
