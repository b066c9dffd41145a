"""Operations on arrays on a GPU: each writes to an array of the caller, its last argument."""

import ctypes

from . import ndarray
from ._base import call


def array_set(arr, value):
    """Every element of `arr` becomes `value`."""
    _run("DLGpuArraySet", arr, float(value))


def broadcast_to(in_arr, out_arr):
    """out_arr[k, ...] = in_arr[...] for every k."""
    _run("DLGpuBroadcastTo", in_arr, out_arr)


def reduce_sum_axis_zero(in_arr, out_arr):
    """out_arr[...] = the sum of in_arr[k, ...] over k."""
    _run("DLGpuReduceSumAxisZero", in_arr, out_arr)


def matrix_elementwise_add(matA, matB, matC):
    """matC = matA + matB."""
    _run("DLGpuMatrixElementwiseAdd", matA, matB, matC)


def matrix_elementwise_add_by_const(in_mat, const, out_mat):
    """out_mat = in_mat + const."""
    _run("DLGpuMatrixElementwiseAddByConst", in_mat, float(const), out_mat)


def matrix_elementwise_multiply(matA, matB, matC):
    """matC = matA * matB, element by element."""
    _run("DLGpuMatrixElementwiseMultiply", matA, matB, matC)


def matrix_elementwise_multiply_by_const(in_mat, const, out_mat):
    """out_mat = in_mat * const."""
    _run("DLGpuMatrixMultiplyByConst", in_mat, float(const), out_mat)


def matrix_multiply(matA, transA, matB, transB, matC):
    """The product: matC = matA @ matB, either of them transposed first where asked for."""
    _run("DLGpuMatrixMultiply", matA, bool(transA), matB, bool(transB), matC)


def relu(in_arr, out_arr):
    """out_arr = max(in_arr, 0)."""
    _run("DLGpuRelu", in_arr, out_arr)


def relu_gradient(in_arr, in_grad_arr, out_arr):
    """out_arr = in_grad_arr where in_arr > 0, and 0 elsewhere."""
    _run("DLGpuReluGradient", in_arr, in_grad_arr, out_arr)


def softmax(in_arr, out_arr):
    """The softmax of every row."""
    _run("DLGpuSoftmax", in_arr, out_arr)


def softmax_cross_entropy(in_arr_a, in_arr_b, out_arr):
    """out_arr[0] = the mean over the rows of -sum(in_arr_b * log(softmax(in_arr_a)))."""
    _run("DLGpuSoftmaxCrossEntropy", in_arr_a, in_arr_b, out_arr)


def _run(name, *arguments):
    call(name, *(_as_c(argument) for argument in arguments))


def _as_c(argument):
    if isinstance(argument, bool):
        return ctypes.c_bool(argument)
    if isinstance(argument, float):
        return ctypes.c_float(argument)
    if isinstance(argument, ndarray.NDArray):
        return argument.handle
    raise TypeError(f"an NDArray is needed, not {type(argument).__name__}")
