"""A context whose subjects are functions of the test's own process: no sandbox, the same promises."""

from __future__ import annotations

import traceback
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from grader.contracts.call import Call, InputCase, Replayed
from grader.harness.item_context import ItemContext
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.testing.contexts import Contexts

ENDS = (
    (TimeoutError, Outcome.TIMED_OUT),
    (MemoryError, Outcome.OUT_OF_MEMORY),
    (OSError, Outcome.NOT_OBSERVED),
)
RETURNED = Call(outcome=Outcome.OBSERVED, wall_s=0.25)


def changed(before: InputCase, after: InputCase) -> tuple[str, ...]:
    pairs = enumerate(zip(before.args, after.args, strict=True), start=1)
    return tuple(f"argument {number}" for number, (old, new) in pairs if not np.array_equal(old, new))


@dataclass
class InProcessSubject:
    program: Mapping[str, Callable[..., Any]]
    imported: Call
    alive: bool = True
    output: str = ""
    calls: int = 0

    def call(self, function: str, case: InputCase) -> Call:
        assert self.alive
        assert self.imported.outcome is Outcome.OBSERVED
        self.calls += 1
        self.output += f"{case.name}\n"
        if function not in self.program:
            return Call(outcome=Outcome.REFUSED, note=f"there is no function {function}")
        own = deepcopy(case)
        try:
            value = self.program[function](*own.args, **own.kwargs)
        except Exception as error:
            self.alive = False
            outcome = next((outcome for kind, outcome in ENDS if isinstance(error, kind)), Outcome.CRASHED)
            return Call(outcome=outcome, note=f"raised {error!r}", traceback=traceback.format_exc())
        return Call(outcome=Outcome.OBSERVED, value=value, wall_s=0.25, changed_inputs=changed(case, own))


@dataclass
class InProcessContext:
    program: Mapping[str, Callable[..., Any]]
    families: Mapping[str, tuple[InputCase, ...]]
    oracles: Mapping[str, Callable[..., Any]]
    imports: list[Call] = field(default_factory=list)
    """How the next imports go; once used up, imports succeed."""
    subjects: list[InProcessSubject] = field(default_factory=list)
    item: str = "utils.f"
    seed: str = "c0ffee"
    limits: Limits = field(default_factory=Limits)
    simulated: bool = False
    devices: int = 0

    def inputs(self, family: str) -> tuple[InputCase, ...]:
        return self.families[family]

    def expected(self, oracle: str) -> Callable[..., Any]:
        return self.oracles[oracle]

    def by_reference(self, module: str, calls: Sequence[Call]) -> Replayed:
        """Yield nothing: there is none."""
        yield from ()

    @contextmanager
    def subject(self, module: str) -> Iterator[InProcessSubject]:
        assert module == "utils"
        imported = self.imports.pop(0) if self.imports else RETURNED
        self.subjects.append(InProcessSubject(self.program, imported))
        yield self.subjects[-1]


@pytest.fixture
def make_context() -> Callable[..., InProcessContext]:
    """A context for the function `f` of `utils.py`: `make_context(f, {"case": args, …}, oracle=…)`."""

    def make(
        program: Callable[..., Any] | None,
        cases: Mapping[str, tuple[Any, ...]],
        *,
        imports: tuple[Call, ...] = (),
        **oracles: Callable[..., Any],
    ) -> InProcessContext:
        family = tuple(InputCase(name=name, args=args) for name, args in cases.items())
        functions = {} if program is None else {"f": program}
        return InProcessContext(functions, {"family": family}, oracles, list(imports))

    return make


@pytest.fixture(scope="session")
def real_contexts(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Contexts]:
    """What the tests of this worker share."""
    contexts = Contexts(tmp_path_factory.mktemp("context"), [BubblewrapSandbox()])
    yield contexts
    contexts.close()


@pytest.fixture
def real_context(
    real_contexts: Contexts, tmp_path: Path
) -> Iterator[Callable[[Mapping[str, str], Mapping[str, str]], ItemContext]]:
    """Makes a context, once in a test, for a submission and an assignment as files and their text."""
    if missing := BubblewrapSandbox().available():
        pytest.skip(missing)
    yield partial(real_contexts.make, tmp_path)
    real_contexts.end()
