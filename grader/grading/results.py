"""The results folder of one submission: who may write there, and how files get there whole."""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.config.evidence_file import EVIDENCE
from grader.config.problem import closest
from grader.errors import NotObservedError, UsageError
from grader.files import obstacle, write_whole
from grader.grading.rubric_of_class import SCORE
from grader.machine.passing import locked_folder, remove_abandoned
from grader.model.job import WORKER_LOG

FEEDBACK = "feedback/"
"""Where the student's files are: what a student may have, and nothing else."""
WORKSPACE = "workspace"
_PASSING = ".incoming-"


class Results:
    """`<out>/<assignment>/<student>/`."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    @property
    def evidence(self) -> Path:
        """The file of evidence, a line for each record."""
        return self.folder / EVIDENCE

    @property
    def workspace(self) -> Path:
        """The accepted files of the submission that was examined last."""
        return self.folder / WORKSPACE

    def write(self, name: str, text: str) -> Path:
        """Put a file there, whole or not at all."""
        path = self.folder / name
        try:
            path.parent.mkdir(exist_ok=True)
            write_whole(path, text)
        except OSError as error:
            raise obstacle(path, error, kind=NotObservedError) from None
        return path

    def adopt(self, workspace: Path) -> None:
        """Make a received workspace the one of this folder.

        Raises:
            NotObservedError: something else stands in its place.
        """
        try:
            if self.workspace.is_dir() and not self.workspace.is_symlink():  # `replace` refuses others
                shutil.rmtree(self.workspace)
            workspace.replace(self.workspace)
            workspace.parent.rmdir()  # now: whatever ends us during the run must not leave it
        except OSError as error:
            raise obstacle(self.workspace, error, kind=NotObservedError) from None

    def remove_leftovers(self) -> None:
        """Remove the files of workers that were killed: jobs, which hold seeds, and their last words."""
        for file in (*self.folder.glob("job-*.json"), self.folder / WORKER_LOG):
            with suppress(OSError):
                file.unlink(missing_ok=True)

    @contextmanager
    def locked(self) -> Iterator[None]:
        """Nobody else observes into this folder meanwhile; the lock ends with its holder, however that ends.

        Raises:
            NotObservedError: somebody else does.
        """
        try:
            self.folder.mkdir(parents=True, exist_ok=True)
            handle = os.open(self.folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        except OSError as error:
            raise obstacle(self.folder, error, kind=NotObservedError) from None
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            os.close(handle)
            raise NotObservedError(f"{self.folder}: another grader is at work here; wait for it") from None
        try:
            yield
        finally:
            os.close(handle)


@contextmanager
def incoming(out: Path) -> Iterator[Path]:
    """A place below `out` for a workspace whose owner is not known yet; what is left there is removed."""
    with passing(out) as place:
        yield place / WORKSPACE


@contextmanager
def passing(out: Path) -> Iterator[Path]:
    """A folder below `out` that is gone afterwards; of whoever was killed, `sweep` removes it.

    Raises:
        UsageError: it cannot be made.
        NotObservedError: the disk is full, or broken.
    """
    made: list[Path] = []
    try:
        made += (folder for folder in (out, *out.parents) if not folder.exists())
        place, handle = locked_folder(out, _PASSING)
    except OSError as error:
        _remove_empty(made)
        raise obstacle(f"--out {out}", error) from None
    try:
        yield place
    finally:
        shutil.rmtree(place, ignore_errors=True)
        os.close(handle)
        _remove_empty(made)  # an archive that was not accepted leaves nothing behind


def _remove_empty(folders: Sequence[Path]) -> None:
    """Remove folders, each before the one that it is in, up to the first that is in use."""
    for folder in folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return


def require_results(out: Path, where: str) -> None:
    """Check that a folder holds results; `where` is its name in an error.

    Raises:
        UsageError: there is no such folder, or there are none in it.
    """
    if any(out.glob(f"*/*/{EVIDENCE}")):
        return
    advice = "name the folder that grader run --out wrote"
    if not out.exists():
        neighbours = (other.name for other in out.parent.glob("*") if any(other.glob(f"*/*/{EVIDENCE}")))
        meant = closest(out.name, neighbours)
        advice = f"did you mean {out.with_name(meant)}?" if meant else "grade first, or name another"
        raise UsageError(f"{where}: there is no such results folder; {advice}")
    if not out.is_dir():
        raise UsageError(f"{where}: is no results folder; {advice}")
    around = out.absolute().parents
    if (out / EVIDENCE).is_file() and len(around) > 1:
        advice = f"did you mean {around[1]}?"
    elif any(out.glob(f"*/{EVIDENCE}")):
        advice = f"did you mean {around[0]}?"
    elif any(out.glob(f"*/*/{SCORE}")):
        raise UsageError(f"{where}: has scores, and {EVIDENCE} of none; grader run observes anew")
    raise UsageError(f"{where}: holds no results; {advice}")


def is_used(out: Path) -> bool:
    """Whether something is in a results folder already, which may not be there yet.

    Raises:
        UsageError: it is no folder, or cannot be looked at.
    """
    try:
        return any(out.iterdir())
    except FileNotFoundError:
        return False
    except OSError as error:
        raise obstacle(f"--out {out}", error, "looked at") from None


def sweep(out: Path) -> None:
    """Remove what is left below `out` of those who were killed."""
    remove_abandoned(out, _PASSING)
