"""Attacks reach for our names in the student's process; renamed, they would attack nothing, and pass."""

from __future__ import annotations

import ast
import inspect

import pytest

from grader.subject import child, protocol
from grader.subject.observer.exchange import InputExchange
from grader.subject.questions import Questions

SERVE = ("arguments", "calls", "questions", "request", "results", "shared_buffer", "student")
"""Variables of `serve`, whose frame attacks search for."""


def assigned(source: object) -> set[str]:
    """The attributes that the methods of a class set."""
    tree = ast.parse(inspect.getsource(source))
    nodes = [node for node in ast.walk(tree) if isinstance(node, ast.Attribute)]
    return {node.attr for node in nodes if isinstance(node.ctx, ast.Store)}


@pytest.mark.parametrize("name", SERVE)
def test_the_frame_of_serve_has_what_attacks_take_from_it(name):
    assert name in child.serve.__code__.co_varnames


def test_the_globals_of_serve_have_what_attacks_take_from_them():
    assert {"Encoder", "Reply"} <= vars(child).keys()


def test_objects_that_attacks_find_have_the_attributes_that_they_read_and_replace():
    assert {"_doing", "_ask"} <= assigned(InputExchange)
    assert {"_calls", "nonce"} <= assigned(Questions)
    assert "_synchronise" in assigned(child._Student)
    assert hasattr(Questions, "launch")
    assert hasattr(protocol, "Question")
    assert "document" in child._Student.call.__code__.co_varnames
