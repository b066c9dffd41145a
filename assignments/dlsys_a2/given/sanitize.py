"""Runs every operation on arrays of odd sizes under compute-sanitizer: it names what goes out of bounds."""

import os
import shutil
import subprocess
import sys

PLACES = (os.environ.get("PATH", ""), "/toolkit/bin", "/usr/local/cuda/bin")
OPERATIONS = "operations"


def main():
    """Start the tool over this file."""
    tool = shutil.which("compute-sanitizer", path=os.pathsep.join(PLACES))
    command = [tool, "--tool", "memcheck", "--print-limit", "3", sys.executable, __file__, OPERATIONS]
    # this interpreter was told where its packages are; another one is not
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.run(command, env=environment, check=False).returncode


def operations():
    """Each on whole arrays of their own: what lies behind them was not allocated."""
    import numpy as np
    from submission import module

    gpu_op, ndarray = module("gpu_op"), module("ndarray")
    rng, gpu = np.random.default_rng(1), ndarray.gpu(0)

    def drawn(*shape):
        return ndarray.array(rng.uniform(1, 5, size=shape).astype(np.float32), ctx=gpu)

    def empty(*shape):
        return ndarray.empty(shape, ctx=gpu)

    for shape in ((1,), (301,), (37, 53), (5, 37, 53)):
        x, y, out = drawn(*shape), drawn(*shape), empty(*shape)
        gpu_op.array_set(out, 2.0)
        for name in ("matrix_elementwise_add", "matrix_elementwise_multiply", "relu_gradient"):
            getattr(gpu_op, name)(x, y, out)
        for name in ("matrix_elementwise_add_by_const", "matrix_elementwise_multiply_by_const"):
            getattr(gpu_op, name)(x, 3.0, out)
        gpu_op.relu(x, out)
        gpu_op.broadcast_to(x, empty(7, *shape))
        gpu_op.reduce_sum_axis_zero(x, empty(*(shape[1:] or (1,))))
    for rows in (1, 37, 1025):
        x, labels = drawn(rows, 11), drawn(rows, 11)
        gpu_op.softmax(x, empty(rows, 11))
        gpu_op.softmax_cross_entropy(x, labels, empty(1))
    for trans_a in (False, True):
        for trans_b in (False, True):
            a, b = drawn(*((19, 37) if trans_a else (37, 19))), drawn(*((53, 19) if trans_b else (19, 53)))
            gpu_op.matrix_multiply(a, trans_a, b, trans_b, empty(37, 53))


if __name__ == "__main__":
    sys.exit(operations() if sys.argv[1:] == [OPERATIONS] else main())
