"""Trains the course's multilayer perceptron with the submission's executors, as a driver or as a program."""

import device_memory
import numpy as np
import submission

ndarray = submission.module("ndarray")

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


def step(parameters, x, y, device):
    """Learn from 1000 pictures in a new network with these parameters, which were drawn outside.

    Returns:
        The loss, and the parameters afterwards.
    """
    network = _network(device, RATE)
    values = zip(network.parameters, parameters, strict=True)
    network.parameters = [_placed_like(parameter, value) for parameter, value in values]
    return network.learn(_inputs(x), y), _parameters(network)


def _placed_like(parameter, value):
    """A copy of an array where a parameter lies."""
    return ndarray.array(value, ctx=parameter.ctx) if isinstance(parameter, ndarray.NDArray) else value.copy()


def drawn(graph, parameters, x, labels, rate, steps, device):
    """Train a network that is drawn anew: x (n, inputs) float32, labels (n, classes) float32.

    `graph` is asked for one operation after the other: of value number n, as in `["matmul", 0, 1]`, and None
    behind the last value. The input is number 0, then come the parameters (matrices and vectors in turn,
    float32). No more of the network stands here than what has been made of it.

    Returns:
        The loss before each step, and the parameters after the last one, float32.
    """
    ad = submission.module("autodiff")
    x_node, *names = nodes = [ad.Variable(f"value{number}") for number in range(len(parameters) + 1)]
    labels_node = ad.Variable("labels")
    while (made := graph(len(nodes))) is not None:
        nodes.append(_made(ad, nodes, *made))
    loss = ad.softmaxcrossentropy_op(nodes[-1], labels_node)
    executor = ad.Executor([loss, *ad.gradients(loss, names)], ctx=CONTEXTS[device])
    parameters, losses = [array.copy() for array in parameters], []
    for _ in range(steps):
        feed = {x_node: x, labels_node: labels, **dict(zip(names, parameters, strict=True))}
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


def place(parameters, x, labels):
    """Put what a network is fed on the GPU, for `run`; nothing of the submission is loaded yet."""
    _placed[:] = map(device_memory.placed, (x, labels, *parameters))


def load(parameters, x, labels):
    """Run the course's network with other arrays of the same shapes: a weight and a bias for each layer."""
    ad, variables, results = _layers(len(parameters))
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


def _layers(count):
    """`autodiff`, the variables of a network (inputs, labels, parameters), its loss and their gradients."""
    ad = submission.module("autodiff")
    names = [ad.Variable(f"{'Wb'[number % 2]}{number // 2 + 1}") for number in range(count)]
    value = x_node = ad.Variable("x")
    labels_node = ad.Variable("labels")
    for number in range(0, count, 2):
        value = value if value is x_node else ad.relu_op(value)
        product = ad.matmul_op(value, names[number])
        value = product + ad.broadcastto_op(names[number + 1], product)
    loss = ad.softmaxcrossentropy_op(value, labels_node)
    return ad, (x_node, labels_node, *names), [loss, *ad.gradients(loss, names)]


def _made(ad, nodes, operation, first, *others):
    """One operation of earlier nodes; the last operand of those with a constant is a number."""
    if operation.endswith("_const"):
        (number,) = others
        return nodes[first] + number if operation == "add_const" else nodes[first] * number
    operands = [nodes[number] for number in (first, *others)]
    if operation == "add":
        return operands[0] + operands[1]
    if operation == "multiply":
        return operands[0] * operands[1]
    return {"matmul": ad.matmul_op, "broadcast": ad.broadcastto_op, "relu": ad.relu_op}[operation](*operands)


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
