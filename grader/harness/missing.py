"""Files that an item needs and nobody handed in, and what was handed in under nearly their names."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from difflib import SequenceMatcher
from fnmatch import fnmatchcase
from pathlib import Path, PurePosixPath

from grader.model.job import Job, Task
from grader.model.observation import MISSING_FILE, Observation, Outcome
from grader.model.submission import Submission

_LACKED = re.compile(r"ModuleNotFoundError: No module named '([\w.]{1,80})'")
_OTHER_ENDINGS = frozenset({".txt", ".ipynb", ".py", ".py3", ".pyw", ".md", ".docx", ".doc", ".pdf"})
"""Endings under which editors and browsers store a file that should have another."""
_ALIKE = 0.75
"""The similarity (difflib's ratio) from which on a name may be meant to be another."""
_LONG_ENOUGH = 4
"""Letters from which on a name is recognised in a longer one without a sign between them."""
_WILDCARD = re.compile(r"[*?[]")
_COPY = re.compile(r"( ?\(\d+\)| - copy|[ _-]copy|[ _-]\d+)+$")
"""What browsers and file managers add to the name of a second copy: `utils (1).py`, `utils - Copy.py`."""


def without_its_file(task: Task, job: Job) -> Observation | None:
    """Return the observation of an item whose file is missing; None if none is. No program runs."""
    course_files = Path(job.assignment_folder, "given")
    for module in task.calls:
        by_default = () if (course_files / f"{module}.py").is_file() else (f"{module}.py",)
        for file in job.requires.get(module, by_default):
            if file not in job.submission.files and not (course_files / file).is_file():
                return without_file(task.item, file, job.submission, accepts=job.accepts)
    return None


def without_file(
    item: str, file: str, submission: Submission, seed: str = "", *, accepts: Collection[str] = ()
) -> Observation:
    """Return the observation of an item whose file was not submitted.

    A pattern, as `answers.*`, is told by the files of the assignment that fit it.
    """
    forms = _forms(file, accepts)
    note = f"{forms[0]} was not handed in" if len(forms) == 1 else f"no {_listed(forms)} was handed in"
    dropped = [path.removeprefix(submission.top) for path in submission.dropped]
    near = _meant_for_one_of(forms, dropped) if len(forms) > 1 else meant(forms[0], dropped, submission.files)
    sentence = note if len(forms) == 1 else f"{note[:1].upper()}{note[1:]}"
    sentence += f", but {near[0]} was: {near[1]}" if near else ""
    return Observation(
        item=item, outcome=Outcome.REFUSED, note=note, facts={MISSING_FILE: sentence}, seed=seed
    )


def _forms(file: str, accepts: Collection[str]) -> tuple[str, ...]:
    """Return the files that fit a pattern; the pattern itself where others may fit it, too."""
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
        if _COPY.sub("", path.stem.casefold()) in stems:
            return str(path), "save it as one of these"
    return None


def meant(file: str, others: Iterable[str], accepted: Iterable[str] = ()) -> tuple[str, str] | None:
    """The file that was probably meant to be this one, and what must become of it; None if there is none.

    That is one of its name but for capitals, a copy's number or the folder; else one whose name resembles it;
    else the only one of its ending, if no `accepted` file has it.
    """
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
    if nearest.suffix == ".ipynb" and needed.suffix == ".py":
        return str(nearest), f"its code must be handed in as {file}"
    return str(nearest), f"{perhaps}it must {' and '.join(must)}"


def module_advice(note: str, submission: Submission) -> str:
    """Say what to do about a module that an import lacks; empty if it failed for another reason."""
    lacked = _LACKED.search(note)
    if not lacked:
        return ""
    for path in submission.dropped:
        if PurePosixPath(path).name == f"{lacked[1]}.py":
            return f"; {path} was handed in and left out, because the assignment does not accept it"
    return (
        "; it was not handed in and is not installed here: do without it, or ask your course what may be "
        "imported"
    )


def _resembles(path: PurePosixPath, needed: PurePosixPath) -> bool:
    """Tell whether a name holds another, is much like it, or differs in its ending alone."""
    stem, wanted = _COPY.sub("", path.stem.casefold()), needed.stem.casefold()
    if path.suffix.casefold() == needed.suffix.casefold():
        parts = re.split(r"[^a-z0-9]+", stem)
        return (
            wanted in parts or _holds(stem, wanted) or SequenceMatcher(None, stem, wanted).ratio() >= _ALIKE
        )
    return stem in (wanted, needed.name.casefold()) and path.suffix.casefold() in _OTHER_ENDINGS


def _likeness(path: PurePosixPath, needed: PurePosixPath) -> float:
    """Return difflib's ratio of two names, 1 where they differ in what a copy's name is given alone."""
    return SequenceMatcher(None, _plain(path), _plain(needed)).ratio()


def _holds(stem: str, wanted: str) -> bool:
    return len(wanted) >= _LONG_ENOUGH and stem.startswith(wanted)


def _plain(path: PurePosixPath) -> str:
    """A file's name in small letters, without what makes a copy's name another one."""
    return _COPY.sub("", path.stem.casefold()) + path.suffix.casefold()
