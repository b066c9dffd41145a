"""Every submission that is not taken: its one line, and nothing left behind (the `refusal` fixture looks)."""

from __future__ import annotations

import gzip
import os
import struct
import tarfile
import zipfile
import zlib

import pytest

from grader.intake.limits import MIB, ArchiveLimits

AGAIN = "pack the files again"


def member(name: str, kind: bytes, target: str = "") -> tuple[tarfile.TarInfo, bytes]:
    info = tarfile.TarInfo(name)
    info.type, info.linkname = kind, target
    return info, b""


@pytest.mark.parametrize(
    ("kind", "target", "line"),
    [
        (tarfile.SYMTYPE, "/etc", "holds a symbolic link (data -> /etc); hand in the file itself"),
        (tarfile.LNKTYPE, "utils.py", "holds a hard link (data -> utils.py); hand in the file itself"),
        (tarfile.CHRTYPE, "", "holds a device (data); hand in plain files only"),
        (tarfile.BLKTYPE, "", "holds a device (data); hand in plain files only"),
        (tarfile.FIFOTYPE, "", "holds a named pipe (data); hand in plain files only"),
        (tarfile.GNUTYPE_SPARSE, "", "holds a sparse file (data); pack the files without --sparse"),
        (b"V", "", "holds something that is no file (data); hand in plain files only"),
    ],
)
def test_a_tar_holds_plain_files_only(kind, target, line, tar_of, refusal):
    source = tar_of([("utils.py", b"x"), member("data", kind, target)], format=tarfile.GNU_FORMAT)
    assert refusal(source) == f"alice.tar.gz: {line}"


def test_all_links_are_named_at_once(tar_of, refusal):
    links = [member(f"{name}.py", tarfile.SYMTYPE, "utils.py") for name in "abcdef"]
    found = refusal(tar_of([links[0], ("utils.py", b"x"), member("._c", tarfile.SYMTYPE, "d"), links[1]]))
    first = "alice.tar.gz: holds a symbolic link (a.py -> utils.py), and 1 more (b.py -> utils.py)"
    assert found == f"{first}; hand in the file itself"
    assert ", and 5 more (b.py -> utils.py, c.py -> utils.py, d.py -> utils.py, …); " in refusal(
        tar_of(links)
    )


def test_a_link_is_named_also_where_the_rest_is_cut_off(tar_of, refusal):
    source = tar_of([member("a.py", tarfile.SYMTYPE, "b"), ("utils.py", os.urandom(10_000))])
    source.write_bytes(source.read_bytes()[:5000])
    assert refusal(source) == "alice.tar.gz: holds a symbolic link (a.py -> b); hand in the file itself"


def test_a_sparse_file_in_pax_form_is_refused(tar_of, refusal):
    info = tarfile.TarInfo("utils.py")
    info.pax_headers = {"GNU.sparse.major": "1", "GNU.sparse.minor": "0"}
    line = "alice.tar.gz: holds a sparse file (utils.py); pack the files without --sparse"
    assert refusal(tar_of([(info, b"")])) == line


@pytest.mark.parametrize(
    ("mode", "line"),
    [
        (0o120777, "holds a symbolic link (utils.py -> /etc/passwd); hand in the file itself"),
        (0o060666, "holds a device (utils.py); hand in plain files only"),
        (0o020666, "holds a device (utils.py); hand in plain files only"),
        (0o010666, "holds a named pipe (utils.py); hand in plain files only"),
        (0o140666, "holds a socket (utils.py); hand in plain files only"),
        (0o170666, "holds something that is no file (utils.py); hand in plain files only"),
    ],
)
def test_a_zip_holds_plain_files_only(mode, line, zip_of, refusal):
    info = zipfile.ZipInfo("utils.py")
    info.external_attr = mode << 16
    assert refusal(zip_of([(info, b"/etc/passwd")])) == f"alice.zip: {line}"


