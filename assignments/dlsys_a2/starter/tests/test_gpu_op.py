"""The operations on a GPU, against NumPy: `python -m pytest -v tests/test_gpu_op.py`."""

import numpy as np
from dlsys import autodiff, gpu_op, ndarray  # noqa: F401 - the tests take the package whole

GPU = ndarray.gpu(0)


def uniform(low, high, shape, seed=0):
    return np.random.RandomState(seed).uniform(low, high, shape).astype(np.float32)


def on_gpu(values):
    return ndarray.array(values, ctx=GPU)


def unset(shape):
    # A forgotten element shall not be right by chance.
    return on_gpu(np.full(shape, np.nan))


def test_array_set():
    array = unset((500, 200))
    for value in (1.0, 0.0):
        gpu_op.array_set(array, value)
        np.testing.assert_allclose(array.asnumpy(), np.full((500, 200), value))


def test_broadcast_to():
    x, y = uniform(-1, 1, (200, 300)), unset((130, 200, 300))
    gpu_op.broadcast_to(on_gpu(x), y)
    np.testing.assert_allclose(y.asnumpy(), np.broadcast_to(x, y.shape))


def test_reduce_sum_axis_zero():
    x, y = uniform(0, 20, (500, 200, 100)), unset((200, 100))
    gpu_op.reduce_sum_axis_zero(on_gpu(x), y)
    np.testing.assert_allclose(y.asnumpy(), x.sum(axis=0, dtype=np.float64), rtol=1e-5)


def test_matrix_elementwise_add():
    x, y, z = uniform(0, 10, (500, 200)), uniform(0, 10, (500, 200), seed=1), unset((500, 200))
    gpu_op.matrix_elementwise_add(on_gpu(x), on_gpu(y), z)
    np.testing.assert_allclose(z.asnumpy(), x + y, rtol=1e-5)


def test_matrix_elementwise_add_by_const():
    x, y = uniform(0, 10, (2000, 3000)), unset((2000, 3000))
    constant = float(uniform(-5, 5, (), seed=1))
    gpu_op.matrix_elementwise_add_by_const(on_gpu(x), constant, y)
    # The sum of numbers of both signs may be near zero.
    np.testing.assert_allclose(y.asnumpy(), x.astype(np.float64) + constant, rtol=1e-5, atol=1e-6)


def test_matrix_elementwise_multiply():
    x, y, z = uniform(0, 10, (500, 200)), uniform(0, 10, (500, 200), seed=1), unset((500, 200))
    gpu_op.matrix_elementwise_multiply(on_gpu(x), on_gpu(y), z)
    np.testing.assert_allclose(z.asnumpy(), x * y, rtol=1e-5)


def test_matrix_elementwise_multiply_by_const():
    x, y = uniform(0, 10, (2000, 3000)), unset((2000, 3000))
    constant = float(uniform(-5, 5, (), seed=1))
    gpu_op.matrix_elementwise_multiply_by_const(on_gpu(x), constant, y)
    np.testing.assert_allclose(y.asnumpy(), x * np.float64(constant), rtol=1e-5)


def test_matrix_multiply():
    for shape_a, transposed_a, shape_b, transposed_b in (
        ((500, 700), False, (700, 1000), False),
        ((1000, 500), False, (2000, 500), True),
        ((500, 1000), True, (2000, 500), True),
    ):
        a, b = uniform(0, 10, shape_a), uniform(0, 10, shape_b, seed=1)
        expected = (a.T if transposed_a else a) @ (b.T if transposed_b else b)
        c = unset(expected.shape)
        gpu_op.matrix_multiply(on_gpu(a), transposed_a, on_gpu(b), transposed_b, c)
        np.testing.assert_allclose(c.asnumpy(), expected, rtol=1e-5)


def test_relu():
    x, y = uniform(-1, 1, (2000, 2500)), unset((2000, 2500))
    gpu_op.relu(on_gpu(x), y)
    np.testing.assert_allclose(y.asnumpy(), np.maximum(x, 0))


def test_relu_gradient():
    x, gradient = uniform(-1, 1, (2000, 2500)), uniform(-5, 5, (2000, 2500), seed=1)
    y = unset((2000, 2500))
    gpu_op.relu_gradient(on_gpu(x), on_gpu(gradient), y)
    np.testing.assert_allclose(y.asnumpy(), (x > 0) * gradient)


def test_softmax():
    x, y = uniform(-5, 5, (400, 1000)), unset((400, 1000))
    gpu_op.softmax(on_gpu(x), y)
    np.testing.assert_allclose(y.asnumpy(), np.exp(log_softmax(x)), rtol=1e-5)


def test_softmax_cross_entropy():
    x, labels = uniform(-5, 5, (400, 1000)), uniform(-5, 5, (400, 1000), seed=1)
    loss = unset((1,))
    gpu_op.softmax_cross_entropy(on_gpu(x), on_gpu(labels), loss)
    terms = labels * log_softmax(x)
    # Terms of both signs cancel: what is left may be small, the errors of the terms are not.
    np.testing.assert_allclose(
        loss.asnumpy(), [-terms.sum(axis=1).mean()], rtol=1e-5, atol=1e-7 * np.abs(terms).sum(axis=1).mean()
    )


def log_softmax(x):
    x = x.astype(np.float64)
    return x - np.log(np.exp(x).sum(axis=1, keepdims=True))
