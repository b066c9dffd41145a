"""The codec of the gradebook's rows: observations as compressed MessagePack in two parts, scorecards as JSON.

Reading observations is most of the time of rescoring a class. So they are not checked again, and texts for
people are in a part of their own, which is read only where they are needed.
"""

from __future__ import annotations

import zlib
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, TypeVar

import msgspec

from grader.config.codec import dumps, loads
from grader.grading.rubric_of_class import rubric_name
from grader.model.observation import Observation
from grader.model.score import Scorecard

T = TypeVar("T")
TEXTS = ("called", "returned", "expected", "inputs", "longer")
"""Fields of a case for people alone: most of the bytes, and no built-in kind judges by them."""
_NO_TEXTS: Mapping[str, Any] = {
    "called": "",
    "returned": "",
    "expected": "",
    "inputs": None,
    "longer": {},
}
_OBSERVATIONS = msgspec.msgpack.Decoder(dict[str, Observation])
_SHOWN = msgspec.msgpack.Decoder(dict[str, tuple[str, tuple[tuple[Any, ...], ...]]])
_AS_JSON = b"\xc1"
"""The byte that MessagePack never uses, before rows that it cannot hold."""
_CARD = msgspec.json.Decoder(Scorecard)


def card_text(card: Scorecard) -> str:
    """Return a card as one line of JSON; equal cards give equal text."""
    try:
        return msgspec.json.encode(card).decode()
    except UnicodeEncodeError:
        return dumps(card)


def read_card(text: str) -> Scorecard:
    """Read what `card_text` wrote."""
    try:
        return _CARD.decode(text)
    except msgspec.DecodeError:
        return revive(Scorecard, text)


def read_rubric_name(text: str) -> str:
    """Read the name of the rubric alone from what `card_text` wrote."""
    try:
        return rubric_name(text)
    except msgspec.DecodeError:
        return revive(Scorecard, text).rubric


def split(observations: Mapping[str, Observation]) -> tuple[bytes, bytes]:
    """Return the judged and the shown part of observations, both compressed."""
    judged, shown = {}, {}
    for name, observation in observations.items():
        cases = tuple(replace(case, **_NO_TEXTS) for case in observation.cases)
        judged[name] = replace(observation, output="", cases=cases)
        texts = [[getattr(case, field) for field in TEXTS] for case in observation.cases]
        shown[name] = (observation.output, texts)
    return _packed(judged), _packed(shown)


def join(judged: bytes, shown: bytes | None = None) -> dict[str, Observation]:
    """Read the observations of a row by item; without `shown` their texts are empty."""
    observations = _unpacked(judged, _OBSERVATIONS)
    for name, (output, texts) in _unpacked(shown, _SHOWN).items() if shown else ():
        cases = tuple(
            # rows of earlier versions lack the last of TEXTS
            replace(case, **dict(zip(TEXTS, of, strict=False)))
            for case, of in zip(observations[name].cases, texts, strict=True)
        )
        observations[name] = replace(observations[name], output=output, cases=cases)
    return observations


def revive(kind: type[T], text: str) -> T:
    """Read a value of the model from the JSON of `grader.config.codec.dumps`, without checking it."""
    return msgspec.convert(loads(text), kind)


def _packed(value: Any) -> bytes:
    try:
        return zlib.compress(msgspec.msgpack.encode(value), 6)
    except (OverflowError, UnicodeEncodeError):  # an integer of more than 64 bits, half a surrogate pair
        return zlib.compress(_AS_JSON + dumps(value).encode(), 6)


def _unpacked(packed: bytes, decoder: msgspec.msgpack.Decoder[T]) -> T:
    data = zlib.decompress(packed)
    if not data.startswith(_AS_JSON):
        return decoder.decode(data)
    return msgspec.convert(loads(data.removeprefix(_AS_JSON)), decoder.type)
