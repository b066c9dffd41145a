"""Exchanges the inputs of numba's kernels for another call's, behind the host's back.

Two calls of the same shapes: in the first, `note`, what the array arguments of each launch hold is noted. In
the second, `exchange`, every argument that carries inputs gets what stood in its place then, for as long as
the kernel runs; afterwards it gets its own content back, unless the kernel wrote to it. So the host has only
the inputs of the second call, and the kernels only those of the first: a result that is right for the first
was made from what lies on the device. The idea, and what its parts are for: docs/security.md.

Which call is which the worker says when a kernel is launched, and not before: until then a call that is
timed and one whose inputs are exchanged are the same to the program.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np

NOTE, EXCHANGE, LATER = "note", "exchange", "later"
"""Answers to a launch: note what its kernel gets, exchange that, or ask again at the next launch."""
Ask = Callable[[int], str]
"""What to do at a launch of this number; any other answer: nothing, at this one and those that follow."""
LAUNCHES = 64
"""Of calls with more launches nothing is concluded."""
BYTES = 2**30
"""So of calls whose arguments hold more, all launches together."""

Content = np.ndarray[Any, Any]


class DeviceArray(Protocol):
    """An argument of a launch whose content can be read and written."""

    def read(self) -> Content:
        """Return a copy of the content, on the host."""
        ...

    def write(self, content: Content) -> None:
        """Replace the content.

        Raises:
            ValueError: it cannot be written as a whole.
        """
        ...


class HostArray:
    """An array of the host that numba copies for a launch, or one of a simulator."""

    def __init__(self, array: Content) -> None:
        self._array = array

    def read(self) -> Content:
        """Return a copy of the content."""
        return self._array.copy()

    def write(self, content: Content) -> None:
        """Replace the content."""
        self._array[...] = content


class _Noted(NamedTuple):
    """Content of an argument of a launch in the noted call."""

    content: Content
    carries: tuple[Any, ...] | None


class InputExchange:
    """Inputs noted in one call, and put into the launches of another."""

    def __init__(self, array_of: Callable[[Any], DeviceArray | None], settle: Callable[[], None]) -> None:
        """`array_of` finds the array in an argument, None for a number; `settle` waits for the devices."""
        self._array_of = array_of
        self._settle = settle
        self._doing = ""
        self._noted: list[list[_Noted | None]] = []
        self._noted_result: Content | None = None
        self._result: Any = None
        self._begin([], lambda number: "")

    def _begin(self, arguments: Sequence[Any], ask: Ask) -> None:
        self._arguments = arguments
        self._ask: Ask | None = ask
        self._inputs: list[Content] = []
        self._number = 0
        self._launches: dict[int, list[Content | None]] = {}
        self._written: list[Content] = []
        self._bytes = 0
        self._exchanged = 0
        self._problem = ""

    def begin(self, ask: Ask, arguments: Sequence[Any]) -> None:
        """Begin a call with these arguments; `ask` is asked at its launches, until it decides."""
        self._doing = ""
        self._result = None
        self._begin(arguments, ask)

    def launch(self, arguments: Sequence[Any], go: Callable[[], Any]) -> Any:
        """Note or exchange the inputs of a launch, which `go` does."""
        number = self._number
        self._number += 1
        if self._ask is not None:
            self._decide(self._ask(number))
        if not self._doing:
            return go()
        if len(self._launches) >= LAUNCHES or self._bytes > BYTES:
            self._problem = "more launches, or larger arrays, than are exchanged"
            return go()
        arrays = [self._array_of(argument) for argument in arguments]
        self._settle()
        before = [None if array is None else array.read() for array in arrays]
        self._bytes += sum(content.nbytes for content in before if content is not None)
        self._launches[number] = before
        put: dict[int, Content] = {}
        if self._doing == EXCHANGE:
            put = self._put(number, arrays, before)
            self._clear(arrays, before, put)
        value = go()
        self._settle()
        for place, array in enumerate(arrays):
            if array is None:
                continue
            after = array.read()
            if not _same(after, put.get(place, before[place])):
                self._written.append(after)
            elif place in put:
                array.write(before[place])  # type: ignore[arg-type]  # there is an array, so it was read
        return value

    def _decide(self, answer: str) -> None:
        """Begin what is to be done from this launch on."""
        if answer == LATER:
            return
        self._ask = None
        if answer in (NOTE, EXCHANGE):
            self._doing = answer
            self._inputs = [v.copy() for v in self._arguments if isinstance(v, np.ndarray) and v.ndim]

    def _put(
        self, number: int, arrays: Sequence[DeviceArray | None], before: Sequence[Content | None]
    ) -> dict[int, Content]:
        """Write the noted inputs into the arguments that carry inputs; by place."""
        if number >= len(self._noted) or len(self._noted[number]) != len(before):
            self._problem = "the two calls launch differently"
            return {}
        put = {}
        for place, (array, content, noted) in enumerate(
            zip(arrays, before, self._noted[number], strict=True)
        ):
            if array is None or content is None or noted is None:
                continue
            carried = carries(content, self._inputs)
            if content.shape != noted.content.shape:
                if carried:
                    self._problem = "the inputs of the two calls have other shapes"
                continue
            if content.dtype == noted.content.dtype and carried and carried == noted.carries:
                try:
                    array.write(noted.content)
                except ValueError as error:
                    self._problem = f"an argument cannot be exchanged: {error}"
                    continue
                put[place] = noted.content
                self._exchanged += 1
        return put

    def _clear(
        self, arrays: Sequence[DeviceArray | None], before: list[Content | None], put: dict[int, Content]
    ) -> None:
        """Zero what still holds the noted call's result: a kernel that writes it again must be seen."""
        for place, (array, content) in enumerate(zip(arrays, before, strict=True)):
            if array is None or content is None or place in put or self._noted_result is None:
                continue
            if _same(content, self._noted_result) and not any(
                _same(content, written) for written in self._written
            ):
                before[place] = np.zeros_like(content)
                array.write(before[place])  # type: ignore[arg-type]  # assigned one line above

    def end(self, result: Any) -> None:
        """Keep the result of the call; `shown` says later what it means."""
        self._ask = None
        self._arguments = ()
        if self._doing:  # it may be one of the arguments, whose place the next request takes
            self._result = result.copy() if isinstance(result, np.ndarray) else result

    def shown(self) -> dict[str, Any] | None:
        """Return what the last call showed of its kernels, as plain JSON; None if nothing was done in it.

        `carrying` are the numbers of the launches that get inputs.
        """
        doing, self._doing, result, self._result = self._doing, "", self._result, None
        if doing == NOTE:
            self._keep(result)
        elif doing != EXCHANGE:
            return None
        elif not self._problem and self._number != len(self._noted):
            self._problem = "the two calls launch differently"
        return {
            "arrays": self._exchanged,
            "problem": self._problem,
            "written": made_of(result, self._written),
            "carrying": [n for n, noted in enumerate(self._noted) if _carrying(noted)],
        }

    def _keep(self, result: Any) -> None:
        """Keep what the launches of this call got, and its result, for calls whose inputs are exchanged."""
        self._noted = [
            [
                None if content is None else _Noted(content, carries(content, self._inputs))
                for content in contents
            ]
            for contents in self._launches.values()
        ]
        self._noted_result = np.array(result) if isinstance(result, np.ndarray) else None


