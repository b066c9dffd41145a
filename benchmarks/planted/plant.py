"""Makes a course of its own, and submissions that are as fast as they are told to be."""

from __future__ import annotations

import json
import shutil
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
NEEDS_GPU = "    devices: {gpu: 1}\n"
PROCESSES = 3
"""Two processes are not equally quick, by some per cent, and the slowest of so many tells what to expect."""
HEADROOM = 1.05
"""What the loop must reach is so much more than what it takes: then every process reaches it."""
SMALL, HOMEWORK = "small_matrices", "homework_matrices"
PROBED_SPINS = 20_000


class NoRoom(SystemExit):
    """The quick function takes too long on this machine for what is to be planted."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Took:
    """Medians over some calls."""

    wall_s: float
    cpu_s: float
    """Of the whole process."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Known:
    """What a program is told of the time that it takes."""

    fast_s: float = 0.0
    """The least that `max_gpu` takes, by the clock on the wall."""
    slow_s: float = 0.0
    """The least that `max_cpu` computes, in CPU time."""
    spins: int = 0
    """How long the kernel computes in vain."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Bed:
    """Where programs are planted: a course in a folder of its own, with or without a GPU."""

    folder: Path
    gpu: bool

    def lay_out(self) -> None:
        """Write the course; where there is no GPU, its items need none."""
        shutil.copytree(HERE / "course", self.course)
        # the student's user must be able to look into what a temporary folder holds
        for folder in (self.folder, self.course):
            folder.chmod(0o755)
        if not self.gpu:
            for rubric in (self.course / "rubrics").iterdir():
                rubric.write_text(rubric.read_text().replace(NEEDS_GPU, ""))
        self._write(self.reference, Known())

    @property
    def course(self) -> Path:
        """The folder for `--course`."""
        return self.folder / "course"

    @property
    def reference(self) -> Path:
        """The same program, as quick as it can be."""
        return self.course / "assignments" / "planted" / "reference"

    def plant(self, name: str, known: Known) -> Path:
        """A submission that takes as long as it is told."""
        return self._write(self.folder / name, known)

    def plant_reference(self, slow_s: float) -> None:
        """Have the reference's loop take as long as those of the submissions."""
        self._write(self.reference, Known(slow_s=slow_s))

    def _write(self, folder: Path, known: Known) -> Path:
        folder.mkdir(mode=0o755, exist_ok=True)
        shutil.copyfile(HERE / "programs" / "max_functions.py", folder / "max_functions.py")
        shutil.copyfile(HERE / "programs" / f"{'gpu' if self.gpu else 'cpu'}.py", folder / "quick.py")
        told = {"FAST_S": known.fast_s, "SLOW_S": known.slow_s, "SPINS": known.spins}
        (folder / "known.py").write_text("".join(f"{name} = {value!r}\n" for name, value in told.items()))
        return folder

    def quiet(self, folder: Path, family: str, calls: int, functions: Sequence[str]) -> Mapping[str, Took]:
        """What calls of functions take, in a process of its own."""
        argv = [sys.executable, str(HERE / "quiet.py"), str(self.course), str(folder), family, str(calls)]
        done = subprocess.run([*argv, *functions], check=True, stdout=subprocess.PIPE, text=True)
        return {name: Took(**took) for name, took in json.loads(done.stdout).items()}


def planted(bed: Bed, ratios: Sequence[float]) -> Mapping[float, Path]:
    """A submission for each ratio, after the loop was timed here.

    Raises:
        NoRoom: the quick function alone takes longer than the largest ratio allows.
    """
    both = ("max_cpu", "max_gpu")
    seen = [bed.quiet(bed.reference, SMALL, 15, both) for _ in range(PROCESSES)]
    slow_s = HEADROOM * max(one["max_cpu"].cpu_s for one in seen)
    # the first process on a fresh machine may be slow for all its life
    bare_s, room_s = min(one["max_gpu"].wall_s for one in seen), slow_s / max(ratios)
    if bare_s > 0.9 * room_s:
        told = f"the quick function takes {bare_s * 1e3:.2f} ms here, of {room_s * 1e3:.2f} ms"
        raise NoRoom(f"a ratio of {max(ratios):g}: {told}; plant smaller ones")
    bed.plant_reference(slow_s)
    return {
        ratio: bed.plant(f"ratio_{ratio:g}".replace(".", "_"), Known(fast_s=slow_s / ratio, slow_s=slow_s))
        for ratio in ratios
    }


def truth(bed: Bed, submission: Path) -> Mapping[str, float]:
    """What a planted program really takes, by the clock on the wall and without grader."""
    seen = bed.quiet(submission, SMALL, 15, ("max_cpu", "max_gpu"))
    slow_s, fast_s = seen["max_cpu"].wall_s, seen["max_gpu"].wall_s
    return {"slow_s": slow_s, "fast_s": fast_s, "true_ratio": slow_s / fast_s}


def lasting(bed: Bed, lengths_ms: Sequence[float]) -> Mapping[float, Path]:
    """A submission for each length: a call of about so many milliseconds, or as short as it can be.

    On a GPU it is the kernel that takes longer; elsewhere the function waits.
    """
    if not bed.gpu:
        return {ms: bed.plant(f"call_{ms:g}", Known(fast_s=ms / 1e3)) for ms in lengths_ms}
    probes = [bed.plant(f"probe_{spins}", Known(spins=spins)) for spins in (0, PROBED_SPINS)]
    bare_s, longer_s = (bed.quiet(probe, HOMEWORK, 15, ("max_gpu",))["max_gpu"].wall_s for probe in probes)
    spin_s = max(1e-9, (longer_s - bare_s) / PROBED_SPINS)
    return {
        ms: bed.plant(f"call_{ms:g}", Known(spins=max(0, round((ms / 1e3 - bare_s) / spin_s))))
        for ms in lengths_ms
    }
