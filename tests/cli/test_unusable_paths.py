"""Whatever stands in the way of a path that an option names: one line, the right code, nothing is left."""

from __future__ import annotations

import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest

EACH = """if True:
    # each in a process of its own, forked from one that has imported everything
    import json, os, sys
    import grader.cli.run, grader.cli.verify, grader.cli.exporters
    import grader.gradebook.book, grader.grading.grade
    from grader.cli.main import main
    for arguments in json.load(sys.stdin):
        inward, outward = os.pipe()
        pid = os.fork()
        if pid == 0:
            os.dup2(outward, 2)
            os.close(outward)
            sys.argv = ["grader", *arguments]
            try:
                main()
            except SystemExit as end:
                os._exit(end.code)
        os.close(outward)
        with open(inward, encoding="utf-8", errors="backslashreplace") as stream:
            told = stream.read()
        _, status = os.waitpid(pid, 0)
        json.dump([os.waitstatus_to_exitcode(status), told], sys.stdout)
        print(flush=True)
"""

BAD = {
    "below a file": "file/a/b",
    "a circle": "circle",
    "below a circle": "circle/x",
    "a dangling link": "dangling",
    "below a dangling link": "dangling/x",
    "a name too long": "x" * 256,
    "a path too long": "x/" * 2100,
    "two lines": "file/a\nb",
    "NUL": "a\0b",
    "nothing": "",
    "no entry": "closed/x",
    "no writing": "locked/x",
}
FOLDERS = {
    "run --out": ["run", "{archive}", "--out", "{path}"],
    "verify --out": ["verify", "--quick", "--out", "{path}"],
    "export gradescope --out": ["export", "gradescope", "tiny", "--out", "{path}"],
    "init": ["init", "{path}", "--title", "x"],
}
FILES = {
    "run --gradebook": ["run", "{archive}", "--out", "{results}", "--gradebook", "{path}"],
    "record --gradebook": ["record", "{results}", "--gradebook", "{path}"],
    "manual export --out": ["manual", "export", "--results", "{results}", "--out", "{path}"],
    "report --out": ["report", "--out", "{path}"],
    "report --markdown": ["report", "--markdown", "{path}"],
    "report --junit": ["report", "--junit", "{path}"],
    "export csv --out": ["export", "csv", "tiny", "--out", "{path}"],
    "export json --out": ["export", "json", "--out", "{path}"],
    "export moodle --out": ["export", "moodle", "tiny", "--sheet", "{sheet}", "--out", "{path}"],
    "export backup": ["export", "backup", "{path}"],
}
READ = {
    "--course": ["--course", "{path}", "plugins"],
    "run --times": ["run", "{archive}", "--out", "{results}", "--times", "{path}"],
    "run --rubric": ["run", "{archive}", "--out", "{results}", "--rubric", "{path}"],
    "run ARCHIVES": ["run", "{path}", "--out", "{results}"],
    "verify --reference": ["verify", "--assignment", "tiny", "--reference", "{path}"],
    "record OUT": ["record", "{path}"],
    "manual --results": ["manual", "export", "--results", "{path}", "--out", "points.csv"],
    "manual import": ["manual", "import", "{path}"],
    "show --gradebook": ["show", "ann", "--gradebook", "{path}"],
    "replay SCORE": ["replay", "{path}", "--item", "double"],
    "replay --archive": ["replay", "{score}", "--item", "double", "--archive", "{path}"],
    "export --sheet": ["export", "moodle", "tiny", "--sheet", "{path}"],
    "gradescope --autograder": ["gradescope", "--autograder", "{path}"],
    "post --token-file": ["post", "canvas", "tiny", "--token-file", "{path}"],
}
OUT_OF_REACH = ["below a file", "a circle", "a name too long", "NUL", "nothing", "no entry"]
CASES = {
    **{(name, bad): BAD[bad] for name in FOLDERS | FILES for bad in BAD},
    **{(name, bad): BAD[bad] for name in READ for bad in OUT_OF_REACH},
    **{(name, "a file"): "file" for name in FOLDERS},
    **{(name, "a folder"): "folder" for name in FILES},
}
FULL = [name for name in FILES if "gradebook" not in name and "backup" not in name]


def without_powers() -> list[str]:
    """As an ordinary user, to whom permissions apply; root keeps the right to read grader itself."""
    return ["setpriv", "--bounding-set=-dac_override,-dac_read_search"] if os.geteuid() == 0 else []


