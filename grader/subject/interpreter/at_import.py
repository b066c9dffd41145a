"""Calls that run where a file is imported and are not followed: which may give its names another meaning."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from .refusals import Unknown, shown


def _words(text: str) -> tuple[str, ...]:
    return tuple(text.split())


_HARMLESS = _words("""
    argparse. collections. dataclasses. datetime. decimal. enum. fractions. itertools. json. locale. math.
    matplotlib. pathlib. platform. random. statistics. string. textwrap. time. typing. warnings.
    logging.getLogger logging.basicConfig logging.StreamHandler logging.FileHandler logging.Formatter
    multiprocessing.cpu_count multiprocessing.set_start_method multiprocessing.freeze_support
    numpy.random. numpy.set_printoptions numpy.seterr numpy.errstate numpy.finfo numpy.iinfo numpy.dtype
    numba.cuda. numba.set_num_threads numba.get_num_threads numba.get_num_cores numba.types.
    os.path. os.cpu_count os.getcwd os.getenv os.makedirs os.mkdir os.chdir os.listdir os.sched_getaffinity
    os.environ. os.getpid
    sys.path. sys.setrecursionlimit sys.stdout. sys.stderr. sys.exit sys.version_info sys.argv
    timeit.default_timer
""")
"""Functions, and modules with all their functions, that change nothing of what a file defines."""
_CALLABLE = _words("""
    abs bool bytearray bytes classmethod dict enumerate float hasattr hash id input int isinstance issubclass
    len list object open print property range repr round set staticmethod str sum super tuple zip
""")
"""Likewise of Python's own, which call nothing that they are given."""
_DESCRIPTIONS = _words("""
    __all__ __author__ __authors__ __copyright__ __credits__ __date__ __doc__ __email__ __license__
    __maintainer__ __status__ __version__
""")
_MADE_BY = re.compile(r"\(uses ([\w.]+)\)$")
"""The function that made a value which is not followed, behind the reason why it is not."""


def may_change_names(node: ast.AST, bindings: Mapping[str, Any]) -> str:
    """Say what of a node that runs, and is not followed, may give names another meaning; empty if nothing."""
    if isinstance(node, ast.Call):
        name = _dotted(node.func, bindings)
        if not name.startswith(_HARMLESS) and name not in _CALLABLE:
            return f"{shown(node)} is not followed, and may change what a name stands for"
    elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
        for decorator in node.decorator_list:
            if not isinstance(decorator, ast.Call):
                name = _dotted(decorator, bindings)
                if not name.startswith(_HARMLESS) and name not in _CALLABLE:
                    return f"@{shown(decorator)} is not followed, and may change what a name stands for"
        if isinstance(node, ast.ClassDef) and node.keywords:
            return f"class {node.name} has a metaclass"
    return ""


def binds_a_name_of_pythons(names: Iterable[str]) -> Iterator[str]:
    """Yield names in two underscores, which Python itself goes by, such as `__builtins__`."""
    for name in names:
        if name.startswith("__") and name.endswith("__") and name not in _DESCRIPTIONS:
            yield name


def _dotted(function: ast.expr, bindings: Mapping[str, Any]) -> str:
    """Return the full name of a function of a library; of anything else no name that is in a table."""
    names: list[str] = []
    while isinstance(function, ast.Attribute):
        names.append(function.attr)
        function = function.value
    if not isinstance(function, ast.Name):
        return f"({shown(function)})"
    value = bindings.get(function.id)
    known = getattr(value, "name", "") if value is not None else function.id
    if isinstance(value, Unknown) and " " in known:
        made_by = _MADE_BY.search(known)
        known = made_by[1] if made_by else f"({known})"
    return ".".join([known, *reversed(names)])
