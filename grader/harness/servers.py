"""The subject servers of one run, in the strongest sandbox that works on this machine."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from grader.contracts.sandbox import Sandbox
from grader.errors import CourseError, NotObservedError, PackageError, RootError
from grader.harness.dismissed import Dismissed
from grader.harness.server import SubjectServer
from grader.harness.server_spec import ServerSpec
from grader.model.assignment import Limits
from grader.model.evidence import NO_SANDBOX


class Servers:
    """Starts a server per set-up when it is first needed, or earlier by `warm_up`."""

    def __init__(  # noqa: PLR0913 - all that the servers of a run are started with, by name
        self,
        sandboxes: Sequence[Sandbox],
        *,
        python: str,
        site: tuple[str, ...],
        workspaces: Mapping[str, Path],
        course_files: Path | None = None,
        limits: Limits,
        least: str = "",
        as_root: bool = False,
    ) -> None:
        """`sandboxes` from the strongest on: the first that works is used for the whole run.

        `least` is the weakest one that was demanded, if any was: a weaker one may work on this machine.
        With `as_root` a program of a student runs as root, if no sandbox leaves it another user to be.
        """
        self._sandboxes = list(sandboxes)
        self.python = python
        """The interpreter, where it is inside as well."""
        self._site = site
        self._workspaces = workspaces
        self.within: dict[str, str] = {}
        """The part of a folder that is the workspace now, by the name under which a child asks for it."""
        self.course_files = course_files
        """That of the course's own files, if there are any."""
        self.dismissed = Dismissed()
        """Children that still end."""
        self._limits = limits
        self._usable = f"sandbox of {least} or stronger" if least else "sandbox"
        self._may_be_root = as_root
        self._only_as_root: list[Sandbox] = []
        """Those that were given up for no other reason."""
        self._as_root = False
        self._starting: dict[ServerSpec, SubjectServer] = {}
        self._serving: dict[ServerSpec, SubjectServer] = {}
        self._proven = False
        self.missing: list[str] = []
        """Why stronger layers were not reached."""

    @property
    def isolation(self) -> str:
        """The layer that is used, or that would be tried next."""
        return self._sandboxes[0].name if self._sandboxes else NO_SANDBOX

    @property
    def lends_devices(self) -> bool:
        """Whether that layer can show a program its devices, and no others.

        The driver talks to itself through sockets (seen with driver 580: without any, cuInit fails), and a
        layer without a room of its own can only close the network by refusing all of them.
        """
        return bool(self._sandboxes) and self._sandboxes[0].namespaced

    @property
    def has_loopback(self) -> bool:
        """Whether the programs of that layer can talk to each other over a network of their own."""
        return bool(self._sandboxes) and self._sandboxes[0].namespaced

    def folder(self, whose: str) -> Path:
        """The workspace of this name, outside."""
        return self._workspaces[whose] / self.within.get(whose, "")

    def warm_up(self, setup: ServerSpec) -> None:
        """Begin to start a server, without waiting for it."""
        with suppress(RootError):  # whoever wants it to serve hears of that
            self._begin(setup)

    def _begin(self, setup: ServerSpec) -> None:
        while self._sandboxes and setup not in self._starting | self._serving:
            why = self._sandboxes[0].available()
            if not why:
                try:
                    self._starting[setup] = self._start(setup)
                except RootError as error:
                    if self._proven:
                        raise
                    why = str(error)
                    self._only_as_root.append(self._sandboxes[0])
                else:
                    return
            self._give_up(why)

    @contextmanager
    def serving(self, setup: ServerSpec) -> Iterator[SubjectServer]:
        """A server that is ready.

        Raises:
            NotObservedError: no sandbox works here; with what is wrong with each.
            PackageError: a package that is preloaded is not installed here, or cannot be imported.
            CourseError: there is no module of the name of a preload.
        """
        while setup not in self._serving:
            self._begin(setup)
            if setup not in self._starting:
                why = "; ".join(self.missing)
                raise NotObservedError(f"no {self._usable} works on this machine: {why}")
            server = self._starting.pop(setup)
            try:
                server.ready()
            except (CourseError, PackageError):  # the sandbox works
                self._proven = True
                raise
            except NotObservedError as error:
                if self._proven:  # the evidence says that this layer was reached: no other one for the rest
                    raise
                self._give_up(str(error))
            else:
                self._proven = True
                self._serving[setup] = server
        server = self._serving[setup]
        used_up = not server.shared  # what one check left there, the next one must not find
        if used_up:
            del self._serving[setup]
        try:
            yield server
        except NotObservedError:  # it may be broken: the next check gets another one
            used_up = True
            raise
        finally:
            if used_up:
                if self._serving.get(setup) is server:
                    del self._serving[setup]
                server.close()

    def close(self) -> None:
        """End all of them, and every child that is left."""
        self.end_where(lambda setup: True)

    def end_where(self, applies: Callable[[ServerSpec], bool]) -> None:
        """End those with a set-up of this kind, and every child that is left of them."""
        for servers in (self._starting, self._serving):
            for setup in [setup for setup in servers if applies(setup)]:
                servers.pop(setup).close()

    def _start(self, setup: ServerSpec) -> SubjectServer:
        server = SubjectServer(
            self._sandboxes[0],
            python=self.python,
            site=self._site,
            setup=setup,
            workspaces=self._workspaces,
            course_files=self.course_files,
            limits=self._limits,
            as_root=self._as_root,
        )
        server.within = self.within
        server.dismissed = self.dismissed
        return server

    def _give_up(self, why: str) -> None:
        self.missing.append(why)
        del self._sandboxes[0]
        self.close()
        if self._may_be_root and not self._sandboxes:
            self._sandboxes, self._only_as_root, self._as_root = self._only_as_root, [], True
