"""Times and accuracies in what a report shows of a run: lines of `time`, of the program, and sentences."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

ACCURACY = re.compile(r"accuracy\W{0,6}\s*(?P<value>(?:0?[.,]\d+|1(?:[.,]0+)?|0)(?![.,]?\d))", re.IGNORECASE)
PRINTED_ACCURACY = re.compile(rf"EvalMetric\W{{0,8}}{ACCURACY.pattern}", re.IGNORECASE)
"""As the script prints it, and no sentence does."""
_CLOCK = r"(?:(?P<h>\d+):)?(?P<m>\d+):(?P<s>\d{1,2}(?:[.,]\d+)?)"
_SECONDS = r"\d+(?:[.,]\d+)?"
_GNU = re.compile(
    rf"(?P<user>[\d.,]+)\s*user\s+(?P<system>[\d.,]+)\s*system\s+{_CLOCK}\s*elapsed\s+(?P<cpu>\d+|\?)\s*%\s*CPU"
)
_GNU_LONG = re.compile(rf"Elapsed \(wall clock\) time \([^)]*\):\s*{_CLOCK}")
_GNU_USER = re.compile(
    r"User time \(seconds\):\s*(?P<user>[\d.,]+)\s+System time \(seconds\):\s*(?P<system>[\d.,]+)"
)
_GNU_CPU = re.compile(r"Percent of CPU this job got:\s*(?P<cpu>\d+)\s*%")
_SHELL = re.compile(r"\breal\s+(?:(?P<m>\d+)m)?\s?(?P<s>\d+(?:[.,]\d+)?)s?")
_ZSH = re.compile(
    rf"(?P<user>{_SECONDS})s user\s+(?P<system>{_SECONDS})s system\s+(?P<cpu>\d+)%\s+cpu\s+"
    rf"(?:(?:(?P<h>\d+):)?(?P<m>\d+):)?(?P<s>{_SECONDS})\s+total"
)
_BSD = re.compile(rf"(?P<s>{_SECONDS})\s+real\s+(?P<user>{_SECONDS})\s+user\s+(?P<system>{_SECONDS})\s+sys\b")
"""`/usr/bin/time` of macOS and the BSDs."""
_TCSH = re.compile(
    rf"(?P<user>{_SECONDS})u\s+(?P<system>{_SECONDS})s\s+{_CLOCK}\s+(?P<cpu>\d+)(?:[.,]\d+)?%\s+\d+\+\d+k"
)
_FISH = re.compile(rf"Executed in\s+(?P<s>{_SECONDS}) secs\b.{{0,400}}?sys time\s+[\d.,]+ \w+")
_JUPYTER = re.compile(
    r"(?:CPU times:.{0,120}?)?Wall time:\s*(?:(?P<h>\d+)\s?h )?(?:(?P<m>\d+)\s?min )?"
    rf"(?P<s>{_SECONDS})\s?s\b"
)
_POWERSHELL = re.compile(
    rf"Days\s*:.{{0,300}}?TotalSeconds\s*:\s*(?P<s>{_SECONDS}).{{0,60}}?TotalMilliseconds\s*:\s*[\d.,]+"
)
_WRITTEN_CLOCK = re.compile(
    r"(?<![\w.,:])(?:(?P<h>\d+):)?(?P<m>\d{1,2}):(?P<s>\d{2}[.,]\d{1,3})(?![\w:]|[.,]\d)"
)
"""A copied `0:13.42`; without a fraction it may be the time of day."""
_UNIT = re.compile(
    rf"(?<![A-Za-z0-9.,:])(?:(?P<m>\d+)\s?(?:minutes?|minuten?|minutos?|mins?|min|m|דקות|分钟|分)"
    r"(?: and| und| y|,)?\s?)?"
    rf"(?P<n>{_SECONDS})\s?(?P<unit>ms|milliseconds?|msecs?|minutes?|minuten?|minutos?|mins?|min|seconds?|secs?|sec"
    r"|Sekunden?|segundos?|secondes?|secondi|s|секунд\w*|שניות|שנ'|דקות|毫秒|秒|分钟|초|सेकंड|सेकेंड|सेकण्ड|ثانية|ثوان\w*)(?![A-Za-z0-9/])",
    re.IGNORECASE,
)
_SCALES = ((60.0, ("min", "\u05d3\u05e7", "\u5206")), (1e-3, ("ms", "mil", "\u6beb")))
"""Seconds of a unit that begins so; all others are seconds."""
_OTHER = re.compile(r"(?:user|usr|sys(?:tem)?|cpu time)\W{0,4}(?:\w+\W{0,3})?$", re.IGNORECASE)
_ELAPSED = re.compile(r"(?:real|elapsed|wall)(?:[- ]?clock)?(?: time)?\W{0,4}$", re.IGNORECASE)
_OTHER_BEHIND = re.compile(
    r"\s?(?:of )?(?:user|sys(?:tem)?)\b|\s?\((?:of )?(?:user|sys(?:tem)?)(?: time)?\)", re.IGNORECASE
)
"""As in `19.83 s user`; in `13.42 s, user 19.83 s` and `13.42 s (user 19.83 s)` the next time is meant."""
_SEVERAL_RUNS = re.compile(
    r"\b(?:runs|repeated|repetitions?|again|tries|attempts?|trials|mean|average|avg|median|typical|second|third|last"
    r"|another|other|without|warm\w*|cold"
    r"|(?:two|three|four|five|ten|\d+) times(?! (?:as|faster|slower|longer|shorter|quicker))"
    r"|mittel\w*|durchschnitt\w*|läufe\w*|laeufe\w*|zweite\w*|dritte\w*|letzte\w*|andere\w*|nochmals?|ohne|kalt\w*"
    r"|moyenne|médiane|exécutions|essais|fois|deuxième|dernière?|autre|sans"
    r"|media|mediana|promedio|ejecuciones|veces|segunda|última|otra|sin|média|execuções|vezes"
    r"|esecuzioni|volte|seconda|gemiddeld\w*|średni\w*|ortalama)\b",
    re.IGNORECASE,
)
ARABIC_POINT = "\u066b"
"""The decimal point between Arabic's digits, which Python reads as numbers as they are."""
LAST_LATIN = "\u024f"


