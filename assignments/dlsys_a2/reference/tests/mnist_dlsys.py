"""Trains networks on handwritten digits, on NumPy or on a GPU: `python tests/mnist_dlsys.py -h`."""

import argparse
import time
from itertools import pairwise

import numpy as np
from dlsys import autodiff as ad
from dlsys import gpu_op, ndarray

BATCH_SIZE = 1000
LEARNING_RATE = 1e-3
MODELS = {"logreg": (784, 10), "mlp": (784, 256, 100, 10)}
"""The neurons of each layer, input layer first."""


class Network:
    """Fully connected layers with ReLU between them, and the parameters that they have learnt.

    Args:
        sizes: the neurons of each layer, input layer first.
        ctx: the GPU that it learns on; None for NumPy.
    """

    def __init__(self, sizes, ctx=None):
        self.ctx = ctx
        self.classes = sizes[-1]
        self.x, self.labels = ad.Variable("x"), ad.Variable("labels")
        layers = range(1, len(sizes))
        weights = [ad.Variable(f"W{layer}") for layer in layers]
        biases = [ad.Variable(f"b{layer}") for layer in layers]

        value = self.x
        for weight, bias in zip(weights, biases, strict=True):
            value = value if value is self.x else ad.relu_op(value)
            product = ad.matmul_op(value, weight)
            value = product + ad.broadcastto_op(bias, product)
        loss = ad.softmaxcrossentropy_op(value, self.labels)
        self.variables = [*weights, *biases]
        self.learner = ad.Executor([loss, *ad.gradients(loss, self.variables)], ctx=ctx)
        self.predictor = ad.Executor([value], ctx=ctx)

        rng = np.random.RandomState(123)
        scale = 0.1 if len(weights) > 1 else 0.0
        values = [rng.normal(scale=scale, size=shape) for shape in pairwise(sizes)]
        values += [rng.normal(scale=scale, size=size) for size in sizes[1:]]
        self.parameters = [self._on_device(value.astype(np.float32)) for value in values]
        self._batches = {}

    def learn(self, inputs, labels):
        """Go through the samples once, as far as they fill batches.

        Returns:
            The mean of the batches' losses.
        """
        losses = []
        for end in range(BATCH_SIZE, len(inputs) + 1, BATCH_SIZE):
            batch = slice(end - BATCH_SIZE, end)
            one_hot = np.eye(self.classes, dtype=np.float32)[labels[batch]]
            loss, *gradients = self.learner.run(
                {
                    self.x: self._batch(self.x, inputs[batch]),
                    self.labels: self._batch(self.labels, one_hot),
                    **dict(zip(self.variables, self.parameters, strict=True)),
                }
            )
            for parameter, gradient in zip(self.parameters, gradients, strict=True):
                self._step(parameter, gradient)
            losses.append(float((loss.asnumpy() if self.ctx else loss)[0]))
        return sum(losses) / len(losses)

    def predict(self, inputs):
        """The class of each sample, int64."""
        classes = []
        for start in range(0, len(inputs), BATCH_SIZE):
            fed = {
                self.x: self._batch(self.x, inputs[start : start + BATCH_SIZE]),
                **dict(zip(self.variables, self.parameters, strict=True)),
            }
            (value,) = self.predictor.run(fed, convert_to_numpy_ret_vals=True)
            classes.append(np.argmax(value, axis=1))
        return np.concatenate(classes)

    def _on_device(self, value):
        return value if self.ctx is None else ndarray.array(value, ctx=self.ctx)

    def _batch(self, node, values):
        """The values where they are computed with; on a GPU in an array that the next batch takes over."""
        if self.ctx is None:
            return values
        place = node, values.shape
        if place not in self._batches:
            self._batches[place] = ndarray.empty(values.shape, ctx=self.ctx)
        self._batches[place][:] = values
        return self._batches[place]

    def _step(self, parameter, gradient):
        if self.ctx is None:
            parameter -= LEARNING_RATE * gradient
        else:
            gpu_op.matrix_elementwise_multiply_by_const(gradient, -LEARNING_RATE, gradient)
            gpu_op.matrix_elementwise_add(parameter, gradient, parameter)


def main():
    """Train what the command line asks for."""
    parser = argparse.ArgumentParser(description="Train networks on handwritten digits.")
    parser.add_argument("-m", "--model", choices=[*MODELS, "all"], default="all")
    parser.add_argument("-c", "--executor_context", choices=["numpy", "gpu"], default="numpy")
    parser.add_argument("-e", "--num_epoch", type=int, default=10)
    parser.add_argument("-l", "--print_loss_val_each_epoch", action="store_true")
    options = parser.parse_args()

    from digits import inputs, load

    training, validation = load()
    ctx = ndarray.gpu(0) if options.executor_context == "gpu" else None
    for model in MODELS if options.model == "all" else [options.model]:
        print(f"=== {model} on {options.executor_context}")
        network = Network(MODELS[model], ctx)
        for epoch in range(1, options.num_epoch + 1):
            start = time.perf_counter()
            loss = network.learn(inputs(training.pictures), training.labels)
            if options.print_loss_val_each_epoch:
                print(f"epoch {epoch}: loss = {loss:f}; time = {time.perf_counter() - start:f} s")
        accuracy = np.mean(network.predict(inputs(validation.pictures)) == validation.labels)
        print(f"validation set accuracy={accuracy:f}")


if __name__ == "__main__":
    main()
