"""Folders that a set-up shows are found under the name that its variables say, in every layer."""

from __future__ import annotations

import fcntl
from dataclasses import replace
from textwrap import dedent

import pytest

from grader.contracts.call import InputCase
from grader.contracts.sandbox import Promise
from grader.harness.server import SubjectServer
from grader.harness.server_spec import OBSERVER, ServerSpec
from grader.harness.student_process import StudentProcess
from grader.harness.subject import ChildSubject
from grader.model.assignment import Limits
from grader.sandbox.interpreter import interpreter

LOOK = """
import os
def look():
    kept, _, usual = os.environ["SHOWN"].partition(":")
    return [open(kept + "/a").read(), usual, kept]
"""
NAME = """
import threading
def name():
    done = threading.Event()
    worker = threading.Thread(target=done.wait)
    worker.start()
    comm = f"/proc/self/task/{worker.native_id}/comm"
    try:
        with open(comm, "r+") as file: file.write("named")
        return open(comm).read().strip()
    finally:
        done.set()
"""
LIMITS = Limits(call_wall_s=5.0)


def test_a_folder_that_is_shown_is_where_the_variable_says(any_classroom, tmp_path_factory):
    shown = tmp_path_factory.mktemp("shown")
    for folder in (shown, *shown.parents[:2]):
        folder.chmod(0o755)
    (shown / "a").write_text("here")
    (any_classroom.workspace / "work.py").write_text(LOOK)
    server = SubjectServer(
        any_classroom.sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(
            preloads=("numpy",),
            mounts=(("/shown", str(shown)),),
            environment=(("SHOWN", "/shown:/shownot"),),
        ),
        workspaces={"submission": any_classroom.workspace},
        limits=LIMITS,
        as_root=True,
    )
    try:
        server.ready()
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            content, usual, where = subject.call("look", InputCase(name="a", args=())).value
    finally:
        server.close()
    assert (content, usual) == ("here", "/shownot")
    assert where == ("/shown" if any_classroom.sandbox.namespaced else str(shown))


def test_a_program_with_a_device_names_its_threads_in_proc_as_the_driver_of_a_gpu_does(any_classroom):
    """cuInit fails where it cannot: seen with driver 580, on a read-only /proc."""
    if not any_classroom.sandbox.namespaced:
        pytest.skip("lends no devices")
    (any_classroom.workspace / "work.py").write_text(NAME)
    server = SubjectServer(
        any_classroom.sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=(OBSERVER,), devices=("/dev/null",)),
        workspaces={"submission": any_classroom.workspace},
        limits=LIMITS,
    )
    try:
        server.ready()
        with ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as subject:
            assert subject.call("name", InputCase(name="a", args=())).value == "named"
    finally:
        server.close()


def test_a_child_may_have_more_room_than_its_server_gives(classroom):
    server = classroom.server(LIMITS)
    (classroom.workspace / "work.py").write_text(
        "import resource\nlook = lambda: resource.getrlimit(resource.RLIMIT_FSIZE)[0]\n"
    )
    more = replace(LIMITS, file_mb=321)
    with ChildSubject(StudentProcess(server, "submission", more), "work", more) as subject:
        assert subject.call("look", InputCase(name="a", args=())).value == 321 * 2**20


@pytest.mark.promise(Promise.FRESH_FOLDERS)
def test_a_lock_on_a_file_of_the_course_is_seen_by_no_other_check(any_classroom, tmp_path_factory):
    """HDF5 locks every file that it opens: one program could keep all others from their data."""
    given = tmp_path_factory.mktemp("given")
    for folder in (given, *given.parents[:2]):
        folder.chmod(0o755)
    (given / "table.txt").write_text("1")
    (any_classroom.workspace / "work.py").write_text(
        dedent(
            """
            import fcntl
            def lock():
                global held
                held = open("/given/table.txt")
                fcntl.flock(held, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return held.read()
            """
        )
    )
    server = SubjectServer(
        any_classroom.sandbox,
        python=interpreter().executable,
        site=interpreter().site,
        setup=ServerSpec(preloads=("numpy",)),
        workspaces={"submission": any_classroom.workspace},
        course_files=given,
        limits=LIMITS,
        as_root=True,
    )
    try:
        server.ready()
        with (
            ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as one,
            ChildSubject(StudentProcess(server, "submission", LIMITS), "work", LIMITS) as other,
            (given / "table.txt").open() as ours,
        ):
            case = InputCase(name="a", args=())
            assert [one.call("lock", case).value, other.call("lock", case).value] == ["1", "1"]
            fcntl.flock(ours, fcntl.LOCK_EX | fcntl.LOCK_NB)
    finally:
        server.close()
