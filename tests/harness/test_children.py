"""Items of a group share one child; all others start from nothing."""

import pytest

from grader.contracts.call import InputCase
from grader.harness.process_pool import ProcessPool, ProcessSpec
from grader.harness.server_spec import ServerSpec
from grader.harness.servers import Servers
from grader.model.assignment import Limits
from grader.model.observation import Outcome
from grader.sandbox.bubblewrap import BubblewrapSandbox
from grader.sandbox.interpreter import interpreter
from grader.sandbox.process import ProcessSandbox

CODE = """
count = 0
print("imported")
def up():
    global count
    count += 1
    print("up", count)
    return count
def die():
    import os
    os._exit(1)
"""
NUMPY = ServerSpec(preloads=("numpy",))
NOTHING = InputCase(name="nothing", args=())


@pytest.fixture(params=[BubblewrapSandbox, ProcessSandbox], ids=lambda kind: kind.name)
def children(request, tmp_path):
    if missing := request.param().available():
        pytest.skip(missing)
    tmp_path.chmod(0o755)
    (tmp_path / "work.py").write_text(CODE)
    servers = Servers(
        (request.param(),),
        python=interpreter().executable,
        site=interpreter().site,
        workspaces={"submission": tmp_path, "reference": tmp_path},
        limits=Limits(),
        as_root=True,  # what runs here we wrote ourselves, and the interpreter may lie below a home
    )
    children = ProcessPool(servers, Limits())
    yield children
    children.close()
    servers.close()


def up(children, whose="submission", group=""):
    with children.subject(ProcessSpec(whose=whose, module="work", setup=NUMPY, group=group)) as subject:
        return subject.call("up", NOTHING).value, subject.output


def test_without_a_group_every_item_starts_from_nothing(children):
    assert up(children) == up(children) == (1, "imported\nup 1\n")


def test_no_child_is_forked_ahead_of_the_last_item(children):
    up(children)
    forked_ahead = bool(children._ahead)
    children.is_last_item = True
    assert up(children) == (1, "imported\nup 1\n")
    assert forked_ahead == children.servers.has_loopback
    assert not children._ahead


def test_a_group_shares_a_child_and_each_item_sees_its_own_output(children):
    assert up(children, group="g") == (1, "imported\nup 1\n")
    assert up(children, group="g") == (2, "up 2\n")
    assert up(children, group="other")[0] == 1
    assert up(children, whose="reference", group="g")[0] == 1


def test_a_child_that_died_is_replaced(children):
    with children.subject(ProcessSpec(whose="submission", module="work", setup=NUMPY, group="g")) as subject:
        assert subject.call("die", NOTHING).outcome is Outcome.CRASHED
        assert not subject.alive
    assert up(children, group="g")[0] == 1


def test_a_group_that_ended_starts_from_nothing_again(children):
    up(children, group="g")
    children.end("g")
    assert up(children, group="g")[0] == 1
