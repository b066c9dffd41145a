"""Advice that follows from how a program ended or how its result differs, whatever the kind."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from grader.model.drawing import Advice
from grader.model.observation import Outcome, Symptom

if TYPE_CHECKING:
    from grader.model.observation import Case, Observation

OF_SYMPTOMS = {
    Symptom.OUT_OF_BOUNDS: "The index of every read and write in the kernel: a grid that is rounded up has "
    "threads beyond the last element, and they must do nothing. Then the shapes of the arrays: is each as "
    "large as the index takes it to be?",
    Symptom.GPU_MEMORY: "What every call takes of the GPU's memory and nobody gives back: a library's "
    "handle, such as cublasCreate's without cublasDestroy, or arrays in a global, a list, a cache. Make one "
    "handle, and keep it.",
    Symptom.ON_DEVICE: "What is returned: an array on the GPU has to be copied back, as with copy_to_host().",
    Symptom.RACE: "Places that several threads write, or that one reads while another writes: give each "
    "thread its own, add atomically, or put a barrier between.",
    Symptom.NAN: "Divisions by zero, numbers beyond the largest one (exp() of a large number is inf, and "
    "inf / inf is nan), roots and logarithms of negative numbers, and memory that is read before "
    "anything was written there.",
    Symptom.UNWRITTEN: "Whether the result is written at all: the array that is filled must be the one that "
    "is returned, or copied back from the GPU, and the index must reach each element.",
    Symptom.WRONG_VALUE: "The first element that differs: work it out by hand, for the smallest input that "
    "goes wrong.",
}
OF_OUTCOMES = {
    Outcome.TIMED_OUT: "Loops, and waiting at barriers or for other threads, that some input never ends; "
    "then work that grows faster than the input does.",
    Outcome.OUT_OF_MEMORY: "Arrays that are larger than the result needs them, and what is kept from call "
    "to call.",
}


def of_symptom(symptom: Symptom | None) -> Iterator[Advice]:
    """Yield the advice for a symptom, if there is one."""
    if symptom is not None:
        yield Advice(text=OF_SYMPTOMS[symptom])


def of_ends(observation: Observation) -> Iterator[Advice]:
    """Yield advice on how the program ended, in the item as a whole or in its cases."""
    parts: tuple[Observation | Case, ...] = (observation, *observation.cases)
    ends = [part for part in parts if part.outcome is not Outcome.OBSERVED]
    for end in ends:
        yield from of_symptom(end.symptom)
    for end in ends:
        if end.outcome in OF_OUTCOMES:
            yield Advice(text=OF_OUTCOMES[end.outcome])


def of_differences(observation: Observation) -> Iterator[Advice]:
    """Yield advice on the first result that agrees with no accepted answer."""
    for case in observation.cases:
        wrong = bool(case.agrees) and not any(case.agrees.values())
        if case.outcome is Outcome.OBSERVED and wrong and case.note:
            yield from of_symptom(case.symptom)
            return
