"""What came of building a submission."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from grader.harness.context import Call
from grader.harness.diagnoses import Diagnostic, diagnose
from grader.harness.server_spec import ServerSpec
from grader.model.assignment import Build
from grader.model.observation import Outcome

BUILT = "/built"
"""Where products are shown."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Built:
    """How it went, what was said, and where the products lie."""

    outcome: Outcome
    """`observed` if all products are there."""
    note: str = ""
    """Why they are not: one sentence, with the place where the compiler stumbled first."""
    diagnostics: tuple[Diagnostic, ...] = ()
    """What compilers and linker complained of; of the build without the header, if it needed one."""
    counts: Mapping[str, int] = field(default_factory=dict)
    """How many errors and warnings there were, those included that are not kept."""
    kernels: tuple[Mapping[str, Any], ...] = ()
    """Registers, stack, spills and static shared memory of each; see `grader.subject.tools.diagnostics`."""
    python_2: tuple[Mapping[str, Any], ...] = ()
    """Files of the submission that were written for Python 2: `file`, `line`, `message`."""
    replaced: tuple[str, ...] = ()
    """Files that were handed in, and that the course's own of other content took the place of."""
    output: str = ""
    """What was printed, head and tail."""
    wall_s: float = 0.0
    """How long it took when it was built."""
    sizes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of each product."""
    architecture: str = ""
    """For which; empty for the compiler's default."""
    simulated: bool = False
    """Whether its kernels run on the CPU."""
    compatibility: bool = False
    """Whether it took a header that gives back names which CUDA no longer has."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """What the programs say of themselves, by name."""
    variable: str = ""
    folder: str = ""
    """Where the products lie, outside; empty if there are none."""
    mounts: tuple[tuple[str, str], ...] = ()
    """What programs that load them must be shown beside."""

    @property
    def errors(self) -> tuple[Diagnostic, ...]:
        """What kept it from being built."""
        return tuple(one for one in self.diagnostics if one.severity == "error")

    def shown_to(self, setup: ServerSpec) -> ServerSpec:
        """The server whose programs find the products."""
        return replace(
            setup,
            mounts=(*setup.mounts, *self.mounts, (BUILT, self.folder)),
            environment=(*setup.environment, (self.variable, BUILT)),
        )


def take_answer(call: Call) -> tuple[dict[str, Any], dict[str, bytes]]:
    """What our tool told of a build, as JSON, and the products.

    Raises:
        RuntimeError: the tool failed: a bug of ours.
    """
    if call.outcome is not Outcome.OBSERVED:
        if call.traceback or call.outcome is Outcome.REFUSED:
            raise RuntimeError(f"tool build: {call.note}\n{call.traceback}")
        return {}, {}
    answer = dict(call.value)
    products = {path: content.tobytes() for path, content in answer.pop("products").items()}
    return {**answer, "sizes": {path: len(content) for path, content in products.items()}}, products


def read_built(answer: Mapping[str, Any], build: Build, call: Call | None = None) -> Built:
    """What it means; `call` is how the tool ended, if it did not end well."""
    if not answer:
        outcome = call.outcome if call else Outcome.NOT_BUILT
        if outcome is Outcome.CRASHED:
            outcome = Outcome.NOT_BUILT
        return Built(outcome=outcome, note=call.note.replace(_TOOLS_WORDS, "building it") if call else "")
    diagnostics = tuple(Diagnostic(**one) for one in answer["diagnostics"])
    built = Built(
        outcome=Outcome.OBSERVED,
        diagnostics=diagnostics,
        counts=answer["counts"],
        kernels=tuple(answer["kernels"]),
        python_2=tuple(answer["python_2"]),
        replaced=tuple(answer["replaced"]),
        output=answer["output"],
        wall_s=answer.get("wall_s", call.wall_s if call else 0.0),
        sizes=answer["sizes"],
        variable=build.variable,
    )
    program = build.command[0]
    if answer["status"] is None:
        note = f"{program} did not end within {build.wall_s:g} s"
        return replace(built, outcome=Outcome.TIMED_OUT, note=note)
    if answer["status"]:
        return replace(built, outcome=Outcome.NOT_BUILT, note=_first(built, program, answer["status"]))
    if answer["lacking"]:
        lacking = "; ".join(f"{path} {what}" for path, what in answer["lacking"].items())
        return replace(built, outcome=Outcome.NOT_BUILT, note=f"{program} ended well, but {lacking}")
    return built


_TOOLS_WORDS = "build: the program"


def _first(built: Built, program: str, status: int) -> str:
    """The first error, what is known of it, and how many more there are."""
    if not built.errors:
        last = built.output.strip().rpartition("\n")[2][:200]
        return f"{program} ended with status {status}" + (f": {last}" if last else "")
    first = built.errors[0]
    known = diagnose(first)
    more = built.counts["error"] - 1
    return (
        f"{first}"
        + (f" ({known.hint})" if known else "")
        + (f"; and {more} more {'error' if more == 1 else 'errors'}" if more > 0 else "")
    )
