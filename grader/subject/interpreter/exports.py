"""The real libraries: which names they have, and which of them `import *` binds."""

from __future__ import annotations

import functools
import importlib
from typing import Any

from . import tables


def imported(library: str) -> Any:
    """Return the real module; None for those that take long to import."""
    if library.startswith("numba"):
        return None
    return importlib.import_module(library)


@functools.cache
def exported_names(library: str) -> frozenset[str]:
    """Return the names that `from library import *` binds, of numba as far as they are in the table."""
    module = imported(library)
    if module is None:
        return frozenset((*tables.NUMBA_EXPORTS, *tables.NUMBA_TYPES))
    return frozenset(getattr(module, "__all__", [name for name in vars(module) if name[0] != "_"]))
