"""Which devices do the work of a call, and how much of it each of them does."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal

from grader.checks.by_hand import award_given
from grader.checks.calls import cases_of, failed_observation
from grader.checks.drawings.gpu import gpu_drawings
from grader.checks.drawings.model_parts import parts_table
from grader.checks.exchanged import bytes_of
from grader.checks.watched import (
    NOTE,
    WATCHED,
    off_the_device,
    right,
    unrecorded,
    watched_of,
    where_torch_computed,
    with_arrays_of,
)
from grader.config.codec import to_plain
from grader.contracts.check import CheckKind
from grader.errors import CourseError, UnjudgedError
from grader.harness.tolerance import Tolerances
from grader.model.observation import Observation, Outcome, Quantity
from grader.model.options import FunctionName, InputsName, OracleName, option, refuse
from grader.model.score import Award
from grader.model.trace import DeviceWork, Proven, Trace, Watched, shares_of, works_of

if TYPE_CHECKING:
    from grader.contracts.call import Call, InputCase
    from grader.contracts.context import CheckContext
    from grader.model.drawing import Drawing

TOLD = 4
"""How many parts a sentence names."""
TEXT_AT_MOST = 200
"""Characters of a part's name, and of its device's."""
_DRAW, _OTHER_DRAW = 1_000_004, 1_000_005
"""Numbers of draws that no round of timed calls reaches."""
_CPU = "cpu"
RECEIVED = "received"
"""The fact with the least, the usual and the most bytes that each device may receive."""

HINTS = {
    "idle": "An operation runs where its operands lie: print the device of each of them.",
    "cpu": "A module lies on the CPU until it is moved: print the device of each of its parameters.",
    "received": "A layer is computed where its weights lie: move what it gets to them, and not them to it.",
    "share": "Compare what the devices have to do with what they could do at the same time.",
}
"""What to try next, by what is wrong."""


class Placement(CheckKind):
    """Call a function under observation and hold what each of the item's devices did against the rubric.

    An observer's records tell of every kernel on which device it ran and how long, of every copy from where
    to where it went, and how much memory of each device was taken. What the function's own process says of
    where the parts of a model lie (`parts`) comes on top of them: a part on the CPU leaves no record. On a
    record that is not complete nothing is decided.

    A program can keep a device busy with work that is of no use: ask for the result as well, here with
    `expected` or by an item that this one needs. With `received` it cannot say that parts lie elsewhere than
    it computes them: weights that the call is given must come to the device that is said to hold them, and
    nothing as large may come to another one.

    With `made_on_gpu` it is called once more, on other inputs, and what torch copies of these to the devices
    is exchanged for the first call's: the result must be that of those. One that is right for the inputs
    that the host has was computed there; where it is not clear a person looks.

    The item names its devices, as in `devices: {gpu: 2}`; where the machine has fewer it stays open.
    """

    name: ClassVar[str] = "placement"
    by_hand: ClassVar[bool] = True

    @dataclass(frozen=True, slots=True, kw_only=True)
    class Options:
        """The YAML keys."""

        of: FunctionName = option("The function to call, as module.function.")
        inputs: InputsName = option("The family of inputs; its last case, drawn anew, is called.")
        simulated_inputs: InputsName = option(
            "The family in its place where a simulator stands in for the GPUs; left out, none does.",
            default=InputsName(""),
        )
        expected: OracleName = option(
            "The oracle that the result must agree with; left out, any result will do.",
            default=OracleName(""),
        )
        tolerance: Tolerances = option(
            "How far floats may be from the expected ones, by dtype; integers are exact.",
            default=Tolerances(),
        )
        prepare: FunctionName = option(
            "A function of the same file that is called before, without arguments, and is in no record.",
            default=FunctionName(""),
        )
        parts: str = option(
            "The key of the returned mapping that holds the device of each part, as in {'fc': 'cuda:1'}; "
            "the rest of the mapping is the result.",
            default="",
        )
        compared: tuple[str, ...] = option(
            "The keys of the returned mapping that are the result; left out, all but that of the parts.",
            default=(),
        )
        received: OracleName = option(
            "The oracle that gives for each device, as in {'cuda:1': [100, 110, 200]}, the bytes that must "
            "come to it, more than which is flagged, and more than which loses, from the parts and the "
            "arguments of the case; left out, any number will do.",
            default=OracleName(""),
        )
        share_at_least: float = option(
            "The share of all kernels' time that each device must have.", judges=True, default=0.1, above=0
        )
        kernels_at_least: int = option(
            "How many kernels each device must run.", judges=True, default=1, above=0
        )
        on_cpu: Literal["refused", "allowed"] = option(
            "Whether a part may lie on the CPU.", judges=True, default="refused"
        )
        made_on_gpu: bool = option(
            "Whether the result must be that of other inputs if torch copies those to the devices.",
            default=False,
        )

        def __post_init__(self) -> None:
            """Refuse what no program can reach."""
            problems = ["share_at_least: is a share, between 0 and 1"] if self.share_at_least > 1 else []
            if self.made_on_gpu and not self.expected:
                problems.append("made_on_gpu needs expected: an oracle")
            if self.received and not self.parts:
                problems.append("received: follows from the parts; name their key as parts")
            refuse(problems, self)

    def gpus_needed(self, options: Options) -> int:
        """Return 1, whose work is recorded."""
        del options
        return 1

    def observe(self, options: Options, context: CheckContext) -> Observation:
        """Call once under observation."""
        from grader.contracts.call import InputCase
        from grader.harness.compare import compare

        module, _, function = options.of.rpartition(".")
        oracle = context.expected(options.expected) if options.expected else None
        family = options.simulated_inputs if context.simulated else options.inputs
        case = cases_of(context, family, draw=_DRAW)[-1]
        proof: tuple[Proven | None, str] = None, ""
        with context.subject(module, observed=True) as subject:
            call = subject.imported
            if call.outcome is Outcome.OBSERVED and options.prepare:
                call = subject.call(
                    options.prepare.rpartition(".")[2], InputCase(name="before the call", args=())
                )
            if call.outcome is Outcome.OBSERVED:
                call = subject.call(function, case, proof=NOTE)
            if call.outcome is Outcome.OBSERVED and oracle is not None and options.made_on_gpu:
                other = with_arrays_of(cases_of(context, family, draw=_OTHER_DRAW)[-1], case)
                proof = _where(subject.call(function, other, proof="exchange"), case, other, oracle, options)
            output = subject.output
        if call.outcome is Outcome.OBSERVED and not _names_devices(call.value, options):
            # The driver does, and what comes out of the program's process is the program's doing.
            note = f"{function}(): gives no mapping with the devices of its parts under {options.parts!r}"
            call = replace(call, outcome=Outcome.REFUSED, note=note)
        if call.outcome is not Outcome.OBSERVED:
            return failed_observation(context, call, options.of, output)
        result, parts = _apart(call.value, options)
        compared = None
        if oracle is not None:
            compared = compare(result, right(oracle, case), options.tolerance)
        limits = {}
        if options.received:
            oracle_of_parts = context.expected(options.received)
            try:
                limits = oracle_of_parts(parts, *case.args, **case.kwargs)
            except CourseError as error:  # the program says what the parts are
                raise UnjudgedError(*error.problems) from None
        trace = call.trace or Trace(source="none", complete=False, problem="no observer answered")
        watched = Watched(
            trace=trace,
            wrong=compared.note if compared else "",
            symptom=compared.symptom if compared else None,
            proof=proof[0],
            unproven=proof[1],
        )
        return Observation(
            item=context.item,
            outcome=Outcome.OBSERVED,
            quantities={"wall_s": Quantity(value=call.wall_s, unit="s"), **dict(_quantities(trace))},
            facts={WATCHED: to_plain(watched), "devices": context.devices, "parts": parts, RECEIVED: limits},
            output=output,
            seed=context.seed,
        )

    def award(self, options: Options, observation: Observation, related: Mapping[str, Observation]) -> Award:
        """All points if every device works, and nothing else does; undecided on an incomplete record."""
        del related
        if by_hand := award_given(observation):
            return by_hand
        watched = watched_of(observation.facts)
        limits: Mapping[str, Sequence[int]] = observation.facts.get(RECEIVED, {})
        if watched is None or not watched.trace.complete or (limits and "transfers" in watched.trace.unseen):
            return unrecorded("what the devices did could not be observed", watched)
        if watched.wrong:
            return Award(fraction=0.0, reason=f"the result of the observed call is wrong: {watched.wrong}")
        parts: Mapping[str, str] = observation.facts["parts"]
        count = int(observation.facts["devices"])
        works = works_of(watched.trace, count)
        for kind, problem in (
            ("cpu", _on_cpu(parts) if options.on_cpu == "refused" else ""),
            ("idle", _idle(works)),
            ("idle", _without_part(parts, count)),
            ("share", _too_little(works, options)),
            ("received", _sent_otherwise(watched.trace, limits)),
        ):
            if problem:
                return Award(fraction=0.0, reason=problem, hint=HINTS[kind])
        if award := off_the_device(watched):
            return award
        flags = (*_contradicted(parts, works), *_unusual(watched.trace, limits))
        return Award(fraction=1.0, reason=_shares_in_words(works), flags=flags)

    def show(self, options: Options, observation: Observation) -> Iterator[Drawing]:
        """Draw what each device did, and where the parts of the model lie."""
        del options
        yield from gpu_drawings(observation)
        yield from parts_table(observation.facts.get("parts", {}))


def _where(
    call: Call, noted: InputCase, exchanged: InputCase, oracle: Callable[..., Any], options: Placement.Options
) -> tuple[Proven, str]:
    """Where the result of a call was made whose devices have the inputs of the noted one."""
    from grader.harness.compare import compare

    usable = call.outcome is Outcome.OBSERVED and _names_devices(call.value, options)
    result, _ = _apart(call.value, options) if usable else (None, {})
    not_noted, not_own = (
        compare(result, right(oracle, case), options.tolerance).note for case in (noted, exchanged)
    )
    inputs = bytes_of((*exchanged.args, *exchanged.kwargs.values()))
    return where_torch_computed(call, not_noted, not_own, inputs, bytes_of(result))


def _names_devices(value: Any, options: Placement.Options) -> bool:
    """Whether the driver names a device for each part, in texts that a person can read."""
    if not options.parts:
        return True
    parts = value.get(options.parts) if type(value) is dict else None
    return type(parts) is dict and all(
        type(text) is str and len(text) <= TEXT_AT_MOST for pair in parts.items() for text in pair
    )


def _apart(value: Any, options: Placement.Options) -> tuple[Any, Mapping[str, str]]:
    """The result, and the devices of its parts, which the course's own driver reports."""
    if not options.parts:
        return value, {}
    keys = options.compared or tuple(key for key in value if key != options.parts)
    return {key: value[key] for key in keys if key in value}, value[options.parts]


