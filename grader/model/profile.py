"""Profiles of whole programs: kernels, copies and calls of the CUDA API, each with its time."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileRow:
    """Everything of one name."""

    name: str
    count: int
    """How often it ran, or was called."""
    seconds: float
    """How long that took together."""
    device: int | None = None
    """The number of the device; None for calls, which the host makes."""
    bytes: int = 0
    """What was copied or set."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """One run of one program, of all its processes that were recorded."""

    program: str
    """Its command line."""
    wall_s: float
    devices: Mapping[int, str] = field(default_factory=dict)
    """The names of the machine's devices by number."""
    versions: Mapping[str, str] = field(default_factory=dict)
    """Versions of the libraries that it imported, as far as they are known."""
    kernels: tuple[ProfileRow, ...] = ()
    copies: tuple[ProfileRow, ...] = ()
    api: tuple[ProfileRow, ...] = ()
    """Calls by the program and its libraries; what the runtime asks of the driver is part of its call."""
    problem: str = ""
    """Why it may not be complete, as a sentence; empty if it is."""
    children: bool = True
    """Whether processes that it started are recorded too, as those of a program are, and of a script not."""


@dataclass(frozen=True, slots=True, kw_only=True)
class ProfileTable:
    """Rows of one device, or of the host, the longest first."""

    title: str
    noun: str
    """One of what is counted: a run, an operation, a call."""
    rows: tuple[ProfileRow, ...]

    @property
    def seconds(self) -> float:
        """The time of all rows together."""
        return sum(row.seconds for row in self.rows)

    @property
    def count(self) -> int:
        """The launches, copies or calls of all rows together."""
        return sum(row.count for row in self.rows)

    def shares(self) -> tuple[tuple[ProfileRow, float, float], ...]:
        """Return each row with its share of the time and the running sum of shares, 0…1."""
        whole, running, shares = self.seconds or 1.0, 0.0, []
        for row in self.rows:
            running += row.seconds
            shares.append((row, row.seconds / whole, running / whole))
        return tuple(shares)


def tables_of(profile: Profile) -> tuple[ProfileTable, ...]:
    """Return the kernels of each device, the copies of each device, and the calls of the host."""
    tables = []
    for what, noun, rows in (
        ("Kernels", "run", profile.kernels),
        ("Copies", "operation", profile.copies),
    ):
        for device in sorted({row.device for row in rows if row.device is not None}):
            name = f"cuda:{device}" + (f" ({profile.devices[device]})" if device in profile.devices else "")
            of_device = [row for row in rows if row.device == device]
            tables.append(ProfileTable(title=f"{what} on {name}", noun=noun, rows=longest_first(of_device)))
    if profile.api:
        tables.append(
            ProfileTable(title="API calls of the host", noun="call", rows=longest_first(profile.api))
        )
    return tuple(tables)


def longest_first(rows: Iterable[ProfileRow]) -> tuple[ProfileRow, ...]:
    """Return rows by their time, and those of the same time by name."""
    return tuple(sorted(rows, key=lambda row: (-row.seconds, row.name)))


def added(profiles: Sequence[Profile]) -> Profile:
    """Return the profile of a program that ran as several processes: the sums of theirs."""
    first = profiles[0]

    def summed(rows: Iterable[ProfileRow]) -> tuple[ProfileRow, ...]:
        sums: dict[tuple[int | None, str], ProfileRow] = {}
        for row in rows:
            key = (row.device, row.name)
            before = sums.get(key, ProfileRow(name=row.name, device=row.device, count=0, seconds=0.0))
            sums[key] = ProfileRow(
                name=row.name,
                device=row.device,
                count=before.count + row.count,
                seconds=before.seconds + row.seconds,
                bytes=before.bytes + row.bytes,
            )
        return longest_first(sums.values())

    return Profile(
        program=first.program,
        wall_s=max(profile.wall_s for profile in profiles),
        devices={number: name for profile in profiles for number, name in profile.devices.items()},
        versions={name: version for profile in profiles for name, version in profile.versions.items()},
        kernels=summed(row for profile in profiles for row in profile.kernels),
        copies=summed(row for profile in profiles for row in profile.copies),
        api=summed(row for profile in profiles for row in profile.api),
        problem=next((profile.problem for profile in profiles if profile.problem), ""),
    )