def test_a_folder_holds_plain_files_only(refusal, tmp_path):
    folder = tmp_path / "alice"
    folder.mkdir()
    (folder / "utils.py").symlink_to("/etc/passwd")
    line = "alice: holds a symbolic link (utils.py -> /etc/passwd); hand in the file itself"
    assert refusal(folder) == line
    (folder / "utils.py").unlink()
    os.mkfifo(folder / "utils.py")
    assert refusal(folder) == "alice: holds a named pipe (utils.py); hand in plain files only"


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("/etc/passwd", "holds an absolute path (/etc/passwd); pack the files relative to their folder"),
        ("C:\\x.py", "holds an absolute path (C:\\\\x.py); pack the files relative to their folder"),
        (
            "\\\\host\\x",
            "holds an absolute path (\\\\\\\\host\\\\x); pack the files relative to their folder",
        ),
        ("../x.py", "holds a path that leads outside (../x.py); pack the files without `..`"),
        ("a/../../x.py", "holds a path that leads outside (a/../../x.py); pack the files without `..`"),
        ("..\\x.py", "holds a path that leads outside (..\\\\x.py); pack the files without `..`"),
        ("a\nb.py", "holds a name with a control character (a\\nb.py); rename the file"),
        ("\x1b[31m.py", "holds a name with a control character (\\x1b[31m.py); rename the file"),
        (
            "d/" * 20 + "x",
            f"holds a path of more than 20 parts ({'d/' * 20}x); pack the homework's own folder",
        ),
        (
            "x" * 256,
            f"holds a path longer than 255 bytes ({'x' * 40}…{'x' * 40}); use shorter names",
        ),
        (
            "é" * 128,
            f"holds a path longer than 255 bytes ({'é' * 40}…{'é' * 40}); use shorter names",
        ),
    ],
)
@pytest.mark.parametrize("form", ["tar", "zip"])
def test_a_path_stays_inside_and_is_plain_text(name, line, form, tar_of, zip_of, refusal):
    source = {"tar": tar_of, "zip": zip_of}[form]([("utils.py", b""), (name, b"")])
    assert refusal(source) == f"{source.name}: {line.replace(chr(92) * 2, chr(92))}"


def test_a_path_at_the_limits_is_taken(tar_of, taken):
    assert len(taken(tar_of({"utils.py": b"", "d/" * 19 + "x": b"", "y" * 255: b""})).dropped) == 2


def test_backslashes_are_separators(zip_of, taken):
    got = taken(zip_of({"hw1\\utils.py": b"", "hw1\\sub\\": b""}))
    assert (got.files, got.dropped) == (("utils.py",), ())


def test_a_name_that_is_not_utf8_is_refused(tar_of, refusal):
    source = tar_of([("utils.py", b""), ("caf\udce9.py", b"")], format=tarfile.GNU_FORMAT)
    line = "alice.tar.gz: holds a name that is not UTF-8 (caf\\xe9.py); rename the file in plain letters"
    assert refusal(source) == line


def test_a_nul_in_a_name_is_refused(tar_of, zip_of, refusal):
    line = "holds a name with a control character (utils.py\\x00.jpg); rename the file"
    packed = zip_of({"utils.py0.jpg": b""})
    packed.write_bytes(packed.read_bytes().replace(b"utils.py0.jpg", b"utils.py\0.jpg"))
    assert refusal(packed) == f"alice.zip: {line}"
    info = tarfile.TarInfo("x")
    info.pax_headers = {"path": "utils.py\0.jpg"}
    assert refusal(tar_of([(info, b"")])) == f"alice.tar.gz: {line}"


def test_a_file_without_a_name_is_refused(tar_of, refusal):
    assert refusal(tar_of({".": b"x"})) == f"alice.tar.gz: holds a file without a name; {AGAIN}"


