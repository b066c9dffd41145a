"""The children of one exam: a fresh one for each item, or one that the items of a group share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

from grader.bench.bench import Call, InputCase, Subject
from grader.bench.child import Child
from grader.bench.servers import Servers
from grader.bench.subject import ChildSubject
from grader.errors import NotObservedError
from grader.model.assignment import Limits


class Children:
    """Hands out subjects. The items of a group pay for an import and a compilation once."""

    def __init__(self, servers: Servers, preloads: Mapping[str, tuple[str, ...]], limits: Limits) -> None:
        self.servers = servers
        self._preloads = preloads
        self._limits = limits
        self._shared: dict[tuple[str, str, str], tuple[ChildSubject, ExitStack]] = {}
        self._ahead: dict[tuple[str, tuple[str, ...]], Child] = {}
        """Forked while the item before was looked at, and given to the next one of its kind."""

    @contextmanager
    def subject(self, whose: str, module: str, group: str = "") -> Iterator[Subject]:
        """A child with `module` imported: the group's, if there is one and it still lives, or a fresh one."""
        if not group:
            with ExitStack() as resources:
                yield self._start(whose, module, resources)
            return
        key = (whose, module, group)
        if key in self._shared and not self._shared[key][0].alive:
            self._shared.pop(key)[1].close()
        if key in self._shared:
            shared = self._shared[key][0]
            yield Lent(shared, len(shared.output))
        else:
            resources = ExitStack()
            self._shared[key] = self._start(whose, module, resources), resources
            yield Lent(self._shared[key][0], 0)

    def end(self, group: str) -> None:
        """End what a group shares; its last item was looked at."""
        for key in [key for key in self._shared if key[2] == group]:
            self._shared.pop(key)[1].close()

    def close(self) -> None:
        """End all of them."""
        for whose, preloads in list(self._ahead):
            if child := self._waiting(whose, preloads):
                child.close()
        while self._shared:
            self._shared.popitem()[1][1].close()

    def _waiting(self, whose: str, preloads: tuple[str, ...]) -> Child | None:
        """The child that was forked ahead, if its server still serves."""
        child = self._ahead.pop((whose, preloads), None)
        if child is not None:
            try:
                child.ready()
            except NotObservedError:
                return None
        return child

    def _start(self, whose: str, module: str, resources: ExitStack) -> ChildSubject:
        preloads = self._preloads.get(module, ())
        server = resources.enter_context(self.servers.serving(preloads))
        child = self._waiting(whose, preloads) or Child(server, whose, self._limits)
        if server.shared:
            self._ahead[whose, preloads] = Child(server, whose, self._limits, ahead=True)
        return resources.enter_context(ChildSubject(child, module, self._limits))


@dataclass(frozen=True, slots=True)
class Lent:
    """A shared subject as one item sees it: with what was printed since."""

    subject: ChildSubject
    printed: int

    @property
    def imported(self) -> Call:
        """How the import went, when the first item of the group asked for it."""
        return self.subject.imported

    @property
    def alive(self) -> bool:
        """Whether another call can be made."""
        return self.subject.alive

    @property
    def output(self) -> str:
        """What the program printed since this item began."""
        return self.subject.output[self.printed :]

    def call(self, function: str, case: InputCase) -> Call:
        """Call a function of the imported file."""
        return self.subject.call(function, case)

    def again(self) -> Call:
        """Have the last result given once more."""
        return self.subject.again()