class Tried:
    """A graded course, and a folder with everything that can be wrong with a path."""

    def __init__(self, folder: Path, new_course) -> None:
        self.course = new_course(folder)
        self.bad = folder / "bad"
        for name in ("folder", "closed", "locked"):
            (self.bad / name).mkdir(parents=True)
        (self.bad / "file").write_text("kept")
        (self.bad / "circle").symlink_to("circle")
        (self.bad / "dangling").symlink_to(folder / "nowhere" / "at" / "all")
        self.archive = self.course.submit()
        done = self.course.run("run", self.archive, "--gradebook", str(self.course.cwd / "gradebook.db"))
        assert done.returncode == 0, done.stderr
        sheet = self.course.cwd / "sheet.csv"
        sheet.write_text(
            "Identifier,Full name,Grade,Maximum Grade,Last modified (grade)\nParticipant 1,ann,,3,-\n"
        )
        self.values = {
            "archive": self.archive,
            "results": str(self.course.out),
            "sheet": str(sheet),
            "score": str(self.course.results() / "score.json"),
        }
        self.course.write(
            "course.yaml", "title: x\ncanvas: {url: https://x, course: 1, assignments: {tiny: 1}}\n"
        )
        (self.bad / "closed").chmod(0)
        (self.bad / "locked").chmod(0o555)

    def all(self, commands: list[list[str]]) -> list[tuple[int, str]]:
        """How each command ends, and what it says on its error output."""
        done = subprocess.run(
            [*without_powers(), sys.executable, "-c", EACH],
            input=json.dumps(commands),
            env=self.course.environment,
            cwd=self.course.cwd,
            stdout=subprocess.PIPE,
            text=True,
            check=True,
            timeout=300,
        )
        return [tuple(json.loads(line)) for line in done.stdout.splitlines() if line.startswith("[")]

    def arguments(self, name: str, path: str) -> list[str]:
        forms = (FOLDERS | FILES | READ)[name]
        return [
            form.replace("{path}", path).format(**self.values) if form != "{path}" else path for form in forms
        ]


@pytest.fixture(scope="module")
def tried(tmp_path_factory, new_course) -> Tried:
    return Tried(tmp_path_factory.mktemp("tried"), new_course)


@pytest.fixture(scope="module")
def ends(tried, request) -> dict[tuple[str, str], tuple[int, str]]:
    """How all cases of this session end; nothing of what is there may have changed meanwhile."""
    tests = [
        item
        for item in request.session.items
        if item.path == request.path and "ends" in getattr(item, "fixturenames", ())
    ]
    cases = [(item.callspec.params["name"], item.callspec.params["bad"]) for item in tests]
    before = snapshot(tried.bad)
    paths = {case: CASES[case] and f"{tried.bad}/{CASES[case]}" for case in cases}
    found = tried.all([tried.arguments(name, path) for (name, _), path in paths.items()])
    assert len(found) == len(cases)
    assert snapshot(tried.bad) == before
    return dict(zip(paths, found, strict=True))


def snapshot(folder: Path) -> dict[str, tuple[int, int, int]]:
    return {
        str(path): (status.st_mode, status.st_size, status.st_mtime_ns)
        for path in folder.rglob("*")
        if not path.parent.samefile(folder / "closed")
        for status in [path.lstat()]
    }


@pytest.mark.covering
@pytest.mark.parametrize(("name", "bad"), CASES, ids=lambda value: value)
def test_a_path_that_cannot_be_used_is_named_in_one_line(ends, name, bad):
    status, told = ends[name, bad]
    assert "Traceback" not in told
    assert status == 2
    (line,) = told.splitlines()
    assert line.startswith("grader: ")
    assert "; " in line, "what to do"
    if bad != "nothing" and name != "gradescope --autograder":
        assert CASES[name, bad].split("/")[0].replace("\0", r"\x00")[:30] in line


@pytest.fixture(scope="module")
def full(tried) -> Path:
    """A device like /dev/full that may be lost."""
    device = tried.bad.parent / "full"
    try:
        os.mknod(device, stat.S_IFCHR | 0o666, Path("/dev/full").stat().st_rdev)
        device.open("wb").close()
    except OSError:
        pytest.skip("no device may be made here")
    return device


def test_a_full_disk_is_the_machines_fault_and_a_device_is_no_file_to_be_replaced(tried, full):
    ends = tried.all([tried.arguments(name, str(full)) for name in FULL])
    for name, (status, told) in zip(FULL, ends, strict=True):
        assert status == 5
        assert told == (
            f"grader: {name.rpartition(' ')[2]} {full}: cannot be written (No space left on device); "
            "make room there, or name another place\n"
        )
    assert full.is_char_device()


MOUNT = 'mount -t tmpfs -o "$1" tmpfs "$2" && shift 2 && exec "$@"'


@pytest.fixture(scope="module")
def mounted(tmp_path_factory):
    """Runs a command that sees a small file system, which nobody else does."""
    place = tmp_path_factory.mktemp("mounted")
    unshare = [
        "unshare",
        *(() if os.geteuid() == 0 else ("--map-root-user",)),
        "--mount",
        "sh",
        "-c",
        MOUNT,
        "sh",
    ]
    if subprocess.run([*unshare, "ro", str(place), "true"], capture_output=True, check=False).returncode:
        pytest.skip("nothing may be mounted here")

    def run(tried, options, *arguments):
        return subprocess.run(
            [*unshare, options, str(place), *tried.course.command("plugins")[:1], *arguments],
            env=tried.course.environment,
            cwd=tried.course.cwd,
            capture_output=True,
            text=True,
            check=False,
        )

    return place, run


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=() if "run " in name else pytest.mark.slow) for name in FOLDERS | FILES]
)
def test_a_place_that_is_only_for_reading_is_named_in_one_line(tried, mounted, name):
    place, run = mounted
    done = run(tried, "ro", *tried.arguments(name, str(place / "x")))
    assert done.returncode == 2
    (line,) = done.stderr.splitlines()
    assert f"{place}/x" in line
    assert "(Read-only file system); name a place that may be written to" in line