@pytest.mark.parametrize(
    ("names", "line"),
    [
        (["utils.py", "utils.py"], "holds utils.py twice; pack each file once"),
        (["utils.py", "./utils.py"], "holds utils.py twice; pack each file once"),
        (
            ["utils.py", "Utils.py"],
            "holds both utils.py and Utils.py, one file on some machines; hand in one of them",
        ),
        (
            ["stra\N{LATIN SMALL LETTER SHARP S}e.py", "STRASSE.py"],
            "holds both stra\N{LATIN SMALL LETTER SHARP S}e.py and STRASSE.py, "
            "one file on some machines; hand in one of them",
        ),
        (["\N{LATIN SMALL LETTER E WITH ACUTE}.py", "e\u0301.py"], "holds é.py twice; pack each file once"),
        (["a", "a/b"], "holds a both as a file and as a folder; pack the files again"),
        (["A/b", "a"], "holds a both as a file and as a folder; pack the files again"),
        (["a/b", "a/b/c/d"], "holds a/b both as a file and as a folder; pack the files again"),
    ],
)
def test_no_two_files_are_one_on_any_file_system(names, line, tar_of, zip_of, refusal):
    files = [(name, b"") for name in names]
    assert refusal(tar_of(files)) == f"alice.tar.gz: {line}"
    assert refusal(zip_of(files)) == f"alice.zip: {line}"


def test_a_name_comes_out_in_composed_form(tar_of, taken):
    assert taken(tar_of({"utils.py": b"", "e\u0301.txt": b""})).dropped == (
        "\N{LATIN SMALL LETTER E WITH ACUTE}.txt",
    )


# What is no sound archive.


@pytest.mark.parametrize(
    ("name", "data", "line"),
    [
        ("a.tar.gz", b"", "is empty (0 bytes); upload the file again"),
        ("a.zip", b"", "is empty (0 bytes); upload the file again"),
        ("a.zip", b"hello", "is no archive, whatever its name says; pack the files as .tar.gz or .zip"),
        ("a.py", b"x = 1", "is no archive; pack the files as .tar.gz or .zip"),
        ("a.rar", b"Rar!\x1a\x07", "is a RAR archive; pack the files as .tar.gz or .zip"),
        (
            "a.zip",
            b"7z\xbc\xaf\x27\x1c..",
            "is a 7-Zip archive, whatever its name says; pack the files as .tar.gz or .zip",
        ),
        ("a.zst", b"\x28\xb5\x2f\xfd..", "is packed with zstd; pack the files as .tar.gz or .zip"),
        (
            "a.tar.gz",
            gzip.compress(b"x = 1\n" * 200, mtime=0),
            "is compressed but holds no tar archive; pack the files as .tar.gz or .zip",
        ),
        ("a.tar.gz", b"\x1f\x8bnonsense" * 99, "is damaged; pack the files again"),
        ("a.tar.xz", b"\xfd7zXZ\0nonsense" * 99, "is damaged; pack the files again"),
        ("a.tar.bz2", b"BZh9nonsense" * 99, "is damaged; pack the files again"),
        ("a.tar.gz", gzip.compress(bytes(10240), mtime=0), "holds no files; pack the homework's files"),
        ("a.zip", b"PK\5\6" + bytes(18), "holds no files; pack the homework's files"),
        (
            "a.zip",
            b"PK\3\4" + bytes(100),
            "is damaged or cut off; pack the files again and upload the whole file",
        ),
    ],
)
def test_what_is_no_sound_archive_says_so(name, data, line, refusal, tmp_path):
    (tmp_path / name).write_bytes(data)
    assert refusal(tmp_path / name) == f"{name}: {line}"


@pytest.mark.parametrize(
    ("mode", "name", "ending"),
    [
        ("w:gz", "alice.zip", ".tar.gz"),
        ("w", "alice.tar.gz", ".tar"),
        ("w:xz", "alice.tar.bz2", ".tar.xz"),
        ("w:gz", "alice.gz", ".tar.gz"),
        ("w:bz2", "alice", ".tar.bz2"),
    ],
)
def test_a_name_that_lies_about_the_form_is_refused(mode, name, ending, tar_of, refusal):
    line = f"{name}: is a {ending} archive by another name; let its name end in {ending}"
    assert refusal(tar_of({"utils.py": b""}, name, mode)) == line


