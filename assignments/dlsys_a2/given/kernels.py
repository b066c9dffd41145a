"""Calls the submission's operations on a GPU with NumPy's arrays, and looks at the memory around theirs."""

import ctypes

import device_memory
import numpy as np
from submission import module

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
        the inputs; and how many of the output were not written, for who writes nothing does no harm.
    """
    result = globals()[operation](*arguments)
    before, written, behind = _output[0].changes()
    return {
        "elements changed before the output": before,
        "elements of the output not written": result.size - written,
        "elements changed behind the output": behind,
        "elements changed in the inputs": sum(sum(array.changes()) for array in _inputs),
    }


def in_place(operation, first, *others):
    """An operation of `gpu_op` whose output is its first input, as in a step of training."""
    array = Framed(first)
    getattr(gpu_op, operation)(array, *map(_placed, others), array)
    return array.asnumpy()


def place(operation, *arguments):
    """Put the arrays of an operation on the GPU, for `run`; nothing of the submission is loaded yet."""
    del operation
    _waiting[:] = _arrays(map(_on_device, arguments))


def load(operation, *arguments):
    """Call one of the functions above with its numbers, and other arrays of the same shapes."""
    _loaded[:] = [None]
    globals()[operation](*arguments)
    _run_loaded()


def run():
    """Call it once more, with the placed arrays copied over the others on the GPU."""
    _exchange()
    return _run_loaded()


def rest():
    """Do all that `run` does but the operation itself."""
    _exchange()
    return device_memory.read(_loaded[0].output)


def _exchange():
    for source, target in zip(_waiting, _arrays(_loaded[0].arguments), strict=True):
        device_memory.copy(source, target)
    device_memory.wait()


def _run_loaded():
    loaded = _loaded[0]
    device_memory.fill(loaded.output, UNTOUCHED)
    device_memory.wait()
    loaded.function(*loaded.in_order())
    device_memory.wait()
    return device_memory.read(loaded.output)


class Loaded:
    """An operation with its arrays on the GPU."""

    def __init__(self, function, shape, arguments, output_first):
        self.function = function
        self.arguments = list(map(_on_device, arguments))
        self.output = device_memory.Placed(tuple(shape))
        self._output_first = output_first

    def in_order(self):
        """Its arguments as the operation takes them."""
        return [self.output, *self.arguments] if self._output_first else [*self.arguments, self.output]


_waiting = []
_loaded = []
"""The inputs that wait on the GPU, and the operation that will get them."""


def _arrays(arguments):
    return [argument for argument in arguments if isinstance(argument, device_memory.Placed)]


def _on_device(argument):
    return device_memory.placed(argument) if isinstance(argument, np.ndarray) else argument


def _called(function, shape, *arguments, output_first=False):
    if _loaded:
        _loaded[:] = [Loaded(function, shape, arguments, output_first)]
        return None
    output = Framed(np.full(shape, UNTOUCHED).view(np.float32))
    placed = [_placed(argument) for argument in arguments]
    _inputs[:] = [one for one in placed if isinstance(one, Framed)]
    _output[:] = [output]
    function(*([output, *placed] if output_first else [*placed, output]))
    return output.asnumpy()


def _placed(argument):
    return Framed(argument) if isinstance(argument, np.ndarray) else argument
