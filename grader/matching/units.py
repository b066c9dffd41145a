"""Units of numbers in answers, and their conversion."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache

from grader.matching.passage import words_of
from grader.matching.terms import forms_of

_PREFIXES = {"k": ("kilo", 1), "m": ("mega", 2), "g": ("giga", 3), "t": ("tera", 4), "p": ("peta", 5)}
_TIMES = {
    1.0: "s sec secs second seconds sekunde sekunden seconde secondes segundo segundos 秒",
    1e-3: "ms msec msecs millisecond milliseconds millisekunde millisekunden 毫秒",
    1e-6: "us µs μs usec microsecond microseconds mikrosekunde mikrosekunden 微秒",
    1e-9: "ns nsec nanosecond nanoseconds nanosekunde nanosekunden 纳秒",
    60.0: "min mins minute minutes minuten minutos 分钟",
    3600.0: "h hr hrs hour hours stunde stunden heures horas 小时",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Unit:
    """A unit of a dimension."""

    dimension: str
    factors: tuple[float, ...]
    """How many basic units it is; several where writers disagree, as on the kilobyte."""


def _units() -> Iterator[tuple[str, Unit]]:
    for factor, names in _TIMES.items():
        yield from ((name, Unit(dimension="time", factors=(factor,))) for name in names.split())
    for name in ("%", "percent", "prozent"):
        yield name, Unit(dimension="share", factors=(0.01,))
    scaled = (
        ("bytes", "b", ("byte", "bytes")),
        ("bits", "bit", ("bit", "bits")),
        ("flops", "flops", ("flop", "flops", "flop/s")),
        ("frequency", "hz", ("hertz",)),
    )
    for dimension, short, words in scaled:
        for name in (short, *words):
            yield name, Unit(dimension=dimension, factors=(1.0,))
        for letter, (prefix, power) in _PREFIXES.items():
            binary = (2.0 ** (10 * power),) if dimension == "bytes" else ()
            unit = Unit(dimension=dimension, factors=(10.0 ** (3 * power), *binary))
            for name in (short, *words):
                yield letter + name, unit
                yield prefix + name, unit
            if binary:
                yield f"{letter}ib", Unit(dimension=dimension, factors=binary)


_BY_NAME: Mapping[str, Unit] = dict(_units())


def unit_named(name: str) -> Unit | None:
    """Return the unit of a name, in any case; None for a word that is no unit."""
    return _BY_NAME.get(name.strip().casefold())


@lru_cache(maxsize=1024)
def is_unit_word(written: str, units: str) -> bool:
    """Tell whether a word behind a number is one of `a|b`, in any form; a Chinese one may go on behind it."""
    words = words_of(written) or (written,)
    for meant in _words_of_units(units):
        if words[: len(meant)] == meant or (len(words) == 1 and words[0] in forms_of(meant)[0]):
            return True
    return False


@lru_cache(maxsize=256)
def _words_of_units(units: str) -> tuple[tuple[str, ...], ...]:
    """Return the words of each of `a|b`, a rubric's: they are held against each number of an answer."""
    return tuple(words_of(unit) or (unit,) for unit in map(str.strip, units.split("|")))


def unit_problem(unit: str) -> str:
    """Return what is wrong with a rubric's unit; empty if nothing is."""
    words = unit.split("|")
    if unit and not all(word == "%" or any(map(str.isalpha, word)) for word in map(str.strip, words)):
        return f"unit: must be a word or %, got {unit!r}"
    return ""
