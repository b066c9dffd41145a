"""The library written in C++, and errors that come from it."""

import ctypes
import os
from pathlib import Path

NAME = "libc_runtime_api.so"


class DLSysError(RuntimeError):
    """A function of the library did not succeed."""


def library_path():
    """Where the library is: below the folder that `DLSYS_LIBRARY` names, else below the one with `python/`.

    Raises:
        OSError: it was not built.
    """
    folder = Path(os.environ.get("DLSYS_LIBRARY") or Path(__file__).resolve().parents[2])
    for path in (folder, folder / NAME, folder / "build" / "lib" / NAME):
        if path.is_file():
            return path
    raise OSError(f"{folder}/build/lib/{NAME}: is not there; build it with make")


class _Library:
    """The library's functions as attributes. It is loaded with the first of them: NumPy alone needs none."""

    def __init__(self):
        self._loaded = None

    def __getattr__(self, name):
        if self._loaded is None:
            self._loaded = ctypes.CDLL(str(library_path()))
        function = getattr(self._loaded, name)
        setattr(self, name, function)
        return function


_LIB = _Library()


def call(name, *arguments):
    """Call a function of the library.

    Raises:
        DLSysError: it did not return 0.
    """
    status = getattr(_LIB, name)(*arguments)
    if status != 0:
        _LIB.DLLastError.restype = ctypes.c_char_p
        raise DLSysError(f"{name}: {_LIB.DLLastError().decode() or f'returned {status}'}")
