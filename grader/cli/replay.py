"""`grader replay`: one item of one score observed again, and compared with the first observation."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import zip_longest
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TypeVar

import click

from grader.cli.course import ENGINE, open_course, options_of, require_linux
from grader.cli.echo import AS_JSON, echo, echo_json
from grader.cli.files import PATH
from grader.errors import ExitCode
from grader.text import one_line

if TYPE_CHECKING:
    from grader.grading.replay import Fact, Look, Replay
    from grader.model.observation import Case, Quantity

T = TypeVar("T")

_NARROWEST = 60
_SAME = "the same as then"


class _Row(NamedTuple):
    """One value of both observations."""

    label: str
    then: str
    now: str
    is_measured: bool = False
    """Whether it is a quantity: a time, for example, is never the same twice."""


@click.command("replay")
@click.argument("score", type=PATH)
@click.option("--item", required=True, help="The item's id.")
@click.option(
    "--archive",
    type=PATH,
    help="The submission; otherwise the files that were kept with the score.",
)
@click.option("--rubric", help="A rubric's name or file; otherwise the one that the score was given by.")
@ENGINE
@AS_JSON
@click.pass_context
def command(
    context: click.Context,
    /,
    score: Path,
    item: str,
    archive: Path | None,
    rubric: str | None,
    engine: str,
    as_json: bool,
) -> int:
    """Observe an item of SCORE (a score.json, or its folder) again with the seed it had then.

    The results stay as they are. What differs from then (submission, rubric, course code, machine) is said.

    Exit codes: 0 both were seen, 5 the item could not be observed now; otherwise as for run.
    """
    require_linux()
    from grader.files import scratch
    from grader.grading.sessions import open_session

    course, plugins = open_course(context)
    settings = options_of(engine, course, plugins)
    with open_session(plugins, engine, options=settings) as session, scratch("grader-replay-") as place:
        from grader.grading.replay import read_score, replay
        from grader.grading.submission import CourseFiles
        from grader.model.observation import Outcome

        stored = read_score(score)
        files = CourseFiles(course, plugins)
        replayed = replay(stored, item, files, session, place=place, archive=archive, rubric=rubric)
    if as_json:
        echo_json(_document(replayed))
    else:
        for line in _text(replayed):
            echo(line)
    unseen = replayed.now.observation.outcome is Outcome.NOT_OBSERVED
    return ExitCode.NOT_OBSERVED if unseen else ExitCode.GRADED


def _document(replayed: Replay) -> dict[str, Any]:
    from grader.config.codec import to_plain

    return {
        "item": replayed.item,
        "seed": replayed.seed,
        "facts": {
            fact.name: {"then": fact.then, "now": fact.now, "same": fact.same} for fact in replayed.facts
        },
        "given": None if replayed.given is None else to_plain(replayed.given),
        "then": _look(replayed.then),
        "now": _look(replayed.now),
    }


def _look(look: Look) -> dict[str, Any]:
    from grader.config.codec import to_plain

    line = look.line
    earned = {"points": line.points, "possible": line.possible, "reason": line.reason}
    return {**earned, "standing": line.standing.value, "observation": to_plain(look.observation)}


def _text(replayed: Replay) -> Iterator[str]:
    yield f"{replayed.item}: {replayed.title}"
    drawn = (
        f"seed {replayed.seed}, as then"
        if replayed.seed
        else "no seed was kept then; what is drawn is drawn anew"
    )
    yield f"    {drawn}"
    if same := [fact.name for fact in replayed.facts if fact.same]:
        yield f"    the same: {', '.join(same)}"
    yield from (f"    {_differing(fact)}" for fact in replayed.facts if not fact.same)
    rows = [*_rows(replayed.then, replayed.now)]
    differing = [row for row in rows if row.then != row.now]
    all_same = all(row.is_measured for row in differing)
    if all_same:
        measured = ", ".join(dict.fromkeys(row.label.strip() for row in differing))
        yield f"    all below is {_SAME}" + (f", except {measured}" if measured else "")
    yield ""
    if given := replayed.given:
        points = f"{given.points:g} of {given.possible:g}"
        yield f"    {given.by} gave {points}; below is what the program saw"
        yield ""
    width = max(_NARROWEST, shutil.get_terminal_size((100, 0)).columns)
    if differing:
        yield from _beside("", "then", "now", width)
    for row in rows:
        label, then, now = map(one_line, row[:3])
        if row in differing:
            yield from _beside(label, then, now, width)
        elif then or label.endswith(":"):
            text = then if all_same or not then else f"{_SAME}: {then}"
            yield from _in_columns(label, [(text, width - _label_width(width) - 2)], width)


def _differing(fact: Fact) -> str:
    then, now = (value or "unknown" for value in (fact.then, fact.now))
    return f"{'another' if fact.same is False else 'perhaps another'} {fact.name}: then {then}, now {now}"


def _rows(then: Look, now: Look) -> Iterator[_Row]:
    """Yield each label with its values then and now."""
    looks = (then, now)
    yield _both("points", looks, _points)
    yield _both("reason", looks, lambda look: look.line.reason)
    yield _both("outcome", looks, lambda look: look.observation.outcome.value)
    yield _both("note", looks, lambda look: look.observation.note)
    observations = (then.observation, now.observation)
    yield from _quantities("", [observation.quantities for observation in observations])
    for pair in zip_longest(*(observation.cases for observation in observations)):
        yield _both(f"{next(case.name for case in pair if case)}:", pair, _case)
        if all(case and case.agrees and all(case.agrees.values()) for case in pair):
            continue  # nobody doubts it
        for text in ("called", "returned", "expected"):
            yield _both(f"  {text}", pair, attrgetter(text))
        yield from _quantities("  ", [case.quantities if case else {} for case in pair])


def _both(label: str, pair: Sequence[T | None], spell: Callable[[T], str]) -> _Row:
    then, now = ("" if value is None else spell(value) for value in pair)
    return _Row(label, then, now)


def _points(look: Look) -> str:
    from grader.reports.words import out_of

    line = look.line
    return "open" if line.fraction is None else out_of(line.points, line.possible)


def _case(case: Case) -> str:
    agrees = [name for name, yes in case.agrees.items() if yes]
    agreement = (
        f"agrees with {', '.join(agrees)}"
        if agrees
        else "agrees with no accepted answer"
        if case.agrees
        else ""
    )
    return ": ".join(filter(None, (case.outcome.value, agreement, case.note)))


def _quantities(indent: str, pair: Sequence[Mapping[str, Quantity]]) -> Iterator[_Row]:
    from grader.reports.pages import quantity_name

    units = {name: quantity.unit for quantities in pair for name, quantity in quantities.items()}
    for name, unit in units.items():
        label = f"{indent}{quantity_name(name, unit)}"
        row = _both(label, [quantities.get(name) for quantities in pair], _quantity)
        yield row._replace(is_measured=True)


def _quantity(quantity: Quantity) -> str:
    value = quantity.value
    return f"{f'{value:.6g}' if isinstance(value, float) else value} {quantity.unit_text}".rstrip()


def _beside(label: str, then: str, now: str, width: int) -> Iterator[str]:
    """Yield three columns with wrapped texts."""
    each = (width - _label_width(width) - 4) // 2
    yield from _in_columns(label, [(then, each), (now, each)], width)


def _label_width(width: int) -> int:
    return 20 if width < 100 else 30


def _in_columns(label: str, texts: Sequence[tuple[str, int]], width: int) -> Iterator[str]:
    """Yield a label and texts, each wrapped to so many columns."""
    from grader.reports.terminal import wrapped

    first = _label_width(width)
    indent = " " * (len(label) - len(label.lstrip()))
    names = [indent + part for part in wrapped(label.lstrip(), first - len(indent))]
    columns = (names or [""], *(wrapped(text, columns) for text, columns in texts))
    widths = first, *(columns for _, columns in texts)
    encoding = sys.stdout.encoding or "utf-8"
    for parts in zip_longest(*columns, fillvalue=""):
        line = "  ".join(map(_padded, parts, widths)).rstrip()
        yield line.encode(encoding, "replace").decode(encoding)


def _padded(text: str, columns: int) -> str:
    from grader.reports.terminal import cells

    return text + " " * (columns - cells(text))
