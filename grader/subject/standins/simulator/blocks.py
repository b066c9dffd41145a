"""Threads of a block that has begun, and the places where they wait for each other."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from typing import Any, NamedTuple

Index = tuple[int, int, int]
Values = Mapping[int, Any]
"""What threads bring to a barrier or take from it, by the thread's number in its block."""


class DivergentBarrier(RuntimeError):
    """Threads wait at a barrier for others that never come."""


class Wait(NamedTuple):
    """Barrier at which a thread waits."""

    meeting: Hashable
    """Equal for those who wait for each other: the place in the program, and which threads."""
    members: Sequence[int] | None
    """The numbers of all who have to come; None for the whole block."""
    value: Any
    answers: Callable[[Values], Values] | None
    text: str


class Thread:
    """A thread that has not ended."""

    __slots__ = ("answer", "block", "greenlet", "number", "place", "wait")

    def __init__(self, block: Block, number: int, place: Index) -> None:
        self.block = block
        self.number = number
        self.place = place
        self.greenlet: Any = None
        self.wait: Any = None
        self.answer: Any = None


class Block:
    """A block that has begun: its threads, and the memory that they share."""

    def __init__(self, index: Index, places: Sequence[Index]) -> None:
        self.index = index
        self.places = places
        self.shared: dict[Hashable, Any] = {}
        self.runnable = [Thread(self, number, place) for number, place in enumerate(places)]
        self.waiting: list[Thread] = []

    def release(self) -> None:
        """Make those threads runnable that have all come to where they wait for each other.

        Raises DivergentBarrier if then no thread of the block can go on.
        """
        meetings: dict[Hashable, list[Thread]] = {}
        for thread in self.waiting:
            meetings.setdefault(thread.wait.meeting, []).append(thread)
        self.waiting = []
        for came in meetings.values():
            wait = came[0].wait
            if len(came) < len(self._members(wait)):
                self.waiting += came
                continue
            if wait.answers is not None:
                answers = wait.answers({thread.number: thread.wait.value for thread in came})
                for thread in came:
                    thread.answer = answers[thread.number]
            self.runnable += came
        if not self.runnable:
            raise DivergentBarrier(self._who_never_came())

    def _members(self, wait: Wait) -> Sequence[int]:
        return range(len(self.places)) if wait.members is None else wait.members

    def _who_never_came(self) -> str:
        wait = self.waiting[0].wait
        members = self._members(wait)
        came = {thread.number for thread in self.waiting if thread.wait.meeting == wait.meeting}
        missing = [number for number in members if number not in came]
        return (
            f"{wait.text} is reached by {len(came)} of {len(members)} threads of block {self.index}"
            f" and never by thread {self.places[missing[0]]}: the same barrier is for all of them"
        )
