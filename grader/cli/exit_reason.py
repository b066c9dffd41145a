"""The last line of the run of several submissions: its exit code, and what led to it."""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING

from grader.errors import ExitCode, worst
from grader.model.magnitude import counted
from grader.reports.class_groups import fold
from grader.text import one_line

if TYPE_CHECKING:
    from grader.grading.score import Graded

_LISTED = 3
_CAUSE = 300
"""Characters of a cause; the pages have it whole."""
_PLACE = re.compile(r"(\S+\.\w+:\d+)")
"""File and line of a mistake: those of other lines are other mistakes."""
_DETAILS = re.compile(r"(?<![\w.:])(\d[^():;]*) \(([^()]*)\)")
"""What follows a number in brackets, as in `busy in 6 of 6 rounds (…; …)`: parts, of which each submission
may have others."""
_OPEN = "points are open, and --require-final is given"
OLDER = "older than what is recorded"
_WORDS = {
    ExitCode.USAGE: "with a name or an option that cannot be used",
    ExitCode.BUG: "with a mistake of grader's own; please report it",
    ExitCode.COURSE: "with a mistake in files of the course",
    ExitCode.NOT_OBSERVED: "incomplete",
    ExitCode.NOT_ACCEPTED: "refused",
}


class ExitReasons:
    """Counts what led to each exit code; a row of a class has no room for it."""

    def __init__(self, *, require_final: bool) -> None:
        self._require_final = require_final
        self._causes: dict[ExitCode, Counter[str]] = {}
        """By code, how many submissions have each cause, whatever numbers and details are in it."""
        self._texts: dict[str, dict[str, None]] = {}
        """By cause, its texts with their numbers."""
        self._submissions: Counter[ExitCode] = Counter()
        self.without_grade = 0
        self.outdated = 0
        """Submissions of which the gradebook has a later run; their students have a grade."""
        self.unrecorded = 0
        """Submissions that are graded, but not recorded."""

    def refused(self, code: ExitCode) -> None:
        """Count a submission without a grade, the reason of which a line has told."""
        self._submissions[code] += 1
        self.without_grade += 1

    def older(self) -> None:
        """Count a submission that the gradebook does not take, for it has a later run."""
        self.outdated += 1

    def not_recorded(self) -> None:
        """Count a submission that is graded, and whose grade the gradebook could not take."""
        self.unrecorded += 1

    def graded(self, result: Graded) -> None:
        """Count a submission with what was not observed of it."""
        causes = dict.fromkeys(result.causes)
        if self._require_final and not result.final:
            causes[ExitCode.NOT_OBSERVED, _OPEN] = None
        for code in {code for code, _ in causes}:
            self._submissions[code] += 1
        for code, cause in dict.fromkeys((code, self._folded(cause)) for code, cause in causes):
            self._causes.setdefault(code, Counter())[cause] += 1

    def _folded(self, text: str) -> str:
        """Return a text without details, and with `#` for its numbers but for those of lines in files."""
        parts = _PLACE.split(_DETAILS.sub(r"\1", text, count=1))
        parts[::2] = map(fold, parts[::2])
        cause = "".join(parts)
        self._texts.setdefault(cause, {})[text] = None
        return cause

    def _shown(self, cause: str, count: int) -> str:
        """Return the first text of a cause, with the details of all, and how many submissions have it."""
        texts = self._texts[cause]
        details: dict[str, None] = {}
        for text in texts:
            if match := _DETAILS.search(text):
                details.update(dict.fromkeys(match[2].split("; ")))
        first = next((text for text in texts if _DETAILS.search(text)), next(iter(texts)))
        joined = "; ".join(details)
        whole = _DETAILS.sub(lambda match: f"{match[1]} ({joined})", first, count=1)
        differ = ", numbers differ" if len({_DETAILS.sub(r"\1", text, count=1) for text in texts}) > 1 else ""
        return one_line(f"{_cut(whole)} ({count}{differ})")

    @property
    def code(self) -> ExitCode:
        """The worst of all."""
        beside = [ExitCode.NOT_OBSERVED] if self.outdated or self.unrecorded else []
        return worst([*self._submissions, *beside])

    def line(self) -> str:
        """Return the line about the exit code; empty for 0."""
        code = self.code
        if code is ExitCode.GRADED:
            return ""
        causes = self._causes.get(code, Counter())
        listed = "; ".join(self._shown(cause, count) for cause, count in causes.most_common(_LISTED))
        more = f"; {len(causes) - _LISTED} more" if len(causes) > _LISTED else ""
        parts = []
        if count := self._submissions[code]:
            of = f"{counted(count, 'submission')} {_WORDS[code]}"
            parts.append(of + (f": {listed}{more}" if listed else ""))
        if self.unrecorded and code is ExitCode.NOT_OBSERVED:
            parts.insert(0, f"{counted(self.unrecorded, 'submission')} graded, but not recorded")
        if self.outdated and code is ExitCode.NOT_OBSERVED:
            parts.insert(0, f"{counted(self.outdated, 'submission')} {OLDER}")
        return f"exit code {int(code)}: {'; '.join(parts)}"


def _cut(text: str) -> str:
    """Return a text of at most so many characters and an ellipsis, cut where a word ends."""
    if len(text) <= _CAUSE:
        return text
    head = text[:_CAUSE]
    return f"{head.rpartition(' ')[0] or head} …"
