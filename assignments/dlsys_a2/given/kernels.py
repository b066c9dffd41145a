"""Calls the hand-in's operations on a GPU with NumPy's arrays, and looks at the memory around theirs."""

import ctypes

import numpy as np
from hand_in import module

gpu_op = module("gpu_op")
ndarray = module("ndarray")

GPU = ndarray.gpu(0)

BAND = 4096
"""Elements of known content before and behind every array. A multiple of 64, so that an array begins where
cudaMalloc's would: at a multiple of 256 bytes."""
UNTOUCHED = np.uint32(0x7FC0BA4D)
"""What bands and outputs hold beforehand: a NaN that no arithmetic gives."""


class Framed(ndarray.NDArray):
    """An array on the GPU in the middle of a larger one.

    Args:
        values: what it holds at first.
    """

    def __init__(self, values):
        self._content = np.full(values.size + 2 * BAND, UNTOUCHED).view(np.float32)
        self._inside = slice(BAND, BAND + values.size)
        self._content[self._inside] = values.ravel()
        self._whole = ndarray.array(self._content, ctx=GPU)
        self._lengths = (ctypes.c_int64 * values.ndim)(*values.shape)
        start = self._whole.handle.contents.data + BAND * self._content.itemsize
        super().__init__(ctypes.pointer(ndarray.DLArray(start, GPU, values.ndim, self._lengths)))

    def __del__(self):
        """The memory is the larger array's."""

    def changes(self):
        """How many elements are no longer what they were: before the array, in it, and behind it."""
        now = self._whole.asnumpy().view(np.uint32)
        changed = now != self._content.view(np.uint32)
        parts = slice(None, BAND), self._inside, slice(self._inside.stop, None)
        return [int(np.count_nonzero(changed[part])) for part in parts]


_inputs = []
_output = []
"""The arrays of the last operation."""


def array_set(shape, value):
    return _called(gpu_op.array_set, shape, value, output_first=True)


def broadcast_to(x, shape):
    return _called(gpu_op.broadcast_to, shape, x)


def reduce_sum_axis_zero(x):
    return _called(gpu_op.reduce_sum_axis_zero, x.shape[1:] or (1,), x)


def matrix_elementwise_add(a, b):
    return _called(gpu_op.matrix_elementwise_add, a.shape, a, b)


def matrix_elementwise_add_by_const(x, value):
    return _called(gpu_op.matrix_elementwise_add_by_const, x.shape, x, value)


def matrix_elementwise_multiply(a, b):
    return _called(gpu_op.matrix_elementwise_multiply, a.shape, a, b)


def matrix_elementwise_multiply_by_const(x, value):
    return _called(gpu_op.matrix_elementwise_multiply_by_const, x.shape, x, value)


def matrix_multiply(a, trans_a, b, trans_b):
    shape = a.shape[1 if trans_a else 0], b.shape[0 if trans_b else 1]
    return _called(gpu_op.matrix_multiply, shape, a, trans_a, b, trans_b)


def relu(x):
    return _called(gpu_op.relu, x.shape, x)


def relu_gradient(x, gradient):
    return _called(gpu_op.relu_gradient, x.shape, x, gradient)


def softmax(x):
    return _called(gpu_op.softmax, x.shape, x)


def softmax_cross_entropy(logits, labels):
    return _called(gpu_op.softmax_cross_entropy, (1,), logits, labels)


def outside(operation, *arguments):
    """Call one of the functions above, and say what it wrote to that was not its output.

    Returns:
        How many elements changed where none may: by place, before and behind the output, and in or around
        the inputs; and how many of the output were left out, for who writes nothing does no harm.
    """
    result = globals()[operation](*arguments)
    before, written, behind = _output[0].changes()
    return {
        "before the output": before,
        "left out": result.size - written,
        "behind the output": behind,
        "inputs": sum(sum(array.changes()) for array in _inputs),
    }


def in_place(operation, first, *others):
    """An operation of `gpu_op` whose output is its first input, as in a step of training."""
    array = Framed(first)
    getattr(gpu_op, operation)(array, *map(_placed, others), array)
    return array.asnumpy()


def _called(function, shape, *arguments, output_first=False):
    output = Framed(np.full(shape, UNTOUCHED).view(np.float32))
    placed = [_placed(argument) for argument in arguments]
    _inputs[:] = [one for one in placed if isinstance(one, Framed)]
    _output[:] = [output]
    function(*([output, *placed] if output_first else [*placed, output]))
    return output.asnumpy()


def _placed(argument):
    return Framed(argument) if isinstance(argument, np.ndarray) else argument
