"""The names of what a program may use: none of it computes with more than one element."""

from __future__ import annotations

import builtins

import numpy as np


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


NUMBA_EXPORTS = _words("""
    bool bool_ byte complex128 complex64 double float32 float64 get_num_threads int16 int32 int64 int8 int_
    intc intp jit njit prange set_num_threads uint uint16 uint32 uint64 uint8 uintp vectorize
""")
"""Names that `from numba import *` binds."""
NUMPY_CONSTANTS = ["inf", "nan", "pi", "e", "newaxis", "True_", "False_"]
ARRAY_FUNCTIONS = _words("""
    array asarray ascontiguousarray asfortranarray copy zeros zeros_like ones ones_like full full_like arange
    eye identity ndindex shape ndim size reshape ravel transpose append concatenate stack vstack hstack
""")
"""NumPy's, which make arrays, copy them and rearrange what they hold."""
OF_SHAPE = _words("""
    zeros_like ones_like full_like shape ndim size reshape ravel transpose ascontiguousarray asarray
""")
"""Those that read no elements, or give an array that shares its memory."""
NUMPY_TYPES: dict[str, type] = {
    name: getattr(np, name)
    for name in _words("""
        int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 float32 float64 complex64 complex128 byte
        ubyte intc intp uint single double bool_ int_
    """)
} | {"bool": np.bool_}
NUMBA_TYPES = dict(
    pair.split("=")
    for pair in _words("""
        i1=int8 i2=int16 i4=int32 i8=int64 u1=uint8 u2=uint16 u4=uint32 u8=uint64 f4=float32 f8=float64
        boolean=bool_
    """)
)
"""numba's short names, each with NumPy's."""
NUMPY_KINDS: dict[str, type] = {
    name: getattr(np, name) for name in ("ndarray", "generic", "number", "integer", "floating")
}
MATH = _words("""
    ceil copysign exp fabs floor fmod gcd hypot isfinite isinf isnan isqrt log log2 log10 pow sqrt trunc
""")
ITERTOOLS = _words("""
    accumulate chain count combinations combinations_with_replacement cycle filterfalse islice pairwise
    permutations product repeat starmap takewhile zip_longest
""")
OPERATORS = _words("add sub mul truediv floordiv mod neg pos pow abs lt le gt ge eq ne itemgetter")
PYTHON = _words("""
    range len enumerate zip map filter max min sum abs list tuple dict set frozenset sorted reversed round pow
    divmod all any iter next slice
""")
EXCEPTIONS = {
    name: kind
    for name, kind in vars(builtins).items()
    if isinstance(kind, type) and issubclass(kind, Exception)
}
METHODS: dict[type, frozenset[str]] = {
    list: frozenset(_words("append clear copy count extend index insert pop remove reverse sort")),
    tuple: frozenset(_words("count index")),
    dict: frozenset(_words("clear copy get items keys pop setdefault update values")),
    set: frozenset(_words("add clear copy difference discard intersection pop remove union update")),
    str: frozenset(_words("join lower replace split strip upper")),
    int: frozenset(_words("bit_length real")),
    float: frozenset(_words("is_integer real")),
    range: frozenset(_words("start stop step count index")),
}
OF_FLAT = _words("copy")
"""Methods of `.flat` of an array."""
REARRANGING = _words("astype copy fill flatten ravel reshape squeeze transpose")
"""Methods of arrays that do."""
