"""What is kept is found whole or not at all."""

from __future__ import annotations

import os
import stat
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Barrier

import pytest

from grader.harness.store import Store, cache_folder, digest_of, folder_digest
from grader.subject.standins import cuda_on_cpu

DIGEST = digest_of("what decides")


@pytest.fixture
def store(tmp_path):
    return Store(tmp_path / "cache")


def test_what_was_kept_is_found_with_its_facts_and_everybody_may_read_it(store, tmp_path):
    assert store.find(DIGEST) is None
    kept = store.keep(DIGEST, {"status": 0}, {"lib/a.so": b"abc"})
    assert store.find(DIGEST) == kept
    assert kept.facts == {"status": 0}
    assert (kept.folder / "lib/a.so").read_bytes() == b"abc"
    assert stat.S_IMODE((kept.folder / "lib").stat().st_mode) == 0o755
    assert stat.S_IMODE((kept.folder / "lib/a.so").stat().st_mode) == 0o755  # it may be a program
    assert [path.name for path in (tmp_path / "cache").iterdir()] == [DIGEST]


@pytest.mark.parametrize("spoil", ["lib/a.so", "facts.json"])
def test_what_is_not_what_it_was_is_not_found_and_replaced(store, tmp_path, spoil):
    kept = store.keep(DIGEST, {}, {"lib/a.so": b"abc"})
    spoilt = next((tmp_path / "cache").rglob(spoil.rpartition("/")[2]))
    spoilt.write_bytes(b"ab")
    assert store.find(DIGEST) is None
    again = store.keep(DIGEST, {"second": True}, {"lib/a.so": b"abcd"})
    assert again == store.find(DIGEST)
    assert (again.facts, (again.folder / "lib/a.so").read_bytes()) == ({"second": True}, b"abcd")
    assert kept.folder.is_dir()  # a program may have been started in it before it was spoilt


@pytest.mark.parametrize("lost", ["lib/a.so", "facts.json"])
def test_what_lost_a_file_keeps_the_others_for_whoever_uses_them(store, tmp_path, lost):
    kept = store.keep(DIGEST, {}, {"lib/a.so": b"abc", "lib/b.so": b"b"})
    next((tmp_path / "cache").rglob(lost.rpartition("/")[2])).unlink()
    opened = os.open(kept.folder / "lib", os.O_RDONLY)
    try:
        assert store.find(DIGEST) is None
        assert store.keep(DIGEST, {}, {"lib/a.so": b"abc", "lib/b.so": b"b"}) == store.find(DIGEST)
        assert Path(f"/proc/self/fd/{opened}/b.so").exists()
    finally:
        os.close(opened)


def test_of_two_who_build_the_same_the_second_takes_what_the_first_has_published(store):
    first = store.keep(DIGEST, {"who": "first"}, {"a.so": b"one", "b.so": b"1"})
    opened = os.open(first.folder, os.O_RDONLY)
    try:
        assert store.keep(DIGEST, {"who": "second"}, {"a.so": b"two", "b.so": b"2"}) == first
        assert {file.name for file in Path(f"/proc/self/fd/{opened}").iterdir()} == {"a.so", "b.so"}
    finally:
        os.close(opened)
    assert (first.folder / "a.so").read_bytes() == b"one"
    assert store.find(DIGEST) == first


def test_many_who_publish_at_once_end_with_the_same_entry(store):
    start = Barrier(8)

    def publish(number):
        start.wait()
        return store.keep(DIGEST, {"who": number}, {"a.so": bytes([number])})

    with ThreadPoolExecutor(8) as threads:
        entries = list(threads.map(publish, range(8)))
    assert entries == [store.find(DIGEST)] * 8
    assert entries[0].folder.joinpath("a.so").read_bytes() == bytes([entries[0].facts["who"]])


def test_a_folder_that_cannot_be_written_is_named(store, tmp_path):
    (tmp_path / "cache").write_text("a file in its place")
    with pytest.raises(OSError, match="cache"):
        store.keep(DIGEST, {}, {})


def test_a_folders_digest_is_that_of_names_and_contents(tmp_path):
    assert folder_digest(tmp_path / "none") == ""
    (tmp_path / "a").write_text("1")
    first = folder_digest(tmp_path)
    (tmp_path / "a").rename(tmp_path / "b")
    second = folder_digest(tmp_path)
    (tmp_path / "b").write_text("2")
    assert len({first, second, folder_digest(tmp_path)}) == 3
    assert second != digest_of()


def test_the_cache_is_where_variables_say(monkeypatch, tmp_path):
    monkeypatch.delenv("GRADER_CACHE", raising=False)
    monkeypatch.setenv("XDG_CACHE_HOME", "/x")
    assert str(cache_folder()) == "/x/grader"
    monkeypatch.setenv("GRADER_CACHE", str(tmp_path))
    assert cache_folder() == tmp_path


@pytest.mark.slow
def test_a_compiler_for_the_cpu_is_made_once_and_runs_where_it_lies(store):
    import sys

    entry = store.stand_in(sys.executable)
    assert store.stand_in(sys.executable) == entry
    told = subprocess.run([entry.folder / "nvcc", "--version"], capture_output=True, text=True, check=True)
    assert "stand-in" in told.stdout


def test_a_compiler_for_the_cpu_that_another_makes_meanwhile_stays_and_one_that_lost_a_file_is_made_again(
    store, monkeypatch
):
    """Each lays its own number into what it makes; one makes it while the other is half way."""
    made = []

    def install(folder, python):
        number = len(made)
        made.append(number)
        if number == 0:
            made.append(store.stand_in("/python"))
        Path(folder, "lib").mkdir(parents=True)
        for path in ("nvcc", "lib/runtime.o"):
            Path(folder, path).write_text(str(number))

    monkeypatch.setattr(cuda_on_cpu, "install", install)
    entry = store.stand_in("/python")
    assert made == [0, 1, entry]
    assert {(entry.folder / path).read_text() for path in ("nvcc", "lib/runtime.o")} == {"1"}
    (entry.folder / "lib/runtime.o").unlink()
    again = store.stand_in("/python")
    assert again.facts == entry.facts
    assert (again.folder / "lib/runtime.o").read_text() == "3"
    assert (entry.folder / "nvcc").exists()
