"""The reference of dlsys_a2 on a GPU beside PyTorch in eager mode, and its own matrix product beside cuBLAS.

python benchmarks/graph_executor.py [--rounds N] [--json]

Needs a GPU, nvcc, make and torch. Every program runs in a process of its own, in alternating rounds: an
epoch of the course's network (784-256-100-10, 50 batches of 1000 pictures that the host has), and products of
square matrices that lie on the GPU.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any

FOLDER = Path(__file__).parent.parent / "assignments" / "dlsys_a2"
LIBRARIES = {"dlsys, cuBLAS": (), "dlsys, tiled": ("TILED=1",)}
SIZES = (512, 1024, 2048, 4096)
EPOCHS, CALLS = 5, 20
LAYERS, BATCH, RATE = (784, 256, 100, 10), 1000, 1e-3


def main() -> int:
    """Print medians over the rounds, and their ratios."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--json", action="store_true")
    parser.add_argument("--worker", choices=[*WORKERS])
    asked = parser.parse_args()
    if asked.worker:
        print(json.dumps(WORKERS[asked.worker]()))
        return 0
    with tempfile.TemporaryDirectory() as folder:
        built = {name: build(Path(folder, str(n)), LIBRARIES[name]) for n, name in enumerate(LIBRARIES)}
        rounds = [
            {"torch": started("torch"), **{name: started("dlsys", built[name]) for name in LIBRARIES}}
            for _ in range(asked.rounds)
        ]
    found = {
        name: {what: median(one[name][what] for one in rounds) for what in rounds[0][name]}
        for name in rounds[0]
    }
    if asked.json:
        print(json.dumps(found))
        return 0
    for what in found["torch"]:
        told = ", ".join(f"{name} {found[name][what] * 1e3:.3f} ms" for name in found)
        over = ", ".join(f"{name} {found[name][what] / found['torch'][what]:.2f}" for name in LIBRARIES)
        print(f"{what}: {told}; of torch's: {over}")
    return 0


def build(folder: Path, switches: tuple[str, ...]) -> Path:
    """The reference with the course's own files, built."""
    shutil.copytree(FOLDER / "reference", folder)
    shutil.copytree(FOLDER / "given", folder, dirs_exist_ok=True)
    subprocess.run(["make", "-s", "-j4", *switches], cwd=folder, check=True)
    return folder


def started(worker: str, library: Path | None = None) -> dict[str, float]:
    """What a worker measures in a process of its own."""
    environment = dict(os.environ)
    if library:
        environment |= {"DLSYS_LIBRARY": str(library), "PYTHONPATH": f"{library}/python:{library}/tests"}
    argv = [sys.executable, __file__, "--worker", worker]
    done = subprocess.run(argv, env=environment, check=True, stdout=subprocess.PIPE, text=True)
    return json.loads(done.stdout)


def timed(action: Callable[[], Any], times: int) -> float:
    """The median over so many calls, after two that warm up."""
    seconds = []
    for _ in range(times + 2):
        begun = time.perf_counter()
        action()
        seconds.append(time.perf_counter() - begun)
    return median(seconds[2:])


def dlsys() -> dict[str, float]:
    """The reference, with the library that the environment names."""
    import numpy as np
    from digits import inputs, load
    from dlsys import gpu_op, ndarray
    from mnist_dlsys import MODELS, Network

    training, _ = load(validation=1)
    network, pictures, gpu = Network(MODELS["mlp"], ndarray.gpu(0)), inputs(training.pictures), ndarray.gpu(0)
    measured = {"epoch": timed(lambda: network.learn(pictures, training.labels), EPOCHS)}
    one = ndarray.array(np.zeros(1, np.float32), ctx=gpu)
    for size in SIZES:
        a, b, c = (ndarray.array(np.full((size, size), 0.5, np.float32), ctx=gpu) for _ in range(3))

        def product(a: Any = a, b: Any = b, c: Any = c) -> None:
            gpu_op.matrix_multiply(a, False, b, False, c)
            one.asnumpy()  # a copy waits for all that was launched before

        measured[f"{size} x {size}"] = timed(product, CALLS)
    return measured


def pytorch() -> dict[str, float]:
    """The same network and products in PyTorch, eager, in full single precision."""
    import numpy as np
    import torch

    sys.path.insert(0, str(FOLDER / "given" / "tests"))
    from digits import inputs, load

    torch.backends.cuda.matmul.allow_tf32 = False
    training, _ = load(validation=1)
    pictures, labels = inputs(training.pictures), training.labels
    rng = np.random.RandomState(123)
    shapes = [*pairwise(LAYERS), *((size,) for size in LAYERS[1:])]
    drawn = [rng.normal(scale=0.1, size=shape).astype(np.float32) for shape in shapes]
    parameters = [torch.from_numpy(values).cuda().requires_grad_() for values in drawn]
    weights, biases = parameters[: len(LAYERS) - 1], parameters[len(LAYERS) - 1 :]
    step = torch.optim.SGD(parameters, lr=RATE)

    def epoch() -> float:
        losses = []
        for start in range(0, len(pictures), BATCH):
            value = torch.from_numpy(pictures[start : start + BATCH]).cuda()
            wanted = torch.from_numpy(labels[start : start + BATCH]).cuda()
            for number, (weight, bias) in enumerate(zip(weights, biases, strict=True)):
                value = (torch.relu(value) if number else value) @ weight + bias
            # the course's gradient is the sum over the batch, and its loss the mean
            loss = torch.nn.functional.cross_entropy(value, wanted, reduction="sum")
            step.zero_grad()
            loss.backward()
            step.step()
            losses.append(loss.item() / BATCH)
        return sum(losses) / len(losses)

    measured = {"epoch": timed(epoch, EPOCHS)}
    for size in SIZES:
        a, b = (torch.full((size, size), 0.5, device="cuda") for _ in range(2))

        def product(a: Any = a, b: Any = b) -> None:
            torch.mm(a, b)
            torch.cuda.synchronize()

        measured[f"{size} x {size}"] = timed(product, CALLS)
    return measured


WORKERS: dict[str, Callable[[], dict[str, float]]] = {"dlsys": dlsys, "torch": pytorch}

if __name__ == "__main__":
    sys.exit(main())
