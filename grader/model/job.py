"""The order of the host to the worker; it holds no points."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from typing import Any

from grader.model.assignment import Build, Limits
from grader.model.observation import Observation
from grader.model.submission import Submission

WORKER_LOG = "worker.log"
"""The name of the file with the error output of a submission's workers."""
DONE = "@done "
"""Prefix of the line in a worker's log with the status of a job; no id of an item begins so."""
WAITS = "@waits "
"""Prefix of lines in its log with the cause of a wait."""
BEGINS = "@begins "
"""Prefix of a line in its log with the item that it observes from now on."""
GRANTS = "@grants "
"""Prefix of a line in its log with the UUID of a GPU that another job may share now."""
LEASE_WAIT_S = 1800.0
"""Seconds that a run waits for devices, or cores, that others have leased."""
GPU = "gpu"
"""The kind of device that `Task.devices` counts."""


def is_of_kind(gpu: str, kinds: Collection[str]) -> bool:
    """Tell whether the name of a GPU has one of these parts; any has if there are none."""
    return not kinds or any(kind.lower() in gpu.lower() for kind in kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Task:
    """One item to observe."""

    item: str
    """The item's id."""
    check: str
    """The name of its check kind."""
    options: Mapping[str, Any]
    """The rubric's keys for the check, as plain JSON."""
    needs: tuple[str, ...] = ()
    """Items that must have passed before."""
    calls: tuple[str, ...] = ()
    """Files of the submission, without `.py`, whose functions it calls: their servers are started early."""
    tool: str = ""
    """The tool of ours that it runs over the submission; empty for none."""
    group: str = ""
    """Items of one group share a child of the student's program."""
    uses: tuple[str, ...] = ()
    """Items whose observations are judged together with its own."""
    devices: Mapping[str, int] = field(default_factory=dict)
    """How many of each kind it needs."""
    gpu_kinds: tuple[str, ...] = ()
    """Parts of the names of GPUs that it may be observed on; empty for any."""
    gpu_for_import: bool = False
    """Whether it needs its GPU only because an import of the submission asked for one."""
    built: bool = False
    """Whether it needs an item that builds the submission: its programs find what was made."""
    digest: str = ""
    """`sha256:…` over everything that decides what is measured."""

    def may_use(self, gpu: str) -> bool:
        """Tell whether it may be observed on a GPU of this name."""
        return is_of_kind(gpu, self.gpu_kinds)


@dataclass(frozen=True, slots=True, kw_only=True)
class Job:
    """One run: which submission, which items, under which limits."""

    id: str
    """The id of the run."""
    submission: Submission
    """The submission in the workspace."""
    course: str
    """The course folder, absolute."""
    assignment_folder: str
    """Absolute; holds `inputs.py` and `expected.py`."""
    workspace: str
    """The accepted files of the submission, absolute."""
    tasks: tuple[Task, ...]
    """In the order of the rubric, each after what it needs."""
    passed: Mapping[str, bool] = field(default_factory=dict)
    """Items that an earlier run observed: whether each earned everything."""
    earlier: Mapping[str, Observation] = field(default_factory=dict)
    """Observations of items that its tasks use, and that are not among them."""
    preloads: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Preloads of the assignment, by the name of a file's module."""
    accepts: tuple[str, ...] = ()
    """Files that the assignment accepts, as names or patterns."""
    requires: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """Files of the submission that a module needs, as the assignment says."""
    limits: Limits = field(default_factory=Limits)
    """Limits of the assignment."""
    build: Build | None = None
    """The build of the assignment."""
    seed: str = ""
    """128 secret bits in hexadecimal, fresh for each run."""
    seeds: Mapping[str, str] = field(default_factory=dict)
    """Seeds of earlier observations by item, to draw the same inputs again; others have one of this run."""
    min_isolation: str = ""
    """The weakest sandbox that may be used; empty for any with a strength."""
    cores: tuple[int, ...] = ()
    """Cores that timed items may lease; empty for all that the worker may use."""
    lease_wait_s: float = LEASE_WAIT_S
    """How long it waits for cores and devices that others have leased."""
    stage: str = ""
    """A folder for copies of submissions, absolute: the worker may keep its servers for the next one, and
    they see what is put there. Empty if it does one job."""
    shares_gpu: bool = False
    """Whether another job may use its GPU meanwhile; items that do not pass so are left without a record."""
    granted: tuple[str, ...] = ()
    """The UUIDs of GPUs that another job has leased and shares; empty if this one leases what it needs."""
