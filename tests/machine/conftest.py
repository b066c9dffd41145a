"""Other programs of the machine that lease, wait and die."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import ExitStack

import pytest

TAKE = """
import sys
from grader.errors import NotObservedError
from grader.machine.lease import Leases

folder, count, wait_s, *names = sys.argv[1:]
say = lambda text: print(text, flush=True)
wait = lambda who: say(f"waiting: {who}")
try:
    with Leases(folder).take(names, int(count), float(wait_s), "alice", waiting=wait) as lease:
        say("got " + " ".join(lease.names))
        sys.stdin.read()
except NotObservedError as error:
    say(error)
"""


@pytest.fixture
def another() -> Iterator[Callable[..., subprocess.Popen[str]]]:
    """Start another program that takes leases and holds them until its input ends or it is killed."""
    with ExitStack() as programs:

        def start(folder, count, wait_s, *names, code=TAKE, before=""):
            program = subprocess.Popen(
                [sys.executable, "-c", before + code, str(folder), str(count), str(wait_s), *names],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
            )
            programs.enter_context(program)
            programs.callback(program.kill)
            return program

        yield start