def test_a_zip_named_tar_gz_is_refused(zip_of, refusal):
    line = "alice.tar.gz: is a .zip archive by another name; let its name end in .zip"
    assert refusal(zip_of({"utils.py": b""}, "alice.tar.gz")) == line


def test_a_tar_whose_first_file_is_named_like_another_form_is_read(tar_of, taken):
    assert taken(tar_of({"BZh": b"", "utils.py": b""}, "alice.tar", "w")).dropped == ("BZh",)


@pytest.mark.parametrize(
    ("ending", "mode"), [("tar", "w"), ("tar.gz", "w:gz"), ("tar.bz2", "w:bz2"), ("tar.xz", "w:xz")]
)
@pytest.mark.parametrize("part", [0.7, 0.3])
def test_a_tar_that_is_cut_off_is_refused(ending, mode, part, tar_of, refusal):
    source = tar_of({"utils.py": os.urandom(20000), "b": os.urandom(20000)}, f"alice.{ending}", mode)
    whole = source.read_bytes()
    source.write_bytes(whole[: int(len(whole) * part)])
    assert refusal(source) == f"alice.{ending}: is cut off; upload the whole file again"


def test_a_tar_cut_off_between_two_files_is_refused(tar_of, refusal):
    source = tar_of({"utils.py": b"x", "b": b"y"}, "alice.tar", "w")
    source.write_bytes(source.read_bytes()[:1024])
    assert refusal(source) == "alice.tar: is cut off; upload the whole file again"


def test_a_tar_with_a_damaged_header_in_its_middle_is_refused(tar_of, refusal):
    source = tar_of({"utils.py": b"x", "b": b"y"}, "alice.tar", "w")
    data = bytearray(source.read_bytes())
    data[1024] ^= 1
    source.write_bytes(data)
    assert refusal(source) == f"alice.tar: is damaged; {AGAIN}"


def test_a_wrong_checksum_after_the_last_file_is_refused(tar_of, refusal):
    source = tar_of({"utils.py": b"x"})
    data = bytearray(source.read_bytes())
    data[-8] ^= 1
    source.write_bytes(data)
    assert refusal(source) == f"alice.tar.gz: is damaged; {AGAIN}"


@pytest.mark.parametrize(
    "pax",
    [
        b"8 path=a\n",
        b"99999 path=a\n",
        b"x path=a\n",
        b"0 path=a\n",
        b"11 path=ab",
        b"10 path=ab",
        b"+11 path=a\n",
        b"11 size=-9\n",
        b"1" * 900,
    ],
)
def test_a_damaged_extended_header_is_refused(pax, tmp_path, refusal):
    info = tarfile.TarInfo("pax")
    info.type, info.size = tarfile.XHDTYPE, len(pax)
    blocks = [
        info.tobuf(tarfile.USTAR_FORMAT),
        pax,
        bytes(-len(pax) % 512),
        tarfile.TarInfo("utils.py").tobuf(),
    ]
    (tmp_path / "alice.tar").write_bytes(b"".join([*blocks, bytes(1024)]))
    assert refusal(tmp_path / "alice.tar") == f"alice.tar: is damaged; {AGAIN}"


def test_an_extended_header_of_unreasonable_length_is_refused(tmp_path, refusal):
    info = tarfile.TarInfo("long")
    info.type, info.size = tarfile.GNUTYPE_LONGNAME, MIB + 512
    blocks = [info.tobuf(tarfile.GNU_FORMAT), b"x" * (MIB + 512), tarfile.TarInfo("x").tobuf(), bytes(1024)]
    (tmp_path / "alice.tar").write_bytes(b"".join(blocks))
    assert refusal(tmp_path / "alice.tar") == f"alice.tar: is damaged; {AGAIN}"


