"""Trains the course's multilayer perceptron with the hand-in's executors, as a driver or as a program."""

import device_memory
import hand_in
import numpy as np

ndarray = hand_in.module("ndarray")

CONTEXTS = {"numpy": None, "gpu": ndarray.gpu(0)}

RATE = 1e-3
"""The course's learning rate."""
SMALL = 1e-4
"""With the course's own the first steps overshoot, and roundings decide where that leads; with this one two
trainings are alike for dozens of steps, in float32 or float64."""

_learning = {}


def begin(x, y, device):
    """Make a network, and keep the pictures that it will learn from (uint8, (n, 784), n in thousands)."""
    _learning["network"] = _network(device, RATE)
    _learning["samples"] = _inputs(x), y.copy()


def epoch():
    """Go through the pictures once: the mean loss, and the parameters afterwards."""
    network = _learning["network"]
    return network.learn(*_learning["samples"]), _parameters(network)


def batch(x, y):
    """Learn from these 1000 pictures alone: the loss, and the parameters afterwards."""
    network = _learning["network"]
    return network.learn(_inputs(x), y), _parameters(network)


def drawn(layers, parameters, x, labels, rate, steps, device):
    """Train a network that is drawn anew: x (n, inputs) float32, labels (n, classes) float32.

    `layers` says what is done with the sums of each layer but the last: `relu`, `square`, `double` (the sums
    plus their relu) or a number that they are multiplied by. `parameters` are a matrix and a vector
    for each layer, float32.

    Returns:
        The loss before each step, and the parameters after the last one, float32.
    """
    ad, variables, results = _graph(layers, len(parameters))
    executor = ad.Executor(results, ctx=CONTEXTS[device])
    parameters, losses = [array.copy() for array in parameters], []
    for _ in range(steps):
        feed = dict(zip(variables, (x, labels, *parameters), strict=True))
        if executor.ctx is not None:
            feed = {node: ndarray.array(array, ctx=executor.ctx) for node, array in feed.items()}
        cost, *gradients = (_array(one) for one in executor.run(feed))
        losses.append(float(cost[0]))
        parameters = [
            (array - np.float32(rate) * gradient).astype(np.float32)
            for array, gradient in zip(parameters, gradients, strict=True)
        ]
    return losses, parameters


_placed = []
_loaded = []
_results = []
"""Arrays that wait on the GPU; an executor, with what it is fed; and the arrays that it gave last."""


def place(layers, parameters, x, labels):
    """Put what a network is fed on the GPU, for `run`; nothing of the hand-in is loaded yet."""
    del layers
    _placed[:] = map(device_memory.placed, (x, labels, *parameters))


def load(layers, parameters, x, labels):
    """Run the network that `drawn` makes of these layers, with other arrays of the same shapes."""
    ad, variables, results = _graph(layers, len(parameters))
    feed = map(device_memory.placed, (x, labels, *parameters))
    executor = ad.Executor(results, ctx=CONTEXTS["gpu"])
    _loaded[:] = executor, dict(zip(variables, feed, strict=True))
    executor.run(_loaded[1])


def run():
    """Run it once more, with the placed arrays copied over the others on the GPU.

    Returns:
        The loss, and its gradients by the parameters.
    """
    _exchange()
    executor, feed = _loaded
    _results[:] = executor.run(feed)
    return rest()


def rest():
    """Do all that `run` does but the graph itself: give what it gave last."""
    _exchange()
    cost, *gradients = map(device_memory.read, _results)
    return float(cost[0]), gradients


def _exchange():
    for source, target in zip(_placed, _loaded[1].values(), strict=True):
        device_memory.copy(source, target)
    device_memory.wait()


def _graph(layers, count):
    """`autodiff`, the variables of a network (inputs, labels, parameters), its loss and their gradients."""
    ad = hand_in.module("autodiff")
    names = [ad.Variable(f"{'Wb'[number % 2]}{number // 2 + 1}") for number in range(count)]
    value = x_node = ad.Variable("x")
    labels_node = ad.Variable("labels")
    for number in range(0, count, 2):
        product = ad.matmul_op(value, names[number])
        value = product + ad.broadcastto_op(names[number + 1], product)
        if number // 2 < len(layers):
            value = _applied(ad, layers[number // 2], value)
    loss = ad.softmaxcrossentropy_op(value, labels_node)
    return ad, (x_node, labels_node, *names), [loss, *ad.gradients(loss, names)]


def _applied(ad, how, value):
    if how == "relu":
        return ad.relu_op(value)
    if how == "square":
        return value * value
    if how == "double":
        return value + ad.relu_op(value)
    return value * how


def _parameters(network):
    return [_array(parameter) for parameter in network.parameters]


def _array(value):
    """The values in the memory of the CPU, in an array of their own: the next run may write to the same."""
    return value.asnumpy() if isinstance(value, ndarray.NDArray) else np.array(value)


def losses(x, y, epochs, device):
    """The mean loss of each epoch of a training in small steps."""
    network, x = _network(device, SMALL), _inputs(x)
    return [network.learn(x, y) for _ in range(epochs)]


def on_numpy(x, y, epochs):
    """The same on NumPy, in float16: for who compares as closely as the type allows."""
    return np.array(losses(x, y, epochs, "numpy"), np.float16)


def on_gpu(x, y, epochs):
    """The same on a GPU."""
    return np.array(losses(x, y, epochs, "gpu"), np.float16)


def _network(device, rate):
    import mnist_dlsys

    mnist_dlsys.LEARNING_RATE = rate
    return mnist_dlsys.Network(mnist_dlsys.MODELS["mlp"], CONTEXTS[device])


def _inputs(x):
    from digits import inputs

    return inputs(x)


if __name__ == "__main__":
    from mnist_dlsys import main

    main()
