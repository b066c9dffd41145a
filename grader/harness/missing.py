"""Files that an item needs and nobody handed in, and what was handed in under nearly their names."""

from __future__ import annotations

import re
from collections.abc import Iterable
from difflib import SequenceMatcher
from pathlib import Path, PurePosixPath

from grader.model.job import Job, Task
from grader.model.observation import MISSING_FILE, Observation, Outcome
from grader.model.submission import Submission

_COPY = re.compile(r"( ?\(\d+\)|( - |[ _-])(copy|final|fixed|last|new|solution|v?\d+))+$")
"""What is added to the name of a second copy: `utils (1).py`, `utils - Copy.py`, `utils_final.py`."""
_SEPARATORS = str.maketrans("", "", " _-.")
ALIKE = 0.85
"""Names of which difflib finds so much alike may be meant for one another: `util.py`, `max-functions.py`."""


def without_its_file(task: Task, job: Job) -> Observation | None:
    """Return the observation of an item whose file is missing; None if none is. No program runs."""
    course_files = Path(job.assignment_folder, "given")
    for module in task.calls:
        by_default = () if (course_files / f"{module}.py").is_file() else (f"{module}.py",)
        for file in job.requires.get(module, by_default):
            if file not in job.submission.files and not (course_files / file).is_file():
                return without_file(task.item, file, job.submission)
    return None


def without_file(item: str, file: str, submission: Submission, seed: str = "") -> Observation:
    """Return the observation of an item whose file was not submitted."""
    return Observation(
        item=item,
        outcome=Outcome.REFUSED,
        note=f"{file} was not handed in",
        facts={MISSING_FILE: _sentence(file, submission)},
        seed=seed,
    )


def _sentence(file: str, submission: Submission) -> str:
    """Return the name of the missing file, and advice on a file that may be it."""
    near = meant(file, (path.removeprefix(submission.top) for path in submission.dropped))
    return f"{file} was not handed in" + (f", but {near[0]} was: {near[1]}" if near else "")


def meant(file: str, others: Iterable[str]) -> tuple[str, str] | None:
    """The file that was probably meant to be this one, and what must become of it; None if there is none."""
    needed = PurePosixPath(file)
    paths = [path for path in map(PurePosixPath, others) if path != needed]
    near = [path for path in paths if _plain(path) == _plain(needed)]
    near = near or [path for path in paths if _likeness(path, needed) >= ALIKE]
    if not near:
        return None
    nearest = min(near, key=lambda path: (-_likeness(path, needed), len(path.parts), str(path)))
    place = "in the top folder" if needed.parent == PurePosixPath() else f"in {needed.parent}/"
    must = [f"be called {needed.name}"] if nearest.name != needed.name else []
    must += [f"lie {place}"] if nearest.parent != needed.parent else []
    return str(nearest), f"it must {' and '.join(must)}"


def _likeness(path: PurePosixPath, needed: PurePosixPath) -> float:
    """Return how alike two names are, from 0 to 1; with another suffix only if one was added to the right one."""
    name, right = _plain(path), _plain(needed)
    if name.startswith(f"{right}."):  # utils.py.txt, as editors and mail programs save it
        return 1.0
    if path.suffix.casefold() != needed.suffix.casefold():
        return 0.0
    return SequenceMatcher(None, name.translate(_SEPARATORS), right.translate(_SEPARATORS)).ratio()


def _plain(path: PurePosixPath) -> str:
    """A file's name in small letters, without what makes a copy's name another one."""
    return _COPY.sub("", path.stem.casefold()) + path.suffix.casefold()
