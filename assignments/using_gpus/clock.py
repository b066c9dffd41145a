"""The clock that a harness is tried with; in the worker, it goes on where a drawn network is trained."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

ASKED = 1e-3
"""What a GPU's work takes of the program's own time, as a share of how long it takes there."""
READ_S, POLL_S = 1e-7, 5e-4
"""How long it takes to read the clock, and to ask whether an event has happened."""
SAMPLES, INPUTS, CLASSES = 4, 3, 5
RATES = (0.5, 1.0)
"""The learning rate of a step lies between these: it moves the weights by about 0.1."""
SAME = 5e-3
"""How far a weight may be from the one that is computed here, for half precision."""
LATEST = 8
"""From so many of its latest weights a network may go on: a copy of it may have been trained as well."""

AS_SAID = "as its sums show"
"""What a program says of its threads where it is so."""

Weights = NDArray[np.float64]


@dataclass(kw_only=True)
class PlayedClock:
    """A program's time, and when its GPU will have done what it was given; all in seconds.

    It is called with what the program did, and gives what the program may know of the time: no costs. A
    mini-batch takes its time only if the network was trained with it: the mini-batch, the first weights and
    the rate of each step are drawn here, and the step is computed again.
    """

    make: float = 0.0
    """What it takes to make a network."""
    first: float
    """What the first mini-batch takes."""
    each: float
    """What each further mini-batch takes."""
    seed: int = 0
    """Of what is drawn."""
    _now: float = field(default=1000.0, init=False, repr=False)
    _done: float = field(default=0.0, init=False, repr=False)
    _steps: int = field(default=0, init=False, repr=False)
    _networks: list[list[Weights]] = field(default_factory=list, init=False, repr=False)
    """The weights of each network, and a column of biases, as they were before and after each step."""
    _rates: dict[int, float] = field(default_factory=dict, init=False, repr=False)
    """The rates that no step has used yet."""

    sums: Mapping[int, Sequence[float]] = field(default_factory=dict, repr=False)
    """What numbers of a seed add up to on 1, 2, 3, … threads, in float32: roundings tell these apart."""
    _threads: dict[str, set[int]] = field(default_factory=dict, init=False, repr=False)
    """On how many threads sums were computed, by when; 0 stands for a sum of no number of threads."""

    def __post_init__(self) -> None:
        self._rng = np.random.default_rng(self.seed)
        self._x = self._rng.normal(size=(SAMPLES, INPUTS))
        self._y = self._rng.integers(CLASSES, size=SAMPLES)
        self._seed, self._used = 0, 0

    def __call__(self, did: str, *args: Any) -> Any:
        """Let the time pass that something takes which the program did.

        `begin`, with the first step ahead; `make` a network; `train` with a mini-batch; `give` it to the GPU,
        and go on; `wait` for the GPU; `wait_until` a moment; `record` an event on the GPU; `poll` one; `read`
        the clock. `train` and `give` come with the number of the network, the number of a rate and the
        weights afterwards, row by row, with the bias behind each; `added` with when a sum was computed, and
        the sum.

        Returns:
            What time it is then; for `record`, when the GPU gets there; for `make`, the network's number and
            weights. A `batch` is samples and classes, a `rate` its number and itself, and `addends` the seed
            of numbers to add up; they take no time.

        Raises:
            ValueError: it can do no such thing.
        """
        match did:
            case "begin":
                # A program can ask for it as well: no time is given back.
                self._now, self._steps = max(self._now, self._done), 0
            case "batch" | "rate" | "addends":
                return self._drawn(did)
            case "make":
                self._now += self.make
                weights = self._rng.normal(size=(CLASSES, INPUTS + 1))
                self._networks.append([weights])
                return [len(self._networks) - 1, weights.tolist()]
            case "added":
                when, total = args
                self._threads.setdefault(when, set()).add(self._threads_of(total))
            case "train":
                self._now += self._cost(*args)
            case "give":
                cost = self._cost(*args)
                self._now += ASKED * cost
                self._done = max(self._now, self._done) + cost
            case "wait":
                self._now = max(self._now, self._done)
            case "wait_until":
                self._now = max(self._now, float(args[0]))
            case "record":
                return max(self._now, self._done)
            case "poll":
                self._now += POLL_S
            case "read":
                self._now += READ_S
            case _:
                raise ValueError("a program does no such thing")
        return self._now

    def _drawn(self, what: str) -> Any:
        match what:
            case "batch":
                return [self._x.tolist(), self._y.tolist()]
            case "rate":
                number, rate = int(self._rng.integers(2**31)), float(self._rng.uniform(*RATES))
                self._rates[number] = rate
                return [number, rate]
        self._used += 1
        self._seed = list(self.sums)[self._used % len(self.sums)] if self.sums else 0
        return self._seed

    def _threads_of(self, total: float) -> int:
        sums = list(self.sums.get(self._seed, ()))
        self._seed = 0
        return sums.index(total) + 1 if total in sums else 0

    def threads_seen(self, threads: int) -> str:
        """Say by the sums whether all steps ran on so many threads, and the rest on as many as before."""
        before, meanwhile, after = (self._threads.get(when) for when in ("before", "meanwhile", "afterwards"))
        if self._steps and meanwhile == {threads} and before == after:
            return AS_SAID
        counts = ", ".join(map(str, sorted(meanwhile or ()))) or "none"
        return f"{self._steps} steps on threads: {counts}; before {before}, afterwards {after}"

    def _cost(self, network: int, rate: int, weights: Sequence[Sequence[float]]) -> float:
        """Return what a step takes: nothing if it is no step of that network with that rate."""
        learning_rate, states = self._rates.pop(rate, 0.0), self._networks[network]
        after = np.asarray(weights, dtype=np.float64)
        for before in reversed(states[-LATEST:]):
            wanted = before - learning_rate * self._gradient(before)
            if after.shape == wanted.shape and np.abs(after - wanted).max() <= SAME and learning_rate:
                states.append(after)
                self._steps += 1
                return self.first if self._steps == 1 else self.each
        return 0.0

    def _gradient(self, weights: Weights) -> Weights:
        """Return the slope of the mean cross-entropy of the mini-batch."""
        inputs = np.hstack([self._x, np.ones((SAMPLES, 1))])
        scores = inputs @ weights.T
        shares = np.exp(scores - scores.max(axis=1, keepdims=True))
        shares /= shares.sum(axis=1, keepdims=True)
        shares[np.arange(SAMPLES), self._y] -= 1
        slope: Weights = shares.T @ inputs / SAMPLES
        return slope
