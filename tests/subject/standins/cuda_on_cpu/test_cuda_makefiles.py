"""A Makefile that asks for nvcc, g++ and CUDA's libraries finds ours, whatever else it says."""

import ctypes
import os
import subprocess
from pathlib import Path

import pytest

from grader.subject.standins import cuda_on_cpu

MAKEFILE = r"""
CUDA_DIR = /usr/local/cuda
CXXFLAGS = -std=c++11 -Wall -O2 -fPIC
LDFLAGS = -L$(CUDA_DIR)/lib64 -lcuda -lcudart -lcublas

all: build/lib/libgpu.so

build/%.o: src/%.cc
	mkdir -p $(@D)
	g++ $(CXXFLAGS) -MMD -Iinclude -I$(CUDA_DIR)/include -c $< -o $@

build/%_cuda.o: src/%.cu
	mkdir -p $(@D)
	nvcc -c -o $@ $< -Iinclude -I$(CUDA_DIR)/include -gencode arch=compute_52,code=sm_52 \
		-Xcompiler "$(CXXFLAGS)" -std=c++11 -Xptxas -dlcm=ca

build/lib/libgpu.so: build/device.o build/op_cuda.o
	mkdir -p $(@D)
	g++ -shared $^ -o $@ $(LDFLAGS)
"""
DEVICE = """
#include <cuda_runtime.h>
#include <memory>
#include "api.h"
static std::shared_ptr<int> used = std::make_shared<int>(0);
float *on_device(const float *from, int n) {
  float *there = nullptr;
  static int calls = ++*used;
  cudaMalloc((void **)&there, n * sizeof(float));
  cudaMemcpy(there, from, calls * n * sizeof(float), cudaMemcpyHostToDevice);
  return there;
}
"""
OP = """
#include "api.h"
#include "inner/kernels.cuh"
extern "C" int twice(float *x, int n) {
  float *there = on_device(x, n);
  launch(there, n);
  return cudaMemcpy(x, there, n * sizeof(float), cudaMemcpyDeviceToHost);
}
"""
KERNELS = """#pragma once
#include "../scale.h"
inline void launch(float *x, int n) { scale<<<1, 32>>>(x, n); }
"""
SCALE = """
#ifndef SCALE_H
#define SCALE_H
__global__ void scale(float *x, int n) {
  __shared__ float by;
  if (threadIdx.x == 0) by = 2;
  __syncthreads();
  if (threadIdx.x < n) x[threadIdx.x] *= by;
}
#endif
"""


@pytest.fixture
def project(tmp_path: Path) -> Path:
    files = {
        "Makefile": MAKEFILE,
        "include/api.h": "float *on_device(const float *from, int n);\n",
        "src/device.cc": DEVICE,
        "src/op.cu": OP,
        "src/inner/kernels.cuh": KERNELS,
        "src/scale.h": SCALE,
    }
    for name, content in files.items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(content)
    return tmp_path / "project"


def with_tools(tools, *command, cwd):
    environment = {**os.environ, "PATH": f"{tools}{os.pathsep}{os.environ['PATH']}"}
    return subprocess.run(command, cwd=cwd, env=environment, capture_output=True, text=True, check=False)


def test_a_makefile_with_nvcc_for_kernels_and_gxx_for_linking_works_unchanged(tools, project):
    made = with_tools(tools, "make", cwd=project)
    assert made.returncode == 0, made.stderr
    x = (ctypes.c_float * 5)(0, 1, 2, 3, 4)
    assert ctypes.CDLL(str(project / "build/lib/libgpu.so")).twice(x, 5) == 0
    assert list(x) == [0, 2, 4, 6, 8]


@pytest.mark.slow
def test_a_program_is_linked_from_several_files_at_once(tools, project):
    (project / "main.cu").write_text(
        '#include <cstdio>\nextern "C" int twice(float *x, int n);\n'
        'int main() { float x[2] = {1, 2}; twice(x, 2); printf("%g\\n", x[1]); }\n'
    )
    made = with_tools(
        tools, "nvcc", "-Iinclude", "main.cu", "src/device.cc", "src/op.cu", "-o", "program", cwd=project
    )
    assert made.returncode == 0, made.stderr
    assert subprocess.run([project / "program"], capture_output=True, text=True, check=True).stdout == "4\n"


def test_an_error_names_the_line_that_was_handed_in_also_of_a_header(tools, project):
    (project / "src/scale.h").write_text(SCALE.replace("*= by;", "*= buy;"))
    made = with_tools(tools, "make", cwd=project)
    assert made.returncode != 0
    assert "src/inner/../scale.h:8:" in made.stderr
    assert "was not declared" in made.stderr


def test_what_only_a_gpu_could_use_is_refused_in_one_line(tools, project):
    made = with_tools(tools, "nvcc", "-ptx", "src/op.cu", cwd=project)
    assert (made.returncode, made.stderr) == (
        1,
        "nvcc: -ptx makes code for a GPU; here kernels are compiled for the CPU\n",
    )


def test_a_file_that_is_not_there_is_named(tools, project):
    made = with_tools(tools, "nvcc", "-c", "src/none.cu", cwd=project)
    assert made.returncode == 1
    assert made.stderr == "nvcc: [Errno 2] No such file or directory: 'src/none.cu'\n"


def test_questions_about_the_version_are_answered(tools, project):
    assert "release" in with_tools(tools, "nvcc", "--version", cwd=project).stdout
    assert "Free Software" in with_tools(tools, "g++", "--version", cwd=project).stdout


def test_without_a_compiler_behind_it_ours_says_so(tools, project):
    environment = {**os.environ, "PATH": str(tools)}
    link = project / "sh"
    link.mkdir()
    for program in ("dirname", "sh"):
        (link / program).symlink_to(f"/bin/{program}")
    environment["PATH"] = f"{tools}:{link}"
    made = subprocess.run(
        [tools / "nvcc", "a.cu"], env=environment, capture_output=True, text=True, check=False
    )
    assert made.stderr == "nvcc: no C++ compiler is on PATH behind this one; install g++\n"


def test_dependencies_are_written_for_what_was_handed_in(tools, project):
    made = with_tools(tools, "nvcc", "-MM", "-Iinclude", "src/op.cu", cwd=project)
    assert "src/op.cu" in made.stdout
    assert "src/inner/../scale.h" in made.stdout


@pytest.mark.slow
def test_without_checks_nothing_is_called_before_an_access(tools, project):
    found = []
    for sanitize in (True, False):
        output = project / f"{sanitize}.so"
        command = cuda_on_cpu.command(
            str(tools), ["src/op.cu", "src/device.cc"], str(output), ["include"], sanitize=sanitize
        )
        subprocess.run(command, cwd=project, check=True)
        symbols = subprocess.run(["objdump", "-d", output], capture_output=True, text=True, check=True).stdout
        body = symbols.split("<twice>:")[1].split("\n\n")[0]
        found.append("__tsan_read" in body or "__tsan_func_entry" in body)
    assert found == [True, False]


@pytest.mark.slow
def test_tools_can_be_moved(tools, project, tmp_path):
    moved = tmp_path / "moved"
    tools.rename(moved)
    try:
        assert with_tools(moved, "make", cwd=project).returncode == 0
    finally:
        moved.rename(tools)