@pytest.mark.parametrize("size", [b"1_0", b"9", b"-1", b"\xff" * 12])
def test_a_size_that_is_no_number_is_refused(size, tmp_path, refusal, header_with):
    (tmp_path / "alice.tar").write_bytes(header_with(124, size.ljust(12, b"\0")) + bytes(2048))
    assert refusal(tmp_path / "alice.tar") == f"alice.tar: is damaged; {AGAIN}"


def test_one_name_for_all_members_is_refused(tar_of, refusal):
    source = tar_of({"a": b""}, pax_headers={"path": "utils.py"})
    assert refusal(source) == f"alice.tar.gz: is damaged; {AGAIN}"


@pytest.mark.parametrize("cut", [10, 60, 150])
def test_a_zip_that_is_cut_off_is_refused(cut, zip_of, refusal):
    source = zip_of({"utils.py": b"x" * 500, "b.py": b"y" * 500})
    source.write_bytes(source.read_bytes()[:-cut])
    line = "is damaged or cut off; pack the files again and upload the whole file"
    assert refusal(source) == f"alice.zip: {line}"


def test_a_zip_whose_data_are_not_what_was_packed_is_refused(zip_of, refusal):
    source = zip_of({"utils.py": b"answer = 41\n"}, method=zipfile.ZIP_STORED)
    source.write_bytes(source.read_bytes().replace(b"41", b"42"))
    line = "is damaged or cut off; pack the files again and upload the whole file"
    assert refusal(source) == f"alice.zip: {line}"


def test_a_zip_whose_contents_and_table_disagree_is_refused(zip_of, refusal):
    source = zip_of({"utils.py": b"x"})
    source.write_bytes(source.read_bytes().replace(b"utils.py", b"other.py", 1))
    line = "is damaged or cut off; pack the files again and upload the whole file"
    assert refusal(source) == f"alice.zip: {line}"


def test_an_encrypted_zip_is_refused(zip_of, refusal):
    source = zip_of({"utils.py": b"x"})
    data = bytearray(source.read_bytes())
    data[6] |= 1
    data[data.index(b"PK\1\2") + 8] |= 1
    source.write_bytes(data)
    line = "alice.zip: holds an encrypted file (utils.py); pack the files without a password"
    assert refusal(source) == line


@pytest.mark.parametrize("method", [zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA, 9, 99])
def test_a_zip_with_an_unusual_method_is_refused(method, zip_of, refusal):
    source = zip_of({"utils.py": b"x"})
    data = bytearray(source.read_bytes())
    for at in (8, data.index(b"PK\1\2") + 10):
        data[at : at + 2] = struct.pack("<H", method)
    source.write_bytes(data)
    line = "packed in an unusual way (utils.py); pack the files with the usual method (deflate)"
    assert refusal(source) == f"alice.zip: holds a file that is {line}"


def test_a_zip_with_an_absurd_table_of_contents_is_refused(zip_of, refusal):
    source = zip_of({"utils.py": b"x" * 5 * MIB}, method=zipfile.ZIP_STORED)
    data = bytearray(source.read_bytes())
    end = data.index(b"PK\5\6")
    data[end + 12 : end + 16] = struct.pack("<I", 4 * MIB + 1)
    source.write_bytes(data)
    line = "has a table of contents longer than any homework's; hand in the source files only"
    assert refusal(source) == f"alice.zip: {line}"


# What is too much.

SMALL = ArchiveLimits(
    total_bytes=3 * MIB, file_bytes=2 * MIB, ratio=10, ratio_from_bytes=MIB, entries=5, depth=3, path_bytes=20
)


@pytest.mark.parametrize("form", ["tar", "zip", "folder"])
def test_too_many_entries_are_refused(form, tar_of, zip_of, refusal, tmp_path):
    files = {f"{n}.py": b"" for n in range(6)}
    source = tmp_path / "alice"
    if form == "folder":
        source.mkdir()
        for name in files:
            (source / name).touch()
    else:
        source = {"tar": tar_of, "zip": zip_of}[form](files)
    line = f"{source.name}: holds more than 5 entries; hand in the source files only"
    assert refusal(source, limits=SMALL) == line