def _idle(works: Sequence[DeviceWork]) -> str:
    idle = [_name(work) for work in works if not work.kernels]
    if len(idle) == len(works):
        return "no kernel was launched on any GPU: the work was done on the CPU"
    others = "; ".join(f"{_name(work)} ran {_kernels(work)}" for work in works if work.kernels)
    return f"{_and(idle)} did nothing; {others}" if idle else ""


def _on_cpu(parts: Mapping[str, str]) -> str:
    on_cpu = [part for part, device in parts.items() if device.partition(":")[0] == _CPU]
    if not on_cpu:
        return ""
    return f"{_some(on_cpu)} {'lie' if len(on_cpu) > 1 else 'lies'} on the CPU; every part belongs on a GPU"


def _without_part(parts: Mapping[str, str], count: int) -> str:
    if not parts:
        return ""
    without = [f"cuda:{n}" for n in range(count) if f"cuda:{n}" not in parts.values()]
    return (
        f"{_and(without)} {'hold' if len(without) > 1 else 'holds'} no part of the model" if without else ""
    )


def _too_little(works: Sequence[DeviceWork], options: Placement.Options) -> str:
    for work, share in zip(works, shares_of(works), strict=True):
        if work.kernels < options.kernels_at_least:
            return f"{_name(work)} ran {_kernels(work)}; at least {options.kernels_at_least} are asked for"
        if share < options.share_at_least:
            return (
                f"{_name(work)} did {_percent(share)} of the work ({_kernels(work)}); "
                f"at least {options.share_at_least:.0%} is asked for"
            )
    return ""