_LINES = (_GNU, _GNU_LONG, _ZSH, _BSD, _TCSH, _FISH, _JUPYTER, _POWERSHELL)
_TOO_LONG = re.compile(r"[\d.,:]{41,}")
"""Digits of no time: patterns would try each beginning of a row of them, and no int has 4,300 digits."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunTime:
    """The elapsed time of one run."""

    seconds: float
    half: float
    """Half a unit of its last digit."""
    printed: bool = False
    """Whether a program printed it, and not a person."""
    busy_s: float | None = None
    """User and system time together, if they stand beside it."""
    cpu_percent: int | None = None


def accuracies(text: str, *, printed: bool = False) -> tuple[float, ...]:
    """Return the accuracies in a text, in their order; with `printed` those in lines of the script alone."""
    pattern = PRINTED_ACCURACY if printed else ACCURACY
    return tuple(float(match["value"].replace(",", ".")) for match in pattern.finditer(text))


def run_times(text: str) -> tuple[RunTime, ...]:
    """Return all elapsed times in a text: those that programs printed, then those in sentences."""
    text = " ".join(_TOO_LONG.sub(" ; ", text.replace(ARABIC_POINT, ".")).split())
    written = text
    for pattern in _LINES:  # they have CPU times as well
        written = pattern.sub(" ; ", written)
    return (*_printed(text), *_written(written))


def _printed(text: str) -> Iterator[RunTime]:
    for match in _GNU.finditer(text):
        cpu = int(match["cpu"]) if match["cpu"].isdecimal() else None
        busy = float(_plain(match["user"])) + float(_plain(match["system"]))
        yield _clock(match, busy_s=busy, cpu_percent=cpu)
    begin = 0
    for match in _GNU_LONG.finditer(text):
        user, cpu = (_last(pattern, text, begin, match.start()) for pattern in (_GNU_USER, _GNU_CPU))
        busy = float(_plain(user["user"])) + float(_plain(user["system"])) if user else None
        yield _clock(match, busy_s=busy, cpu_percent=int(cpu["cpu"]) if cpu else None)
        begin = match.end()
    text = _GNU_LONG.sub(" ; ", text)
    for match in (*_BSD.finditer(text), *_FISH.finditer(text)):
        seconds, half = _number(match["s"])
        yield RunTime(seconds=seconds, half=half, printed=True)
    text = _BSD.sub(" ; ", text)
    for match in _SHELL.finditer(text):
        seconds, half = _number(match["s"])
        yield RunTime(seconds=60 * int(match["m"] or 0) + seconds, half=half, printed=True)
    for match in (*_ZSH.finditer(text), *_TCSH.finditer(text)):
        busy = float(_plain(match["user"])) + float(_plain(match["system"]))
        yield _clock(match, busy_s=busy, cpu_percent=int(match["cpu"]))
    for match in _JUPYTER.finditer(text):
        yield _clock(match)
    for match in _POWERSHELL.finditer(text):
        seconds, half = _number(match["s"])
        yield RunTime(seconds=seconds, half=half, printed=True)


def _written(text: str) -> Iterator[RunTime]:
    """Yield times with a unit that are neither user nor system time."""
    for match in _UNIT.finditer(text):
        before, behind = (
            text[max(0, match.start() - 24) : match.start()],
            text[match.end() : match.end() + 12],
        )
        before = re.split(r"[,;]", before)[-1]
        if not _ELAPSED.search(before) and (_OTHER.search(before) or _OTHER_BEHIND.match(behind)):
            continue
        seconds, half = _number(match["n"])
        unit = match["unit"].lower()
        scale = next((scale for scale, begins in _SCALES if unit.startswith(begins)), 1.0)
        minutes = 60.0 * int(match["m"] or 0)
        yield RunTime(seconds=minutes + seconds * scale, half=half * scale)
    for match in _WRITTEN_CLOCK.finditer(text):
        clock = _clock(match)
        yield RunTime(seconds=clock.seconds, half=clock.half)


def may_be_of_another_run(text: str) -> bool:
    """Tell whether a text speaks of several runs, such as their mean, or in letters that are not Latin."""
    others = any(letter > LAST_LATIN and letter.isalpha() for letter in text)
    return others or _SEVERAL_RUNS.search(text) is not None


def _last(pattern: re.Pattern[str], text: str, begin: int, end: int) -> re.Match[str] | None:
    """Return the last match in a part of a text."""
    return next(iter([*pattern.finditer(text, begin, end)][-1:]), None)


def _clock(match: re.Match[str], *, busy_s: float | None = None, cpu_percent: int | None = None) -> RunTime:
    seconds, half = _number(match["s"])
    whole = 3600 * int(match["h"] or 0) + 60 * int(match["m"] or 0) + seconds
    return RunTime(seconds=whole, half=half, printed=True, busy_s=busy_s, cpu_percent=cpu_percent)


def _number(digits: str) -> tuple[float, float]:
    plain = _plain(digits)
    return float(plain), 0.5 * 10.0 ** -len(plain.partition(".")[2])


def _plain(digits: str) -> str:
    return digits.replace(",", ".").strip(".") or "0"
