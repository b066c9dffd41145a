"""The wire keeps every type it knows, and whoever decodes meets nothing worse than `Malformed`."""

import json
from contextlib import suppress
from copy import deepcopy

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from grader.subject import wire
from grader.subject.wire import NODES, PACK_FROM, Decoder, Encoder, Malformed, TooLarge

ROOM = 2**16
SCALARS = (np.bool_, np.int8, np.uint16, np.int64, np.float16, np.float64, np.complex64, np.longdouble)
FUZZ = settings(deadline=None, suppress_health_check=[HealthCheck.too_slow])


def encoded(value, room=ROOM):
    """A buffer with the value in it, and its JSON as the other side reads it."""
    buffer = memoryview(bytearray(room))
    encoder = Encoder(buffer)
    start, length = encoder.close(encoder.encode(value))
    return buffer, Decoder(buffer).open(start, length)


def there_and_back(value, room=ROOM):
    buffer, plain = encoded(value, room)
    return Decoder(buffer).decode(plain)


def spelled(value):
    """A value in which types, signs of zero and NaNs are told apart."""
    kind = type(value).__qualname__
    if type(value) in (list, tuple):
        return kind, [spelled(part) for part in value]
    if type(value) is dict:
        return kind, [(key, spelled(part)) for key, part in value.items()]
    if isinstance(value, np.ndarray | np.generic):
        return kind, value.dtype.str, np.shape(value), list(map(repr, np.ravel(value)))
    return kind, repr(value)


def arrays(kinds):
    return st.tuples(
        st.sampled_from(kinds), st.lists(st.integers(0, 3), max_size=3), st.randoms(use_true_random=False)
    ).map(
        lambda drawn: (
            np.array(drawn[2].choices((0, 1), k=int(np.prod(drawn[1])))).reshape(drawn[1]).astype(drawn[0])
        )
    )


scalars = st.sampled_from(SCALARS).flatmap(lambda kind: st.integers(0, 1).map(kind))
of_one_type = st.sampled_from([*SCALARS, float, int, bool]).flatmap(
    lambda kind: st.lists(st.integers(0, 1).map(kind), min_size=PACK_FROM - 1, max_size=PACK_FROM + 3)
)
leaves = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.complex_numbers()
    | st.text(st.characters(exclude_categories=()))
    | scalars
    | arrays([*SCALARS, ">i4", ">f8"])
    | of_one_type
)
values = st.recursive(
    leaves,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(st.text(max_size=3) | st.integers(-(2**63), 2**63 - 1), inner, max_size=3)
    ),
    max_leaves=8,
)


@FUZZ
@given(values)
def test_every_value_comes_back_with_exactly_its_types(value):
    assert spelled(there_and_back(value, 2**20)) == spelled(value)


@pytest.mark.quick(2)
@pytest.mark.parametrize("kind", SCALARS)
def test_a_matrix_as_lists_of_numpy_scalars_crosses_whole(kind):
    rows = [list(row) for row in np.ones((1000, 1000), kind)]
    came = there_and_back(rows, 64 * 2**20)
    assert came == rows
    assert {type(element) for row in came for element in row} == {kind}


def test_a_long_list_of_two_scalar_types_keeps_each():
    mixed = [np.float32(0.5), np.float64(0.5)] * PACK_FROM
    assert [type(element) for element in there_and_back(mixed)] == [np.float32, np.float64] * PACK_FROM


@pytest.mark.parametrize("key", [1.5, None, True, (1,), b"a", 2**63])
def test_a_dict_whose_keys_do_not_cross_is_named_by_them(key):
    assert there_and_back({key: 1}) == "dict with keys that are neither text nor whole numbers"


