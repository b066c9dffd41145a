"""What old and foreign programs write into tar, and a disk that fails under a zip."""

from __future__ import annotations

import errno
import io
import tarfile

import pytest

from grader.intake import tar
from grader.intake import zip as zip_reader
from grader.intake.entry import MemberKind, SubmissionRefused

END = bytes(1024)


def kinds(data: bytes) -> list[tuple[str, MemberKind, bytes]]:
    return [(m.name, m.kind, m.read(1 << 16)) for m in tar.members(io.BytesIO(data).read)]


def test_the_oldest_form_marks_a_folder_by_its_slash(header_with):
    assert kinds(header_with(156, b"\0", "hw1/") + END) == [("hw1/", MemberKind.FOLDER, b"")]
    assert kinds(header_with(156, b"\0", "hw1") + END) == [("hw1", MemberKind.FILE, b"")]


def test_the_size_of_a_folder_is_not_followed_by_data():
    folder = tarfile.TarInfo("hw1")
    folder.type, folder.size = tarfile.DIRTYPE, 4096
    data = folder.tobuf() + tarfile.TarInfo("hw1/utils.py").tobuf() + END
    assert [name for name, _, _ in kinds(data)] == ["hw1/", "hw1/utils.py"]


def test_times_in_place_of_a_prefix_are_no_part_of_the_name(header_with):
    assert kinds(header_with(345, b"14723456701\0") + END)[0][0] == "utils.py"


def test_a_size_may_be_binary(header_with):
    data = header_with(124, b"\x80" + (3).to_bytes(11, "big")) + b"abc".ljust(512, b"\0") + END
    assert kinds(data) == [("utils.py", MemberKind.FILE, b"abc")]


def test_what_one_member_does_not_read_is_not_read_as_the_next(header_with):
    data = header_with(124, b"00000002000\0") + tarfile.TarInfo("hidden").tobuf() + bytes(512) + END
    assert [m.name for m in tar.members(io.BytesIO(data).read)] == ["utils.py"]


def test_extended_headers_are_bounded_for_each_member():
    long = tarfile.TarInfo("x" * 200).tobuf(tarfile.GNU_FORMAT)
    extension, member = long[:1024], long[1024:]
    assert len(kinds((extension * 8 + member) * 3 + END)) == 3
    with pytest.raises(SubmissionRefused, match="is damaged; pack the files again"):
        kinds(extension * 9 + member + END)


@pytest.mark.parametrize(("number", "error"), [(errno.EIO, OSError), (errno.EINVAL, SubmissionRefused)])
def test_a_failing_disk_is_not_taken_for_a_damaged_zip(number, error, zip_of):
    class Failing(io.BytesIO):
        fails = False

        def read(self, size=-1):
            if self.fails:
                raise OSError(number, "no")
            return super().read(size)

    file = Failing(zip_of({"utils.py": b"x"}).read_bytes())
    for member in zip_reader.members(file):
        file.fails = True
        with pytest.raises(error):
            member.read(1)