@pytest.mark.quick(1)
@pytest.mark.parametrize(
    "size_kb", [4, 16, 32, *(pytest.param(size, marks=pytest.mark.slow) for size in (8, 12, 28, 36))]
)
def test_wherever_a_disk_gets_full_in_a_run_a_line_says_so(tried, mounted, size_kb):
    """From the first file to the last: 48 kB are enough for all."""
    place, run = mounted
    done = run(tried, f"size={size_kb}k", "run", tried.archive, "--out", str(place / "out"))
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"grader: {place}/out/")
    assert "No space left on device" in line or "make room on the disk" in line


@pytest.mark.slow
def test_where_one_of_two_does_not_fit_it_has_a_line_and_no_traceback(tried, mounted):
    place, run = mounted
    archives = tried.archive, tried.course.submit("ben")
    for size_kb in (4, 16, 64):
        done = run(tried, f"size={size_kb}k", "run", *archives, "--out", str(place / "out"))
        assert done.returncode == 5
        assert "Traceback" not in done.stderr
        lines = [line for line in done.stderr.splitlines() if line.startswith("grader: ")]
        assert 1 <= len(lines) <= 2  # the sums of both follow


def test_a_folder_for_the_moment_that_cannot_be_made_is_named(tried):
    environment = tried.course.environment | {"TMPDIR": "/proc"}
    code = f"import tempfile; tempfile._candidate_tempdir_list = lambda: ['/proc']\n{MAIN}"
    done = subprocess.run(
        [sys.executable, "-c", code, "verify", "--quick"],
        env=environment,
        cwd=tried.course.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 5
    (line,) = done.stderr.splitlines()
    assert line.startswith("grader: TMPDIR: no folder can be made there")


MAIN = "from grader.cli.main import main; main()"


@pytest.mark.parametrize(
    ("error", "code", "line"),
    [
        (
            "OSError(28, 'No space left on device', '/there')",
            5,
            "grader: /there: No space left on device; see to",
        ),
        ("OSError(13, 'Permission denied')", 5, "grader: Permission denied; see to the disk"),
        ("FileNotFoundError(2, 'No such file', '/ours')", 3, "this is a bug of ours"),
        ("BrokenPipeError(32, 'Broken pipe')", 3, "this is a bug of ours"),
    ],
    ids=["full", "forbidden", "a bug", "a pipe of ours"],
)
def test_what_nobody_foresaw_of_the_machine_is_a_line_and_anything_else_a_bug(tried, error, code, line):
    """The net below all commands."""
    breaks = f"import grader.cli.course as c\ndef fails(context): raise {error}\nc.find = fails\n{MAIN}"
    done = subprocess.run(
        [sys.executable, "-c", breaks, "pack"],
        cwd=tried.course.cwd,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code
    assert line in done.stderr.splitlines()[-1]
    assert len(done.stderr.splitlines()) == 1 or code == 3


def test_a_link_to_a_file_stays_a_link_and_the_file_is_replaced(tried):
    real = tried.course.cwd / "real.csv"
    real.write_text("old")
    link = tried.course.cwd / "link.csv"
    link.symlink_to(real)
    ((status, _),) = tried.all([["export", "csv", "tiny", "--out", str(link)]])
    assert status == 0
    assert link.is_symlink()
    assert "ann" in real.read_text()


@pytest.mark.slow
def test_names_with_line_breaks_are_as_good_as_others(tried):
    out = tried.course.cwd / "two\nlines"
    ((status, told),) = tried.all([["run", tried.archive, "--out", str(out)]])
    assert (status, told) == (0, "")
    assert (out / "tiny" / "ann" / "score.json").is_file()


@pytest.mark.slow
def test_an_archive_may_have_a_name_that_is_no_text_but_nothing_of_ours_may(tried):
    name = tried.course.submissions_folder / os.fsdecode(b"caf\xe9.tar.gz")
    name.write_bytes(Path(tried.archive).read_bytes())
    (read, written) = tried.all(
        [
            ["run", str(name), "--student", "cem", "--out", str(tried.course.out)],
            ["run", tried.archive, "--out", str(name) + "x"],
        ]
    )
    assert read == (0, "")
    assert written[0] == 2
    assert r"caf\udce9.tar.gzx: is no path that can be used" in written[1]
    assert len(written[1].splitlines()) == 1


def test_a_working_directory_that_is_gone_is_a_line(course, tmp_path):
    (folder := tmp_path / "gone").mkdir()
    script = f'cd {folder} && rmdir {folder} && exec "$@"'
    command = ["sh", "-c", script, "sh", *course.command("course", "check")]
    done = subprocess.run(command, env=course.environment, capture_output=True, text=True, check=False)
    line = "grader: the working directory is gone; go into a folder that is there\n"
    assert (done.returncode, done.stderr) == (2, line)