def _sent_otherwise(trace: Trace, limits: Mapping[str, Sequence[int]]) -> str:
    """How the copies to a device contradict what is said to lie on it; empty if they do not."""
    for device, (least, usual, most) in limits.items():
        came = _came(trace, device)
        if came < least:
            return f"{device} was sent {came:,} bytes, and what is said to lie there has {least:,}"
        if came > most:
            return (
                f"{device} was sent {came:,} bytes, and what lies there or crosses into it has {usual:,}: it "
                "computes what is said to lie elsewhere"
            )
    return ""


def _unusual(trace: Trace, limits: Mapping[str, Sequence[int]]) -> tuple[str, ...]:
    """A sentence on each device that was sent more than what lies there and crosses into it."""
    more = {device: _came(trace, device) for device in limits}
    return tuple(
        f"sent_more: {device} was sent {came:,} bytes, and what lies there or crosses into it has "
        f"{limits[device][1]:,}"
        for device, came in more.items()
        if came > limits[device][1]
    )


def _came(trace: Trace, device: str) -> int:
    """The bytes that were copied to a device, from wherever."""
    return sum(copy.bytes for copy in trace.transfers if copy.target == _number(device))


def _number(device: str) -> int | None:
    """The number in `cuda:1`; None for the host."""
    kind, _, number = device.partition(":")
    return int(number) if kind == "cuda" and number.isdecimal() else None


