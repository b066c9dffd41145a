"""Device files and library folders of a program with GPUs."""

import pytest

from grader.cuda import files
from grader.cuda.files import driver_folders, nodes
from grader.cuda.gpus import gpus


def cache(folder, *paths):
    (file := folder / "ld.so.cache").write_bytes(
        b"glibc-ld.so.cache1.1\0" + b"".join(f"{path}\0".encode() for path in paths)
    )
    return file


def library(folder):
    folder.mkdir(parents=True)
    (folder / "libcuda.so.1").touch()
    return str(folder)


def test_a_program_gets_the_nodes_of_its_gpus_and_the_shared_ones_that_exist(fake, tmp_path, monkeypatch):
    monkeypatch.setattr(files, "Path", lambda path: tmp_path / path.lstrip("/"))
    for name in ("nvidia4", "nvidia5", "nvidiactl", "nvidia-uvm"):
        (tmp_path / "dev").mkdir(exist_ok=True)
        (tmp_path / "dev" / name).touch()
    assert nodes(gpus()[:1]) == ("/dev/nvidia5", "/dev/nvidiactl", "/dev/nvidia-uvm")
    assert nodes(gpus()) == ("/dev/nvidia5", "/dev/nvidia4", "/dev/nvidiactl", "/dev/nvidia-uvm")
    assert nodes([]) == ()


def test_a_driver_among_the_systems_libraries_needs_no_folder(tmp_path):
    extra = library(tmp_path / "extra")
    known = cache(tmp_path, "libcuda.so.1", "/lib/x86_64-linux-gnu/libcuda.so.1")
    assert driver_folders(extra, known) == ()


def test_a_driver_that_only_the_search_path_names_needs_that_folder(tmp_path):
    (tmp_path / "empty").mkdir()
    there = library(tmp_path / "nvidia" / "lib64")
    search = f"{tmp_path}/empty:{there}/:relative::{there}"
    assert driver_folders(search, cache(tmp_path, "/usr/lib/libcuda.so.12")) == (there,)
    assert driver_folders(search, tmp_path / "missing") == (there,)


def test_a_driver_that_the_linker_finds_outside_the_system_needs_its_folder(tmp_path):
    there = library(tmp_path / "opt")
    assert driver_folders("", cache(tmp_path, f"{there}/libcuda.so.1")) == (there,)


def test_without_a_driver_no_folder_is_needed(tmp_path):
    assert driver_folders(str(tmp_path), cache(tmp_path, f"{tmp_path}/libcuda.so.1")) == ()


def test_without_being_told_it_looks_where_our_own_programs_do(tmp_path, monkeypatch):
    monkeypatch.setenv("LD_LIBRARY_PATH", library(tmp_path / "lib64"))
    assert driver_folders(cache=tmp_path / "missing") == (str(tmp_path / "lib64"),)


@pytest.mark.gpu
def test_the_nodes_of_this_machine_are_device_files(forget):
    from pathlib import Path

    found = nodes(gpus())
    assert found[-1].startswith("/dev/nvidia")
    assert all(Path(node).is_char_device() for node in found)
