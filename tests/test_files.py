"""Files appear whole or not at all, and what is no file is not replaced by one."""

from __future__ import annotations

import errno
import os
import threading

import pytest

from grader.errors import CourseError, NotObservedError, UsageError
from grader.files import is_file, obstacle, replacing, write_whole


def test_a_file_is_replaced_whole_and_nothing_lies_beside_it(tmp_path):
    file = tmp_path / "file"
    write_whole(file, "old and long")
    write_whole(file, b"new")
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "new")]


def test_whoever_fails_in_the_middle_leaves_the_old_one_and_nothing_else(tmp_path):
    file = tmp_path / "file"
    file.write_text("old")

    def fail() -> None:
        with replacing(file) as beside:
            beside.write_text("half")
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fail()
    assert [(path.name, path.read_text()) for path in tmp_path.iterdir()] == [("file", "old")]


def test_a_name_may_be_as_long_as_the_file_system_allows(tmp_path):
    file = tmp_path / ("x" * 255)
    write_whole(file, "whole")
    assert file.read_text() == "whole"


def test_a_link_stays_and_leads_to_the_new_file_also_if_there_was_none(tmp_path):
    link = tmp_path / "link"
    link.symlink_to("real")
    for text in ("first", "second"):
        write_whole(link, text)
        assert link.is_symlink()
        assert (tmp_path / "real").read_text() == text


def test_a_pipe_is_written_into(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    read = []
    reader = threading.Thread(target=lambda: read.append(pipe.read_text()))
    reader.start()
    write_whole(pipe, "text")
    reader.join()
    assert read == ["text"]
    assert pipe.is_fifo()


def test_a_file_without_a_name_is_written_into(tmp_path):
    with (tmp_path / "gone").open("w+b") as file:
        (tmp_path / "gone").unlink()
        write_whole(tmp_path.__class__(f"/dev/fd/{file.fileno()}"), "text")
        assert file.read() == b"text"
    assert list(tmp_path.iterdir()) == []


def test_a_folder_is_no_place_for_a_file(tmp_path):
    with pytest.raises(IsADirectoryError):
        write_whole(tmp_path, "text")


def test_where_nobody_may_look_there_is_no_file(tmp_path):
    assert not is_file(tmp_path / ("x" * 256))


@pytest.mark.parametrize(
    ("number", "kind"),
    [
        (errno.ENOSPC, NotObservedError),
        (errno.EDQUOT, NotObservedError),
        (errno.EFBIG, NotObservedError),
        (errno.EIO, NotObservedError),
        (errno.EACCES, CourseError),
        (errno.ENAMETOOLONG, CourseError),
        (errno.EXDEV, CourseError),
    ],
)
def test_a_full_or_broken_disk_is_the_machines_fault_and_anything_else_the_paths(number, kind):
    error = obstacle("--out x", OSError(number, os.strerror(number)), kind=CourseError)
    assert type(error) is kind
    assert str(error).startswith(f"--out x: cannot be written ({os.strerror(number)}); ")


def test_what_stands_further_up_is_named(tmp_path):
    (tmp_path / "file").touch()
    path = tmp_path / "file" / "below"
    with pytest.raises(FileExistsError) as caught:
        (tmp_path / "file").mkdir()
    error = obstacle(path, caught.value)
    assert isinstance(error, UsageError)
    assert str(error).endswith("a file or a dangling link is there; name a folder")