def test_what_would_become_too_many_objects_is_refused_by_both_sides(monkeypatch):
    unpacked = 2**12
    monkeypatch.setattr(wire, "UNPACKED", unpacked)
    long = [np.uint8(1)] * (unpacked // 2)
    buffer = memoryview(bytearray(2 * unpacked))
    encoder = Encoder(buffer)
    packed = [encoder.encode(long), encoder.encode(long)]
    with pytest.raises(TooLarge):
        encoder.encode(long[:PACK_FROM])
    assert len(Decoder(buffer).decode({"l": packed})) == 2
    packed.append({"n": [unpacked, "|u1", PACK_FROM]})
    with pytest.raises(Malformed, match="too long"):
        Decoder(buffer).decode({"l": packed})


def test_bytes_that_are_given_twice_are_not_copied_twice():
    array = {"a": [0, "|u1", [ROOM]]}
    buffer = memoryview(bytearray(ROOM))
    Decoder(buffer).decode({"l": [array]})
    with pytest.raises(Malformed, match="on another one"):
        Decoder(buffer).decode({"l": [array, array]})


@pytest.mark.parametrize(
    "plain",
    [
        {"c": []},
        {"c": [1]},
        {"f": "1e"},
        {"f": 10**400},
        {"i": "0x"},
        {"i": 5},
        {"l": 7},
        {"t": None},
        {"d": ["abc"]},
        {"d": [[1.5, 2]]},
        {"a": [0, "|u1"]},
        {"a": [-1, "|u1", [1]]},
        {"a": [True, "|u1", [1]]},
        {"a": [0, "|u1", [ROOM + 1]]},
        {"a": [0, "<i8", [0, 2**70]]},
        {"a": [0, "<i8", [1] * 64]},
        {"a": [0, "|O8", [1]]},
        {"a": [0, "a8", [1]]},
        {"a": [0, "i4,", [1]]},
        {"a": [0, ["<i4"], [1]]},
        {"a": [1, "|b1", [1]]},
        {"p": [0, "<f8", -1]},
        {"n": [0, "<f8", "5"]},
        {"n": [0, "<M8[s]", 1]},
        {"s": [ROOM, "<f8"]},
        {"o": 3},
        {"x": 1},
        {"l": [], "t": []},
        {},
        [],
        {"l": [None] * NODES},
    ],
    ids=lambda plain: repr(plain)[:30],
)
def test_what_no_encoder_wrote_is_malformed(plain):
    with pytest.raises(Malformed):
        Decoder(memoryview(bytearray(b"\2" * ROOM))).decode(plain)


garbage = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-2, 2**70)
    | st.floats()
    | st.text(max_size=6)
    | st.sampled_from(["<i4", "|b1", "<f8", "|O", "<c16", "a8"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from("ltdaspncifo"), inner, min_size=1, max_size=2)
    ),
    max_leaves=12,
)


@FUZZ
@given(garbage, st.binary(max_size=64))
def test_garbage_is_a_value_or_malformed(plain, content):
    with suppress(Malformed):
        Decoder(memoryview(bytearray(content))).decode(plain)


def places(plain, path=()):
    """The path of everything in a document."""
    yield path
    parts = plain.items() if type(plain) is dict else enumerate(plain) if type(plain) is list else ()
    for key, part in parts:
        yield from places(part, (*path, key))


@FUZZ
@given(values, garbage, st.data())
def test_an_honest_document_with_one_part_replaced_is_a_value_or_malformed(value, instead, data):
    buffer, plain = encoded(value, 2**20)
    *above, last = data.draw(st.sampled_from([path for path in places([plain]) if path]))
    document = [deepcopy(plain)]
    part = document
    for key in above:
        part = part[key]
    part[last] = instead
    with suppress(Malformed):
        Decoder(buffer).decode(document[0])


@FUZZ
@given(values, st.data())
def test_an_honest_document_with_other_bytes_is_a_value_or_malformed(value, data):
    buffer, plain = encoded(value, 2**20)
    text = bytearray(json.dumps(plain).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        text[data.draw(st.integers(0, len(text) - 1))] = data.draw(st.integers(0, 255))
    buffer[-len(text) :] = text
    decoder = Decoder(buffer)
    with suppress(Malformed):
        decoder.decode(decoder.open(len(buffer) - len(text), len(text)))
