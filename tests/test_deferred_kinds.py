"""Check kinds that are imported when a rubric names them, and not before."""

from __future__ import annotations

import subprocess
import sys

import pytest

from grader.checks.builtin import KINDS
from grader.contracts.check import DeferredKind
from grader.errors import CourseError
from grader.markers import hookimpl
from grader.plugins import Plugins


class Brings:
    def __init__(self, *kinds: object) -> None:
        self.kinds = kinds

    @hookimpl
    def grader_checks(self) -> tuple[object, ...]:
        return self.kinds


def plugins_with(*kinds: object) -> Plugins:
    plugins = Plugins()
    plugins.listen(Brings(*kinds))
    return plugins


@pytest.mark.parametrize("deferred", KINDS, ids=lambda deferred: deferred.name)
def test_a_built_in_kind_is_where_it_is_said_to_be(deferred):
    assert Plugins().checks[deferred.name].name == deferred.name


def test_a_kind_that_nobody_names_is_not_imported():
    code = (
        "import sys; from grader.plugins import Plugins; kinds = Plugins().checks; "
        "assert 'speedup' in kinds and len(kinds) == len(list(kinds)); "
        "assert 'grader.checks.speedup' not in sys.modules; "
        "kinds['speedup']; assert 'grader.checks.speedup' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@pytest.mark.parametrize(
    ("place", "problem"),
    [
        ("nothing.of.it:Kind", "nothing.of.it:Kind: ModuleNotFoundError: No module named 'nothing'"),
        ("grader.checks.manual:Nothing", "AttributeError: module 'grader.checks.manual' has no attribute"),
        ("grader.checks.manual:FILE", "AttributeError"),
        (
            "grader.checks.manual:Mapping",
            "collections.abc.Mapping is not derived from grader.api.check.CheckKind",
        ),
        ("grader.checks.manual:Manual", "grader.checks.manual:Manual is called manual; write that"),
    ],
)
def test_a_wrong_place_is_told_when_the_kind_is_asked_for(place, problem):
    kinds = plugins_with(DeferredKind("mine", place)).checks
    with pytest.raises(CourseError, match=r"^check kind mine: ") as raised:
        kinds["mine"]
    assert problem in str(raised.value)


def test_two_of_one_name_are_refused_without_importing_either():
    with pytest.raises(CourseError, match="already brings 'manual'"):
        plugins_with(DeferredKind("manual", "nothing:Kind")).checks  # noqa: B018 - a property
