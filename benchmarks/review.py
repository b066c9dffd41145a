"""Time `grader review`: the list of a large class, and each action of somebody who grades.

    python benchmarks/review.py [--submissions 1000] [--browser]

prints medians and the slowest of each action in milliseconds, over HTTP on loopback, with the demo's rubric,
and the median of CPU time of server and client together, which other programs on the machine do not lengthen;
`--browser` grades twenty answers in Chromium with the keyboard and times them, then twenty more for a
recording in the working directory (`review.zip`, for `playwright show-trace`). It ends with 1 if a list
takes more than a second, or an action more than 100 ms.
"""

import argparse
import re
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from pathlib import Path

import requests

from grader.config.course import find_course
from grader.gradebook.book import Gradebook
from grader.plugins import Plugins
from grader.review.demo import ASSIGNMENT, STUDENTS, fill, record, write_course
from grader.review.desk import Desk
from grader.review.people import Door, Reviewer
from grader.review.server import application, listen, web_server
from grader.review.site import ReviewSite

LIST_S, ACTION_S = 1.0, 0.1
ROUNDS = 20


class Stopwatch:
    """Times of actions by name."""

    def __init__(self) -> None:
        self.times: dict[str, list[float]] = {}
        self.cpu_times: dict[str, list[float]] = {}

    def time(self, name: str, action: Callable[[], requests.Response]) -> requests.Response:
        """Call an action, and note how long it takes."""
        began, cpu_began = time.perf_counter(), time.process_time()
        response = action()
        self.times.setdefault(name, []).append(time.perf_counter() - began)
        self.cpu_times.setdefault(name, []).append(time.process_time() - cpu_began)
        assert response.status_code in {200, 303}, (name, response.status_code, response.text[:300])
        return response


def main() -> int:
    """Run it."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--submissions", type=int, default=1000)
    parser.add_argument("--browser", action="store_true")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        write_course(folder / "course")
        desk = Desk(ASSIGNMENT, find_course(folder / "course", {}, folder), Plugins(folder / "course"))
        with Gradebook(folder / "gradebook.db", create=True) as book:
            fill(book, desk, folder / "results")
            for number in range(len(STUDENTS), options.submissions):
                answers = {
                    "1": f"Registers are on-chip ({number}).",
                    "2": "Adjacent words.",
                    "3": "32 threads",
                }
                record(book, desk, folder / "results", f"student_{number:05}", answers)
            person = Reviewer(name="Ada")
            door = Door([person])
            opened = listen("127.0.0.1", 0)
            port = opened.getsockname()[1]
            server = web_server(
                application(ReviewSite(book, {ASSIGNMENT: desk}), door, host="127.0.0.1", port=port)
            )
            thread = threading.Thread(target=server.run, kwargs={"sockets": [opened]})
            thread.start()
            try:
                watch = Stopwatch()
                measure(f"http://127.0.0.1:{port}", door.tokens[person], watch)
                if options.browser:
                    by_keyboard(f"http://127.0.0.1:{port}", door.tokens[person], watch)
            finally:
                server.should_exit = True
                thread.join()
    slow = False
    for action, times in watch.times.items():
        limit = LIST_S if "list" in action else ACTION_S
        late = statistics.median(times) > limit
        slow |= late
        middle, worst = 1000 * statistics.median(times), 1000 * max(times)
        cpu_times = watch.cpu_times.get(action)  # a browser's are not ours to measure
        cpu = f", CPU {1000 * statistics.median(cpu_times):7.1f}" if cpu_times else ""
        slowly = "  TOO SLOW" if late else ""
        print(f"{action:34} {middle:7.1f} ms  (slowest {worst:7.1f}{cpu}){slowly}")
    return int(slow)


def measure(address: str, token: str, watch: Stopwatch) -> None:
    """Do what people do, over HTTP."""
    client = requests.Session()
    home = f"{address}/a/{ASSIGNMENT}"
    client.get(f"{address}/enter?token={token}")
    watch.time("first list after the start", lambda: client.get(f"{home}/submissions"))
    for _ in range(ROUNDS):
        watch.time("list of submissions", lambda: client.get(f"{home}/submissions"))
        watch.time("list of questions", lambda: client.get(home))
    watch.time("list, without answer", lambda: client.get(f"{home}/submissions?show=unanswered"))
    match = re.search(r'name="csrf" value="([^"]+)"', client.get(home).text)
    assert match
    form = {"csrf": match[1], "after": "0"}
    for _ in range(ROUNDS):
        page = watch.time("open a question", lambda: client.get(f"{home}/q/q1.memory"))
        saved = watch.time(
            "save points",
            lambda url=page.url: client.post(url, data={**form, "accept": "1"}, allow_redirects=False),
        )
        watch.time("next answer", lambda place=saved.headers["location"]: client.get(address + place))
    for _ in range(ROUNDS):
        watch.time("undo", lambda: client.post(f"{home}/undo", data=form, allow_redirects=False))
    watch.time("fairness, list of a class", lambda: client.get(f"{home}/fairness"))
    watch.time("publishing, list of a class", lambda: client.get(f"{home}/publish"))


def by_keyboard(address: str, token: str, watch: Stopwatch) -> None:
    """Grade twenty answers in a browser, then twenty recorded ones: a recording slows what it records."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        path = shutil.which("chromium") or shutil.which("google-chrome")
        browser = playwright.chromium.launch(executable_path=path, args=["--no-sandbox"])
        context = browser.new_context(viewport={"width": 1280, "height": 900})
        page = context.new_page()
        page.goto(f"{address}/enter?token={token}")
        page.goto(f"{address}/a/{ASSIGNMENT}/q/q3.warp")
        times = watch.times.setdefault("key to next page, in Chromium", [])
        for _ in range(ROUNDS):
            began = time.perf_counter()
            with page.expect_navigation():
                page.keyboard.press("a")
            times.append(time.perf_counter() - began)
        context.tracing.start(screenshots=True, snapshots=True)
        for _ in range(ROUNDS):
            with page.expect_navigation():
                page.keyboard.press("a")
        context.tracing.stop(path="review.zip")
        browser.close()


if __name__ == "__main__":
    sys.exit(main())