def _contradicted(parts: Mapping[str, str], works: Sequence[DeviceWork]) -> tuple[str, ...]:
    """Flag parts that are reported to lie where nothing ran."""
    ran = {_name(work) for work in works}
    strange = [part for part, device in parts.items() if device != _CPU and device not in ran]
    return (f"parts_untold: {_some(strange)} are said to lie where no kernel ran",) if strange else ()


def _shares_in_words(works: Sequence[DeviceWork]) -> str:
    """`cuda:0 did 51 % of the work, cuda:1 did 49 %`."""
    shares = [f"{_name(w)} did {share:.0%}" for w, share in zip(works, shares_of(works), strict=True)]
    shares[0] += " of the work"
    return ", ".join(shares)


def _name(work: DeviceWork) -> str:
    return f"cuda:{work.device}"


def _kernels(work: DeviceWork) -> str:
    number = f"{work.kernels:,} kernel{'' if work.kernels == 1 else 's'}"
    if work.seconds is None:
        return number
    return f"{number}, " + (
        f"{work.seconds:.3g} s" if work.seconds >= 0.1 else f"{1e3 * work.seconds:.3g} ms"
    )


def _percent(share: float) -> str:
    """Never rounded to nothing."""
    return "less than 0.1%" if 0 < share < 1e-3 else f"{share:.1%}"


def _and(names: Sequence[str]) -> str:
    return " and ".join(filter(None, (", ".join(names[:-1]), *names[-1:])))


def _some(parts: Sequence[str]) -> str:
    return _and(parts) if len(parts) <= TOLD else f"{', '.join(parts[:TOLD])} and {len(parts) - TOLD} more"


def _quantities(trace: Trace) -> Iterator[tuple[str, Quantity]]:
    if not trace.complete:
        return
    for work in trace.devices:
        yield f"gpu_{work.device}_kernels", Quantity(value=work.kernels, unit="kernels")
        if work.seconds is not None:
            yield f"gpu_{work.device}_kernels_s", Quantity(value=work.seconds, unit="s")
        if work.peak_bytes is not None:
            yield f"gpu_{work.device}_peak_bytes", Quantity(value=work.peak_bytes, unit="bytes")
    for copy in trace.transfers:
        ends = ("host" if end is None else f"gpu_{end}" for end in (copy.source, copy.target))
        yield f"{'_to_'.join(ends)}_bytes", Quantity(value=copy.bytes, unit="bytes")
