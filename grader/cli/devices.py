"""Lines of `grader doctor` on GPUs: properties, state, lease holder, health."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from grader.cli.doctor_line import DoctorLine
from grader.cuda.files import SHARED_NODES
from grader.cuda.gpus import Gpu, gpus, why_none
from grader.cuda.health import probe
from grader.cuda.state import GpuState, state
from grader.errors import NotObservedError
from grader.machine.lease import Leases

_ABOUT = "devices"
_PROBE = "grader doctor --probe"
_MIB, _GIB = 2**20, 2**30


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """One GPU with its state, lease and quarantine."""

    gpu: Gpu
    state: GpuState
    holder: str
    """The holder of its lease; empty if it is free."""
    quarantine: str
    """The reason for its quarantine; empty if there is none."""
    probed: bool = False
    """Whether it has just been probed: then an empty `quarantine` means that it is well."""


def cards(leases: Leases, *, probing: bool) -> tuple[Card, ...]:
    """Return the GPUs that we may use; `probing` runs a small program on each that is not leased."""
    visible = gpus()
    probed = {gpu.uuid for gpu in visible if probing and not gpu.mig and _probed(gpu, leases)}
    return tuple(_card(gpu, leases, gpu.uuid in probed) for gpu in visible)


def _card(gpu: Gpu, leases: Leases, probed: bool) -> Card:
    try:
        holder, quarantine = leases.active().get(gpu.lease, ""), leases.quarantined(gpu.lease)
    except NotObservedError:  # said once, of the folder
        holder = quarantine = ""
    return Card(gpu=gpu, state=state(gpu), holder=str(holder), quarantine=quarantine, probed=probed)


def _probed(gpu: Gpu, leases: Leases) -> bool:
    """Probe a GPU if it is free: quarantine it if it fails, release it if it passes."""
    try:
        lease = leases.take([gpu.lease], 1, 0, _PROBE, quarantined=True)
    except NotObservedError:
        return False
    with lease:
        if problem := probe(gpu):
            leases.quarantine(gpu.lease, problem)
        else:
            leases.release(gpu.lease)
    return True


def findings(visible: Sequence[Card], nodes: Sequence[str] = SHARED_NODES) -> Iterator[DoctorLine]:
    """Yield the lines on each GPU, or on why there is none."""
    for card in visible:
        name = f"GPU {card.gpu.index}"
        yield DoctorLine(about=_ABOUT, name=name, works=not card.gpu.mig, says=_described(card.gpu))
        yield DoctorLine(about=_ABOUT, name=f"{name} now", works=True, says=_faring(card.state))
        yield DoctorLine(
            about=_ABOUT,
            name=f"{name} lease",
            works=not card.quarantine,
            says=_lease(card),
            advice=f"{_PROBE}, which looks whether it is well again" if card.quarantine else "",
        )
    if not visible:
        advice = "items that need a GPU stay open here; grade them on a machine that has one"
        yield DoctorLine(about=_ABOUT, name="GPU", works=False, says=why_none(), advice=advice)
    elif missing := [node for node in nodes if not Path(node).exists()]:
        says = f"{', '.join(missing)}: not there yet"
        advice = f"any CUDA program as root makes them, such as {_PROBE}"
        yield DoctorLine(about=_ABOUT, name="device files", works=False, says=says, advice=advice)


def leased(leases: Leases) -> Iterator[DoctorLine]:
    """Yield the folder of leases, and the holder of each active one."""
    try:
        active = leases.active()
    except NotObservedError as error:
        yield DoctorLine(about="leases", name="folder", works=False, says=str(error))
        return
    why, advice = leases.objection()
    says = why or str(leases.folder)
    yield DoctorLine(about="leases", name="folder", works=not why, says=says, advice=advice)
    for name, holder in active.items():
        yield DoctorLine(about="leases", name=name, works=True, says=f"held by {holder}")


def _described(gpu: Gpu) -> str:
    capability, cuda = (".".join(map(str, version)) for version in (gpu.compute_capability, gpu.cuda))
    parts = (
        f"{gpu.name}, {gpu.memory_bytes / _GIB:.1f} GiB, compute capability {capability}",
        f"driver {gpu.driver or 'unknown'}, CUDA {cuda}",
        gpu.uuid,
        "divided (MIG), so that no program has it as a whole" if gpu.mig else "",
    )
    return ", ".join(filter(None, parts))


def _faring(now: GpuState) -> str:
    clock = f"{_or_unknown(now.sm_clock_mhz)} of {_or_unknown(now.sm_clock_max_mhz)} MHz"
    memory = f"memory {_or_unknown(now.memory_clock_mhz)} MHz"
    slowed = "unknown" if now.throttle is None else " and ".join(now.throttle) or "nothing"
    used = "unknown" if now.memory_used_bytes is None else f"{now.memory_used_bytes / _MIB:.0f} MiB"
    parts = (
        f"{clock}, {memory}, slowed by {slowed}",
        f"{_or_unknown(now.temperature_c)} °C" if now.temperature_c is not None else "",
        f"other programs: {_programs(now)}",
        f"memory in use: {used}",
        f"compute mode {now.compute_mode}" if now.compute_mode not in {None, "default"} else "",
        f"{now.ecc_errors} memory errors" if now.ecc_errors else "",
    )
    return ", ".join(filter(None, parts))


def _programs(now: GpuState) -> str:
    if now.processes is None:
        return "unknown"
    named = (f"{p.pid}{'' if p.bytes is None else f' with {p.bytes / _MIB:.0f} MiB'}" for p in now.processes)
    return " and ".join(named) or "none"


def _lease(card: Card) -> str:
    if card.quarantine:
        return f"in quarantine: {card.quarantine}"
    if card.holder:
        return f"held by {card.holder}"
    return "free, and a program ran on it as it must" if card.probed else "free"


def _or_unknown(number: int | None) -> str:
    return "unknown" if number is None else str(number)
