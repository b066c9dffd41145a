"""Points in a table that nobody has imported yet, which another export would overwrite."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from pathlib import Path

from grader.config.points_csv import ACCEPT, PLACE_AND_POINTS, PointsRow, read_table
from grader.config.points_file import written_reason
from grader.errors import UsageError

_LISTED = 3


def require_saved(file: Path, table: Iterable[PointsRow]) -> None:
    """Check that a file may be overwritten by a table that has all points that are saved.

    A file that is no table of points, or is not there, has nothing to lose here.

    Raises:
        UsageError: rows of the file were filled in and differ from what is saved.
    """
    try:
        content = file.read_bytes() if file.is_file() else b""
        rows = [row for _, row in read_table(content, str(file), PLACE_AND_POINTS)]
    except (OSError, UsageError):
        return
    unsaved = list(_unsaved(rows, table))
    if unsaved:
        names = ", ".join(f"{row.student} {row.item}" for row in unsaved[:_LISTED])
        more = f", {len(unsaved) - _LISTED} more" if len(unsaved) > _LISTED else ""
        raise UsageError(
            f"--out {file}: has rows that were filled in and are not imported ({names}{more}); "
            "import it first, or name another file"
        )


def _unsaved(rows: Iterable[PointsRow], table: Iterable[PointsRow]) -> Iterator[PointsRow]:
    """Yield the rows whose points or texts are not those of the table; points of earlier submissions pass."""
    saved = {(row.assignment, row.student, row.item): row for row in table}
    for row in rows:
        now = saved.get((row.assignment, row.student, row.item))
        is_filled = row.points or any(row.parts) or row.comment or row.reason
        if not is_filled or now is None:
            continue
        is_current = row.submission in {"", now.submission, now.submission.rpartition(":")[2]}
        if is_current and not _is_saved(row, now):
            yield row


def _is_saved(row: PointsRow, now: PointsRow) -> bool:
    same_points = row.points.casefold() in {"", ACCEPT} or _number(row.points) == _number(now.points)
    same_parts = not any(row.parts) or [*map(_number, row.parts)] == [*map(_number, now.parts)]
    same_comment = "comment" in row.absent or row.comment == now.comment
    same_texts = same_comment and written_reason(row.reason) in {"", now.reason}
    return bool(now.points) and same_points and same_parts and same_texts


def _number(text: str) -> float | str:
    try:
        return float(text.replace(",", "."))
    except ValueError:
        return text
