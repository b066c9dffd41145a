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
from grader.machine.mark import Holder, Mark

_POLL_S = 0.05
_LOOK_AGAIN_S = 0.005
"""Whoever asks who holds a lease locks it for some microseconds: one refusal is not yet an answer."""

_NEXT = ".next"
_MARK = ".quarantined"


class Lease:
    """Some names that are ours until this is closed or the process ends."""

    def __init__(self, locks: Mapping[str, Lock]) -> None:
        self._locks = dict(locks)
        self.names = tuple(locks)

    def close(self) -> None:
        """Let go; a second time does nothing."""
        while self._locks:
            self._locks.popitem()[1].close()

    def __enter__(self) -> Lease:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()


class Leases:
    """The leases of this machine.

    Who takes several kinds one after the other (GPUs and cores) takes them in the same order everywhere:
    otherwise two may each wait for what the other holds.
    """

    def __init__(self, folder: str | os.PathLike[str] | None = None) -> None:
        """Use `folder`, or the one that everybody on this machine uses (`lockfolder.default_folder`)."""
        self._folder = LockFolder(folder)

    @property
    def folder(self) -> Path:
        """Where they are: programs that share it share the leases."""
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
    ) -> Lease:
        """Lease `count` of the candidates, those named first if they are free: all of them or none.

        Nobody waits for ever behind a stream of smaller wishes: one waiter at a time, the next in line, keeps
        what it has got while it waits for the rest; everybody else takes all or nothing.

        Args:
            candidates: names of files, such as `gpu-GPU-4e…` or `core-3`.
            count: how many of them.
            wait_s: how long to wait until so many are free, in seconds.
            what: what they are for, said to those who wait for us.
            quarantined: whether those in quarantine may be taken as well.
            waiting: is called once if we have to wait, with a sentence on who holds what.

        Raises:
            NotObservedError: they were not free in time, with who holds them; there are too few, with
                what is in quarantine; or the folder cannot be used.
        """
        ends = time.monotonic() + wait_s
        fit = (lambda _: True) if quarantined else (lambda name: not self.quarantined(name))
        with (
            self._folder.opened() as folder,
            _Attempt(folder, candidates, count, Holder.us(what), fit) as attempt,
        ):
            while not attempt.succeeds():
                if sum(map(fit, candidates)) < count:
                    raise NotObservedError(self._too_few(candidates, count))
                left_s = ends - time.monotonic()
                if left_s <= 0:
                    who = self._who(attempt.missing)
                    raise NotObservedError(f"leases: {who}; waited {wait_s:g} s; try again later")
                if waiting:
                    waiting(f"waiting: {self._who(attempt.missing)}")
                    waiting = None
                time.sleep(min(_POLL_S, left_s))
            return attempt.lease()

    def held(self) -> Mapping[str, Holder]:
        """Who holds what at present, our own leases included; empty if nobody ever leased here."""
        if not self._folder.exists():
            return {}
        with self._folder.opened() as folder:
            names = [name for name in folder.names() if not name.startswith(".") and not name.endswith(_MARK)]
            return {name: Holder.read(folder.read(name)) for name in names if folder.locked(name)}

    def quarantine(self, name: str, why: str) -> None:
        """Let nobody lease it until it is released or the machine starts anew."""
        with self._folder.opened() as folder:
            folder.write(name + _MARK, Mark.us(why).text())

    def quarantined(self, name: str) -> str:
        """Why nobody may lease it, in one line; empty if anybody may."""
        if not self._folder.exists():
            return ""
        with self._folder.opened() as folder:
            return Mark.reason(folder.read(name + _MARK))

    def release(self, name: str) -> None:
        """Lift a quarantine, whoever imposed it."""
        if self.quarantined(name):
            with self._folder.opened() as folder:
                folder.write(name + _MARK, "")

    def _who(self, names: Sequence[str]) -> str:
        held = self.held()
        holders = [f"{name} is held by {held[name]}" for name in names if name in held]
        return "; ".join(holders) or f"{', '.join(names)}: not free together"

    def _too_few(self, candidates: Sequence[str], count: int) -> str:
        reasons = {name: self.quarantined(name) for name in candidates}
        out = "".join(f"; {name} is in quarantine: {why}" for name, why in reasons.items() if why)
        advice = "; grader doctor --probe looks whether it is well again" if out else ""
        return f"leases: {count} needed, {len(candidates)} there{out}{advice}"


class _Attempt:
    """One wish on its way: what it has got so far, and whether it is the next in line."""

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
        """Hand over what we have got."""
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
