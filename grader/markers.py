"""The markers that make a function a hook, or an answer to one."""

from __future__ import annotations

import pluggy

PROJECT = "grader"

hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)
"""Decorator of a function that implements a hook of `grader.hookspecs`."""
