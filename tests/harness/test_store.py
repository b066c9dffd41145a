"""What is kept is found whole or not at all."""

from __future__ import annotations

import stat
import subprocess

import pytest

from grader.harness.store import Store, cache_folder, digest_of, folder_digest

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
    assert store.keep(DIGEST, {}, {"lib/a.so": b"abc"}) == kept == store.find(DIGEST)


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

    folder = store.stand_in(sys.executable)
    assert store.stand_in(sys.executable) == folder
    told = subprocess.run([folder / "nvcc", "--version"], capture_output=True, text=True, check=True)
    assert "stand-in" in told.stdout
