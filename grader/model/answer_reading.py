"""The likeliest reading of a document's numbers: which begin answers, and which are lists within answers.

Each numbered line either begins the answer to a question or is an entry of a list within one. A reading is
charged for what students seldom write: answers out of order, a list that does not begin at 1, a number of a
question that is only found in a list. The cheapest reading is found by dynamic programming over the lines; a
line is ambiguous if a reading without it costs hardly more.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from grader.model.answer_labels import ALONE, ROW
from grader.model.answer_lines import Mark, Targets

BACK = 6.0
"""A number that is not larger than the one before."""
SKIPPED = 1.5
"""A question without an answer, at most four of them in one place."""
OTHER_FORM = 3.0
"""An answer whose label is written in another way than most."""
BEGINS_LIST = 0.5
BREAKS_LIST = 4.0
"""An entry of a list that does not follow from the one before."""
BREAKS_NUMBERS = 7.0
"""The same where it looks like most labels."""
IN_LIST = {"copy": 20.0, "keyword": 8.0, "heading": 3.0}
"""A line in a list that looks like the beginning of an answer."""
NEEDED = 10.0
"""A list that holds the only line with the number of a question."""
NEEDED_OTHER = 4.0
"""The same where the line looks other than most labels."""
CLOSE = 2.5
"""Two readings whose costs differ by less are both possible."""

WHOLE = 1.5
"""A label of a question of which only parts are asked."""

DATA = 1.0
_LISTED = {ROW: 0.5, ALONE: DATA}
"""What breaks a list costs less where the number may be data."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Anchor:
    """A line that begins the answer to a question in the cheapest reading."""

    mark: Mark
    target: int
    """The question, by its index."""
    certain: bool
    """Whether no other reading is as good."""


State = tuple[int, int]
"""The question that is being answered, -1 before the first; the last number of a list in it, 0 for none."""


def read(marks: Sequence[Mark], targets: Targets) -> tuple[list[Anchor], list[Mark]]:
    """Find the lines that begin answers, in their order, and those that as well might."""
    costs = _Costs(marks, targets)
    forward: list[dict[State, float]] = [{(-1, 0): 0.0}]
    for mark in marks:
        reached: dict[State, float] = {}
        for state, cost in forward[-1].items():
            for _, following, charge in costs.steps(mark, state):
                reached[following] = min(cost + charge, reached.get(following, float("inf")))
        forward.append(reached)
    backward: list[dict[State, float]] = [dict.fromkeys(forward[-1], 0.0)]
    for mark, states in zip(reversed(marks), forward[-2::-1], strict=True):
        behind = backward[-1]
        backward.append(
            {
                state: min(charge + behind[to] for _, to, charge in costs.steps(mark, state))
                for state in states
            }
        )
    steps = list(_cheapest(marks, costs, forward, backward[::-1]))
    anchors = [step for step in steps if isinstance(step, Anchor)]
    return anchors, [step for step in steps if isinstance(step, Mark)]


def _cheapest(
    marks: Sequence[Mark],
    costs: _Costs,
    forward: Sequence[dict[State, float]],
    backward: Sequence[dict[State, float]],
) -> Iterator[Anchor | Mark]:
    """Yield the anchors of the cheapest reading, and the marks of other lines that may begin an answer.

    `forward` and `backward` are the least charges before and behind each line, by state.
    """
    best = backward[0][-1, 0]
    state: State = (-1, 0)
    entry: Mark | None = None
    for number, mark in enumerate(marks):
        behind = backward[number + 1]
        steps = list(costs.steps(mark, state))
        target, state, _ = min(steps, key=lambda step: step[2] + behind[step[1]])
        other = min(
            forward[number][begin] + charge + behind[to]
            for begin in forward[number]
            for alternative, to, charge in costs.steps(mark, begin)
            if alternative != target
        )
        if target is not None:
            certain = other - best >= CLOSE and not costs.doubtful(mark, target, entry)
            yield Anchor(mark=mark, target=target, certain=certain)
        elif other - best < CLOSE:
            yield mark
        entry = mark if target is None else None


class _Costs:
    """The charge of each step of a reading costs."""

    def __init__(self, marks: Sequence[Mark], targets: Targets) -> None:
        self._lines = Counter(target for mark in marks for target in mark.targets)
        self._depths = [len(path) for path in targets.paths]
        self._asked = [label is not None for label in targets.labels]
        covered: dict[int, dict[str, set[int]]] = {depth: {"": set()} for depth in self._depths}
        for mark in marks:
            for target in mark.targets:
                covered[self._depths[target]].setdefault(mark.form, set()).add(target)
        self._forms = {depth: _most_usual(forms, depth) for depth, forms in covered.items()}
        """The way of writing labels that covers most questions of a depth."""
        self._few = {
            depth: len(covered[depth][form]) * 2 < self._depths.count(depth)
            for depth, form in self._forms.items()
        }

    def steps(self, mark: Mark, state: State) -> Iterator[tuple[int | None, State, float]]:
        """Yield the ways to read a line: the question that it begins or None, the next state, the charge."""
        question, entry = state
        for target in mark.targets:
            yield target, (target, 0), self._begins(mark, target, question)
        yield None, (question, mark.number), self._listed(mark, question, entry)

    def doubtful(self, mark: Mark, target: int, entry: Mark | None) -> bool:
        """Tell whether nothing but a number begins an answer here, and it may be data or continue a list.

        `entry` is the line before if that is read as an entry of a list.
        """
        if mark.label is None or mark.copy or mark.label.keyword:
            return False
        continues = entry is not None and entry.form == mark.form and entry.number + 1 == mark.number
        data = mark.form in _LISTED and self._few[self._depths[target]]
        return continues or data or mark.label.doubtful or not self._usual(mark, target)

    def _usual(self, mark: Mark, target: int) -> bool:
        return mark.form == self._forms[self._depths[target]]

    def _begins(self, mark: Mark, target: int, question: int) -> float:
        charge = 0.0 if self._asked[target] else WHOLE
        labelled = mark.copy is not None or (mark.label is not None and mark.label.keyword)
        if not (labelled or self._usual(mark, target)):
            charge += OTHER_FORM
        if target > question:
            return charge + SKIPPED * min(4, sum(self._asked[question + 1 : target]))
        if target == question and mark.label and mark.label.reply:
            return charge
        return charge + BACK

    def _listed(self, mark: Mark, question: int, entry: int) -> float:
        usual = any(self._usual(mark, target) for target in mark.targets)
        charge = 0.5 * usual + (question < 0)
        labelled = mark.label is not None and mark.label.keyword
        if mark.copy:
            charge += IN_LIST["copy"]
        elif labelled:
            charge += IN_LIST["keyword"]
        elif mark.form == "heading":
            charge += IN_LIST["heading"]
        if mark.number == 1:
            charge += BEGINS_LIST
        elif mark.number != entry + 1:
            data = DATA if mark.label and mark.label.doubtful else _LISTED.get(mark.form)
            charge += data or (BREAKS_NUMBERS if usual else BREAKS_LIST)
        if all(self._lines[target] == 1 for target in mark.targets):
            charge += NEEDED if usual or labelled else NEEDED_OTHER
        return charge


def _most_usual(forms: Mapping[str, set[int]], depth: int) -> str:
    """Return the form that covers most questions: of several that of lists of their depth, or the first."""
    in_list = re.compile(rf"list \d+ {depth}")
    return max(forms, key=lambda form: (len(forms[form]), bool(in_list.fullmatch(form))))
