"""The markers that make a function a hook, or an answer to one, or an oracle that looks at a call."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import pluggy

AnyFunction = TypeVar("AnyFunction", bound=Callable[..., Any])

PROJECT = "grader"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator of a function that implements a hook of `grader.hookspecs`."""
_AFTER_CALL = "grader_after_call"


def after_call(oracle: AnyFunction) -> AnyFunction:
    """Mark an oracle that gets the functions of its case as the call left them, and not as they were drawn.

    They must be objects of a class at the top of a module, such as a clock that notes what it was asked.
    """
    oracle.__dict__[_AFTER_CALL] = True
    return oracle


def is_after_call(oracle: Callable[..., Any]) -> bool:
    """Tell whether an oracle is marked with `after_call`."""
    return bool(getattr(oracle, _AFTER_CALL, False))
