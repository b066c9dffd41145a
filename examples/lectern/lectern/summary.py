"""A report: a line for each item, for a log or a mail."""

from __future__ import annotations

from grader.api.report import AudienceView, Report


class Summary(Report):
    """The items with their points, as plain text."""

    name = "summary"
    filename = "summary.txt"

    def render(self, view: AudienceView) -> str:
        """Return a line for each item, then the sum; the texts of a scorecard are safe to show."""
        card = view.scorecard
        lines = [f"{line.points:g} / {line.possible:g}  {line.title}: {line.reason}" for line in card.lines]
        lines.append(f"{card.points.raw:g} / {card.points.possible:g}  {card.standing}")
        return "".join(f"{line}\n" for line in lines)
