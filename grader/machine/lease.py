"""Exclusive leases of devices and cores between all programs of one machine, whoever runs them.

A lease is a lock (`flock`) on a file with the device's name. The kernel takes it back when its holder dies,
however it dies. Programs that do not see the same folder (containers) do not see each other's leases.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path

from grader.errors import NotObservedError
from grader.machine.lockfolder import Lock, LockFolder, OpenFolder
from grader.machine.notes import Holder, QuarantineNote

_POLL_S = 0.05
_LOOK_EVERY_S = 1.0
"""Seconds between two queries for holders of whom something is to be said."""
_LOOK_AGAIN_S = 0.005
"""Seconds before a second try: a query for the holder locks the file for some microseconds."""

_NEXT = ".next"
_MARK = ".quarantined"


class Lease:
    """Leased names, until this is closed or the process ends."""

    def __init__(self, locks: Mapping[str, Lock], *, shared: bool = False) -> None:
        """Hold locks; with `shared` another process has their descriptors as well."""
        self._locks = dict(locks)
        self._shared = shared
        self.names = tuple(locks)

    def share(self) -> tuple[int, ...]:
        """Return the descriptors of the locks, to be sent to another process by SCM_RIGHTS.

        An flock belongs to the open file: the lease lasts until every process that has it closes it.
        """
        self._shared = True
        return tuple(lock.fileno() for lock in self._locks.values())

    @classmethod
    def received(cls, descriptors: Sequence[int]) -> Lease:
        """Take part in the lease that another process shares."""
        locks = {str(number): Lock(number, writable=False) for number in descriptors}
        return cls(locks, shared=True)

    def close(self) -> None:
        """Release the lease, or our part of it; a second call does nothing."""
        while self._locks:
            lock = self._locks.popitem()[1]
            if self._shared:
                lock.forget()
            else:
                lock.close()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Leases:
    """The leases of this machine.

    Take several kinds (GPUs, then cores) in the same order everywhere, or two programs may deadlock.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Use `folder`, or the machine-wide one (`lockfolder.default_folder`)."""
        self._folder = LockFolder(folder)

    @property
    def folder(self) -> Path:
        """The folder of the lock files: programs that share it share the leases."""
        return self._folder.path

    def take(
        self,
        candidates: Sequence[str],
        count: int,
        wait_s: float,
        what: str,
        *,
        quarantined: bool = False,
        waiting: Callable[[str], None] | None = None,
        ignore: Callable[[Holder], bool] = lambda _: False,
    ) -> Lease:
        """Lease `count` of the candidates, those named first if they are free: all of them or none.

        Requests for many are not starved by smaller ones: one waiter at a time, the next in line, keeps
        partial leases while it waits for the rest; all others take all or nothing.

        Args:
            candidates: names of files, such as `gpu-GPU-4e…` or `core-3`.
            count: how many of them.
            wait_s: how long to wait until so many are free, in seconds.
            what: what they are for, said to those who wait for us.
            quarantined: whether those in quarantine may be taken as well.
            waiting: is called once if we have to wait, with a sentence on who holds what.
            ignore: tells of which holders nothing is said; while only they hold what is missing, the wait
                does not count.

        Raises:
            NotObservedError: they were not free in time, with who holds them; there are too few, with
                what is in quarantine; or the folder cannot be used.
        """
        ends = time.monotonic() + wait_s
        look_at = 0.0
        fit = (lambda _: True) if quarantined else (lambda name: not self.quarantined(name))
        with (
            self._folder.opened() as folder,
            _Attempt(folder, candidates, count, Holder.us(what), fit) as attempt,
        ):
            while not attempt.succeeds():
                if sum(map(fit, candidates)) < count:
                    raise NotObservedError(self._too_few(candidates, count))
                now = time.monotonic()
                if now >= ends or (waiting and now >= look_at):
                    look_at = now + _LOOK_EVERY_S
                    who = self._who(attempt.missing, ignore)
                    if who and now >= ends:
                        if attempt.succeeds():  # who had it may have let go since we tried
                            break
                        raise NotObservedError(f"leases: {who}; waited {wait_s:g} s; try again later")
                    if not who:
                        ends = now + wait_s
                    elif waiting:
                        waiting(who)
                        waiting = None
                time.sleep(min(_POLL_S, max(0.0, ends - now)))
            return attempt.lease()

    def objection(self) -> tuple[str, str]:
        """Return why this user can take no lease here, or others cannot, and what helps; empty if all can.

        Nothing is made or locked.
        """
        return self._folder.objection()

    def active(self) -> Mapping[str, Holder]:
        """Return the holder of each active lease, our own included; empty if the folder does not exist."""
        if not self._folder.exists():
            return {}
        with self._folder.opened() as folder:
            names = [name for name in folder.names() if not name.startswith(".") and not name.endswith(_MARK)]
            return {name: Holder.read(folder.read(name)) for name in names if folder.locked(name)}

    def quarantine(self, name: str, why: str) -> None:
        """Forbid leases of a name until it is released or the machine restarts."""
        with self._folder.opened() as folder:
            folder.write(name + _MARK, QuarantineNote.us(why).text())

    def quarantined(self, name: str) -> str:
        """Return the reason for a quarantine in one line; empty if there is none."""
        if not self._folder.exists():
            return ""
        with self._folder.opened() as folder:
            return QuarantineNote.reason(folder.read(name + _MARK))

    def release(self, name: str) -> None:
        """Lift a quarantine."""
        if self.quarantined(name):
            with self._folder.opened() as folder:
                folder.write(name + _MARK, "")

    def _who(self, names: Sequence[str], ignore: Callable[[Holder], bool]) -> str:
        """Say who holds these names; empty if only holders to ignore do."""
        active = self.active()
        holders = {name: active[name] for name in names if name in active}
        if not holders:
            return f"{', '.join(names)}: not free together"
        return "; ".join(
            f"{name} is held by {holder}" for name, holder in holders.items() if not ignore(holder)
        )

    def _too_few(self, candidates: Sequence[str], count: int) -> str:
        reasons = {name: self.quarantined(name) for name in candidates}
        out = "".join(f"; {name} is in quarantine: {why}" for name, why in reasons.items() if why)
        advice = "; grader doctor --probe looks whether it is well again" if out else ""
        return f"leases: {count} needed, {len(candidates)} there{out}{advice}"


class _Attempt:
    """One pending request: the locks it has, and whether it is the next in line."""

    def __init__(
        self,
        folder: OpenFolder,
        names: Sequence[str],
        count: int,
        holder: Holder,
        fit: Callable[[str], bool],
    ) -> None:
        self._folder, self._names, self._count, self._holder, self._fit = folder, names, count, holder, fit
        self._got: dict[str, Lock] = {}
        self._next: Lock | None = None

    @property
    def missing(self) -> list[str]:
        return [name for name in self._names if name not in self._got]

    def succeeds(self) -> bool:
        """Try once, twice if we have just become the next in line."""
        if not self._tried() and not self._next:
            self._let_go()
            self._next = self._folder.lock(_NEXT)
            if self._next:
                time.sleep(_LOOK_AGAIN_S)
                self._tried()
        return len(self._got) == self._count

    def _tried(self) -> bool:
        for name in self.missing:
            if len(self._got) < self._count and (lock := self._folder.lock(name)):
                if not self._fit(name):  # asked only now: the last holder may have found it broken
                    lock.close()
                    continue
                self._got[name] = lock
                lock.write(self._holder.text())
        return len(self._got) == self._count

    def lease(self) -> Lease:
        """Return the locks as a lease."""
        got, self._got = self._got, {}
        return Lease({name: got[name] for name in self._names if name in got})

    def _let_go(self) -> None:
        while self._got:
            self._got.popitem()[1].close()

    def __enter__(self) -> _Attempt:
        return self

    def __exit__(self, *_error: object) -> None:
        self._let_go()
        if self._next:
            self._next.close()