@pytest.mark.parametrize("form", ["tar", "zip"])
def test_a_file_too_large_is_refused(form, tar_of, zip_of, refusal):
    source = {"tar": tar_of, "zip": zip_of}[form]({"big.bin": os.urandom(2 * MIB + 1)})
    line = f"{source.name}: holds a file larger than 2 MiB (big.bin); hand in the source files only"
    assert refusal(source, limits=SMALL) == line


def test_too_much_altogether_is_refused(tar_of, zip_of, refusal, tmp_path):
    files = {"utils.py": os.urandom(2 * MIB), "b": os.urandom(2 * MIB)}
    folder = tmp_path / "alice"
    folder.mkdir()
    for name, data in files.items():
        (folder / name).write_bytes(data)
    for source in (tar_of(files), tar_of(files, "alice.tar", "w"), zip_of(files), folder):
        line = f"{source.name}: unpacks to more than 3 MiB; hand in the source files only"
        assert refusal(source, limits=SMALL) == line


@pytest.mark.parametrize("name", ["utils.py", "other.bin"])
def test_a_bomb_is_refused_wherever_it_lies(name, tar_of, zip_of, refusal):
    files = {name: bytes(2 * MIB)}
    for source in (
        tar_of(files),
        tar_of(files, "a.tar.xz", "w:xz"),
        tar_of(files, "a.tar.bz2", "w:bz2"),
        zip_of(files),
    ):
        line = f"{source.name}: unpacks to more than 10 times its own size; hand in the source files only"
        assert refusal(source, limits=SMALL) == line


def test_a_bomb_behind_the_last_file_is_refused(tar_of, refusal):
    source = tar_of({"utils.py": b""})
    source.write_bytes(gzip.compress(gzip.decompress(source.read_bytes()) + bytes(2 * MIB)))
    line = "alice.tar.gz: unpacks to more than 10 times its own size; hand in the source files only"
    assert refusal(source, limits=SMALL) == line


def test_a_zip_cannot_use_the_same_bytes_many_times(zip_of, refusal):
    kernel = os.urandom(MIB)
    source = zip_of({"utils.py": kernel}, method=zipfile.ZIP_STORED)
    data = source.read_bytes()
    at, end = data.index(b"PK\1\2"), data.index(b"PK\5\6")
    entry = data[at:end]
    table = b"".join(entry.replace(b"utils.py", b"utils.p%c" % letter) for letter in b"yabc")
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 4, 4, len(table), at, 0)
    source.write_bytes(data[:at] + table + tail)
    assert refusal(source, limits=SMALL).startswith("alice.zip: is damaged or cut off")


def test_a_zip_that_understates_a_size_gains_nothing(zip_of, refusal):
    source = zip_of({"utils.py": bytes(2 * MIB)})
    data = source.read_bytes()
    source.write_bytes(data.replace(struct.pack("<I", 2 * MIB), struct.pack("<I", 5)))
    assert refusal(source, limits=SMALL).startswith("alice.zip: is damaged or cut off")


def test_a_small_repetitive_file_is_no_bomb(tar_of, taken):
    assert taken(tar_of({"utils.py": b"#" * 10 * MIB})).files == ("utils.py",)


def test_the_limits_are_those_that_are_documented():
    limits = ArchiveLimits()
    assert (limits.total_bytes, limits.file_bytes) == (512 * MIB, 256 * MIB)
    assert (limits.ratio, limits.entries, limits.depth, limits.path_bytes) == (200, 10_000, 20, 255)


def test_the_line_stays_one_line_whatever_the_archive_is_called(refusal, tmp_path):
    source = tmp_path / "a\n\x1b[2J.zip"
    source.write_bytes(zlib.compress(b"x"))
    line = "a\\n\\x1b[2J.zip: is no archive, whatever its name says; pack the files as .tar.gz or .zip"
    assert refusal(source, student="alice") == line
