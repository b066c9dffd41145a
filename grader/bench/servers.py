"""The subject servers of one exam, in the strongest sandbox that works on this machine."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path

from grader.bench.server import SubjectServer
from grader.contracts import Sandbox
from grader.errors import CourseError, NotObservedError
from grader.model.assignment import Limits


def preloads_of(tool: str) -> tuple[str, ...]:
    """What the server of one of our own tools imports: the tool, which a child could not find any more."""
    return (f"_grader_subject.tools.{tool}",)


class Servers:
    """Starts a server per set of preloads when it is first needed, or earlier by `warm_up`."""

    def __init__(
        self,
        sandboxes: Sequence[Sandbox],
        *,
        python: str,
        site: tuple[str, ...],
        workspaces: Mapping[str, Path],
        given: Path | None = None,
        limits: Limits,
    ) -> None:
        """`sandboxes` from the strongest on: the first that works is used for the whole exam."""
        self._sandboxes = list(sandboxes)
        self._python = python
        self._site = site
        self._workspaces = workspaces
        self._given = given
        self._limits = limits
        self._starting: dict[tuple[str, ...], SubjectServer] = {}
        self._serving: dict[tuple[str, ...], SubjectServer] = {}
        self._proven = False
        self.missing: list[str] = []
        """Why stronger layers were not reached."""

    @property
    def isolation(self) -> str:
        """The layer that is used, or that would be tried next."""
        return self._sandboxes[0].name if self._sandboxes else "none"

    def warm_up(self, preloads: tuple[str, ...]) -> None:
        """Begin to start a server, without waiting for it."""
        while self._sandboxes and preloads not in self._starting | self._serving:
            why = self._sandboxes[0].available()
            if not why:
                self._starting[preloads] = self._start(preloads)
                return
            self._give_up(why)

    @contextmanager
    def serving(self, preloads: tuple[str, ...]) -> Iterator[SubjectServer]:
        """A server that is ready.

        Raises:
            NotObservedError: no sandbox works here; with what is wrong with each.
            CourseError: a preload cannot be imported.
        """
        while preloads not in self._serving:
            self.warm_up(preloads)
            if preloads not in self._starting:
                raise NotObservedError("no sandbox works on this machine: " + "; ".join(self.missing))
            server = self._starting.pop(preloads)
            try:
                server.ready()
            except CourseError:
                self._proven = True
                raise
            except NotObservedError as error:
                if self._proven:  # the evidence says that this layer was reached: no other one for the rest
                    raise
                self._give_up(str(error))
            else:
                self._proven = True
                self._serving[preloads] = server
        server = self._serving[preloads]
        used_up = not server.shared  # what one check left there, the next one must not find
        if used_up:
            del self._serving[preloads]
        try:
            yield server
        except NotObservedError:  # it may be broken: the next check gets another one
            used_up = True
            raise
        finally:
            if used_up:
                if self._serving.get(preloads) is server:
                    del self._serving[preloads]
                server.close()

    def close(self) -> None:
        """End all of them, and every child that is left."""
        for server in (*self._starting.values(), *self._serving.values()):
            server.close()
        self._starting.clear()
        self._serving.clear()

    def _start(self, preloads: tuple[str, ...]) -> SubjectServer:
        return SubjectServer(
            self._sandboxes[0],
            python=self._python,
            site=self._site,
            preloads=preloads,
            workspaces=self._workspaces,
            given=self._given,
            limits=self._limits,
        )

    def _give_up(self, why: str) -> None:
        self.missing.append(why)
        del self._sandboxes[0]
        self.close()
