"""Details of each item: the second half of `report.html`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING

from grader.model.observation import Outcome
from grader.reports.advice import look_at
from grader.reports.bars import DRAWN, speedup_bars
from grader.reports.curve import drawn, left_out, scaling_curve
from grader.reports.device import device_tables, hidden_by, split_bar, split_of, watched_in
from grader.reports.gpus_picture import gpus_picture
from grader.reports.markup import SIGNS, chips, look, pre, quantities, sign, text
from grader.reports.parts import parts_table
from grader.reports.several_gpus import works_in
from grader.reports.times_beside import times_beside
from grader.reports.words import LineState, counted, figure, state_of

if TYPE_CHECKING:
    from grader.model.observation import Case, Observation
    from grader.model.rubric import Item
    from grader.model.score import Line

MOST_CASES = 20
"""Cases that are shown of one item, before it only says how many more there are."""

ENDINGS = {
    Outcome.CRASHED: "crashed",
    Outcome.TIMED_OUT: "ran out of time",
    Outcome.OUT_OF_MEMORY: "used too much memory",
    Outcome.NOT_BUILT: "was not built",
    Outcome.REFUSED: "gave something that cannot be looked at",
    Outcome.SKIPPED: "was skipped",
    Outcome.NOT_OBSERVED: "was not observed",
}


SIMULATED = (
    "Seen in a simulator, not on a GPU: it finds wrong results and wrong launches, and cannot tell times."
)
STILL_OPEN = " The points stay open until a GPU has run it."


def has_section(line: Line, item: Item, observation: Observation | None) -> bool:
    """Tell whether an item has more to show than its line."""
    return observation is not None and bool(
        observation.cases
        or observation.output
        or observation.quantities
        or watched_in(observation)
        or look_at(line, item, observation)
    )


def section(position: int, line: Line, item: Item, observation: Observation) -> str:
    """Render the observation of one item, folded if it earned everything and has no drawing."""
    what = state_of(line)
    points = figure(line, SIGNS[LineState.OPEN])
    drawing, measured = _measured(item, observation)
    folded = what is LineState.FULL and not drawing
    parts = "\n".join(
        filter(
            None,
            (
                *_opening(line, item, observation),
                drawing,
                *measured,
                *_cases(observation, full=what is LineState.FULL),
                *_ending(line, item, observation),
            ),
        )
    )
    return f"""<section class="item {look(line)}" id="item-{position}">
<details{"" if folded else " open"}>
<summary><span>{sign(what)}</span><h3>{text(line.title)}</h3><span>{points}</span></summary>
<div class="body">
{parts}
</div>
</details>
</section>"""


def _opening(line: Line, item: Item, observation: Observation) -> Iterator[str]:
    if state_of(line) is not LineState.FULL and not any(map(_went_wrong, observation.cases)):
        yield f"<p>{text(line.reason)}</p>"
    if observation.simulated:
        still_open = STILL_OPEN if item.simulated == "informs" else ""
        yield f'<p class="soft">{SIMULATED}{still_open}</p>'


def _measured(item: Item, observation: Observation) -> tuple[str, tuple[str, ...]]:
    """Return the drawing of the measurement, and the texts below it."""
    watched = watched_in(observation)
    works = works_in(observation, watched)
    bars = speedup_bars(observation, item.options)
    curve = scaling_curve(observation, item.options)
    shown = (DRAWN if bars else frozenset()) | (drawn(observation) if curve else frozenset())
    listed = {
        name: quantity
        for name, quantity in observation.quantities.items()
        if name not in shown | hidden_by(watched, works)
    }
    drawing = f"{bars}{split_bar(split_of(observation, watched))}{gpus_picture(works)}{curve}"
    tables = (
        times_beside(observation),
        left_out(observation),
        device_tables(watched, works),
        parts_table(observation),
    )
    return drawing, (*tables, quantities(listed))


def _cases(observation: Observation, *, full: bool) -> Iterator[str]:
    wrong = () if full else tuple(case for case in observation.cases if _went_wrong(case))
    right = tuple(case for case in observation.cases if full or not _went_wrong(case))
    if full or wrong:
        yield from (_case(case, "case wrong") for case in wrong[:MOST_CASES])
        yield _more(len(wrong))
        yield _agreed(right)
    else:  # no case stands out: what is missing shows only in all of them together
        yield from (_case(case, "case") for case in right[:MOST_CASES])
        yield _more(len(right))


def _ending(line: Line, item: Item, observation: Observation) -> Iterator[str]:
    if line.hint:
        yield f'<p class="hint">{text(line.hint)}</p>'
    if advice := look_at(line, item, observation):
        yield f'<p class="advice">{text(advice)}</p>'
    if observation.output:
        yield f'<div><p class="label">What the program printed</p>{pre(observation.output)}</div>'
    seed = f"Inputs drawn from seed <code>{text(observation.seed)}</code>. " if observation.seed else ""
    yield f'<p class="fine">{seed}Observed in {observation.wall_s:.3g} s.</p>'


def _went_wrong(case: Case) -> bool:
    agrees = case.agrees.values()
    return case.outcome is not Outcome.OBSERVED or bool(case.note) or (bool(agrees) and not any(agrees))


def _case(case: Case, kind: str) -> str:
    ended = f' <span class="soft">{ENDINGS[case.outcome]}</span>' if case.outcome in ENDINGS else ""
    note = f'<p class="note">{text(case.note)}</p>' if case.note else ""
    entries = "".join(
        f"<div{place}><dt>{label}</dt><dd>{pre(of)}</dd></div>"
        for label, of, place in (
            ("Called", case.called, ' class="wide"'),
            ("Came back", case.returned, ""),
            ("Expected", case.expected, ""),
        )
        if of
    )
    changed = ", ".join(case.changed_inputs)
    return f"""<article class="{kind}">
<h4>{text(case.name)}{ended}</h4>
{note}
<dl class="told">{entries}</dl>
{_agreement(case.agrees)}{quantities(case.quantities)}
{f'<p class="soft">Changed in place: {text(changed)}</p>' if changed else ""}
</article>"""


def _agreement(agrees: Mapping[str, bool]) -> str:
    """List agreement by oracle, if there is more than one."""
    if len(agrees) < 2:
        return ""
    return chips(
        f"{'✓ agrees' if agreed else '✗ disagrees'} with {text(name)}" for name, agreed in agrees.items()
    )


def _more(cases: int) -> str:
    return f'<p class="soft">And {cases - MOST_CASES} more.</p>' if cases > MOST_CASES else ""


def _agreed(cases: tuple[Case, ...]) -> str:
    if not cases:
        return ""
    rows = "".join(
        f"<li>{text(case.name)}: <code>{text(case.called)}</code></li>" for case in cases[:MOST_CASES]
    )
    what = f"{counted(len(cases), 'case')} went well"
    return f'<details><summary>{what}</summary><ul class="plain">{rows}</ul>{_more(len(cases))}</details>'
