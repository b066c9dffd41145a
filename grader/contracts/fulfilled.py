"""Tests whether a class that a plugin brings fulfils its contract: base, attributes, methods, parameters."""

from __future__ import annotations

import inspect
from collections.abc import Iterator
from typing import Any

from grader.coursecode import PACKAGE
from grader.errors import CourseError


def fulfilling(answer: object, *contracts: type) -> type:
    """Return the answer if it is a class that fulfils one of these contracts.

    Raises:
        CourseError: it is not derived from one, lacks methods or attributes, or has a method that takes other
            arguments.
    """
    for contract in contracts:
        if isinstance(answer, type) and issubclass(answer, contract):
            attributes = {name for name in contract.__annotations__ if not hasattr(answer, name)}
            if lacking := sorted(attributes.union(vars(answer)["__abstractmethods__"])):
                raise CourseError(f"{full_name(answer)} lacks {', '.join(lacking)}")
            if problems := [*_objections(answer, contract)]:
                raise CourseError(f"{full_name(answer)}{problems[0]}")
            return answer
    names = " or ".join(full_name(each).replace("grader.contracts", "grader.api") for each in contracts)
    if isinstance(answer, contracts):
        raise CourseError(f"gives an object of {full_name(type(answer))}; give the class, without brackets")
    raise CourseError(f"{full_name(answer)} is not derived from {names}")


def _objections(answer: type, contract: type) -> Iterator[str]:
    """Yield what of a class cannot be used as its contract says; each begins with the name of the member."""
    name = getattr(answer, "name", "")
    if "name" in contract.__annotations__ and not (isinstance(name, str) and name):
        yield f".name: must be text, got {name!r}"
    for member, promised in vars(contract).items():
        written = inspect.getattr_static(answer, member, promised)
        if written is promised or member.startswith("_"):
            continue
        if not inspect.isfunction(promised) or not inspect.isfunction(written):
            continue
        if not _takes(inspect.signature(written), inspect.signature(promised)):
            yield f".{member}: takes {_parameters(written)}; write {_parameters(promised)}"


def _takes(written: inspect.Signature, promised: inspect.Signature) -> bool:
    """Tell whether a call as the contract makes it finds its parameters."""
    parameters = promised.parameters.values()
    keywords = {p.name: None for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY}
    positional = [None for p in parameters if p.kind is inspect.Parameter.POSITIONAL_OR_KEYWORD]
    try:
        written.bind(*positional, **keywords)
    except TypeError:
        return False
    return True


def _parameters(function: Any) -> str:
    """Return the parameters of a function as they are written, without types."""
    signature = inspect.signature(function)
    bare = [p.replace(annotation=inspect.Parameter.empty) for p in signature.parameters.values()]
    return str(signature.replace(parameters=bare, return_annotation=inspect.Signature.empty))


def full_name(answer: object) -> str:
    """Return the name of a class, in a course without its package; of another object its `repr`."""
    if not isinstance(answer, type):
        return repr(answer)
    module = answer.__module__
    if module.startswith(f"{PACKAGE}."):
        module = module.removeprefix(f"{PACKAGE}.").partition(".")[2]
    return f"{module}.{answer.__qualname__}" if module else answer.__qualname__
