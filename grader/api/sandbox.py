"""Names for a sandbox: the contract, its promises, and a program that runs under it."""

from __future__ import annotations

from grader.contracts.sandbox import EVERY_PROMISE, Launched, Promise, Sandbox
from grader.errors import RootError
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import Running
from grader.sandbox.student import student_uid

__all__ = [
    "EVERY_PROMISE",
    "Launched",
    "Promise",
    "RootError",
    "Running",
    "Sandbox",
    "interpreter",
    "student_uid",
]