def _carrying(noted: Sequence[_Noted | None]) -> bool:
    return any(argument is not None and argument.carries is not None for argument in noted)


def carries(content: Content, inputs: Sequence[Content]) -> tuple[Any, ...] | None:
    """Return which inputs an array holds, and what beside them, comparable between calls; None for none.

    It carries an input if the input's values, in the array's type, are all among its own in whatever order
    (transposed, padded, two inputs in one array), or if it is a contiguous part of one.
    """
    for number, values in enumerate(inputs):  # as most programs have it, and quick to see
        if _same_elements(content, values):
            return (number,), ()
    left: dict[Any, int] | None = None
    whole = []
    for number, values in enumerate(inputs):
        cast = _cast(values, content.dtype)
        if cast is None:
            continue
        if content.size >= cast.size:
            left = _counts(content) if left is None else left
            of_input = _counts(cast)
            if all(left.get(value, 0) >= count for value, count in of_input.items()):
                left = {v: n - of_input.get(v, 0) for v, n in left.items() if n > of_input.get(v, 0)}
                whole.append(number)
        elif content.size > 1:
            part = np.ascontiguousarray(content).tobytes()
            for way, turned in (("rows", cast), ("columns", cast.T)):
                at = np.ascontiguousarray(turned).tobytes().find(part)
                if at >= 0:
                    return number, way, at
    # what was hidden beside the inputs, made by the host, differs between the calls
    return (tuple(whole), tuple(sorted(left.items()))) if whole and left is not None else None


def made_of(result: Any, written: Sequence[Content]) -> bool:
    """Tell whether kernels wrote a result: as it is, among padding, turned, or in parts."""
    if not isinstance(result, np.ndarray):
        try:
            result = np.asarray(result)
        except ValueError:
            return False
    if result.dtype.kind not in "biufc":
        return False
    if any(_same_elements(content, result) for content in written):
        return True
    covered, whole = 0, np.ascontiguousarray(result).tobytes()
    for content in written:
        if content.size >= result.size:
            cast = _cast(result, content.dtype)
            if cast is not None:
                available, needed = _counts(content), _counts(cast)
                if all(available.get(value, 0) >= count for value, count in needed.items()):
                    return True
        elif content.dtype == result.dtype and np.ascontiguousarray(content).tobytes() in whole:
            covered += content.size
    return bool(covered >= result.size)


def _same_elements(left: Content, right: Content) -> bool:
    return left.shape == right.shape and left.dtype == right.dtype and left.tobytes() == right.tobytes()


def _cast(values: Content, kind: np.dtype[Any]) -> Content | None:
    """Return the values in another type, if that is one for numbers of their kind."""
    if kind.fields or kind.kind not in "biufc" or (kind.kind in "iub" and values.dtype.kind in "fc"):
        return None
    with np.errstate(all="ignore"):
        return values.astype(kind)


def _counts(values: Content) -> dict[Any, int]:
    elements, counts = np.unique(values, return_counts=True)
    return dict(zip(elements.tolist(), counts.tolist(), strict=True))


def _same(left: Content | None, right: Content | None) -> bool:
    if left is None or right is None:
        return left is right
    return _same_elements(left, right)
