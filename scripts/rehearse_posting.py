"""Plays a Canvas on this machine, with the students of a roster, so that posting can be rehearsed.

    python scripts/rehearse_posting.py ROSTER.csv --points 20

prints what `course.yaml` needs and the token, and then each change as it comes, until it is interrupted.
It is the stand-in of the tests (`tests/lms/loopback_canvas.py`), made after Canvas' API: not Canvas.
"""

import argparse
import csv
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT / "tests" / "lms"))

import loopback_canvas  # noqa: E402 - found by the line above


def students(roster: Path) -> Iterator[tuple[int, str]]:
    """Yield the number on Canvas and the name of each student; numbers are made up where there are none."""
    with roster.open(encoding="utf-8", newline="") as file:
        for made_up, row in enumerate(csv.DictReader(file), start=1):
            yield int(row.get("canvas id") or 1000 + made_up), row["student"]


def show_changes(canvas: loopback_canvas.LoopbackCanvas, print_line: Callable[[str], None]) -> None:
    """Print every grade and comment that came since the last call."""
    names = {number: user["login_id"] for number, user in canvas.users.items()}
    shown = 0
    scores: dict[int, float | None] = dict.fromkeys(names)
    while True:
        for number, score in canvas.scores().items():
            if score != scores[number]:
                print_line(f"{names[number]}: {score} points")
                scores[number] = score
        for comment in canvas.comments[shown:]:
            first_line = comment["comment"].splitlines()[0]
            print_line(f"{names[comment['user']]}: comment: {first_line}")
            shown += 1
        time.sleep(0.1)


def main() -> None:
    """Play the Canvas until somebody interrupts it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("roster", type=Path, help="the roster of the course")
    parser.add_argument(
        "--points", type=float, required=True, help="the points of the assignment, as in its rubric"
    )
    parser.add_argument("--port", type=int, default=8765, help="where to listen on 127.0.0.1")
    options = parser.parse_args()
    canvas = loopback_canvas.LoopbackCanvas(students=0, page_most=50, port=options.port)
    canvas.assignment |= {"name": "Rehearsal", "points_possible": options.points}
    for number, name in students(options.roster):
        canvas.enroll(number, name)
    with canvas, suppress(KeyboardInterrupt):
        numbers = f"course: {loopback_canvas.COURSE}, assignments: {{NAME: {loopback_canvas.ASSIGNMENT}}}"
        print(f'canvas: {{url: "{canvas.url}", {numbers}}}')
        print(f"CANVAS_TOKEN={loopback_canvas.TOKEN}", flush=True)
        show_changes(canvas, lambda line: print(line, flush=True))


if __name__ == "__main__":
    main()
