"""A fully connected neural network, trained by gradient descent. Given: leave it as it is."""

import time

import numpy as np
from utils import create_batches, random_weights, sigmoid, sigmoid_prime, zeros_biases, zeros_weights


class NeuralNetwork:
    """Layers of sigmoid neurons that learn to tell classes apart.

    Args:
        sizes: the number of neurons of each layer, input layer first.
        learning_rate: how far a step goes down the slope.
        mini_batch_size: how many samples are looked at before each step.
        epochs: how often `fit` goes through the training data.
        matmul: the function that multiplies two matrices.
    """

    def __init__(self, sizes, learning_rate, mini_batch_size, epochs, matmul):
        self.sizes = list(sizes)
        self.learning_rate = learning_rate
        self.mini_batch_size = mini_batch_size
        self.epochs = epochs
        self.matmul = matmul
        self.weights = random_weights(sizes)
        self.biases = self._without_input_layer(zeros_biases(sizes))

    def fit(self, training_data, validation_data=None):
        """Learn from (samples, labels); print the accuracy on the validation data after each epoch."""
        batches = create_batches(*training_data, self.mini_batch_size)
        for epoch in range(1, self.epochs + 1):
            for samples, labels in batches:
                self._step(samples, labels)
            if validation_data is not None:
                print(f"Epoch {epoch}, accuracy {self.validate(validation_data)} %.")

    def validate(self, data):
        """The share of (samples, labels) that the network gets right, in per cent."""
        samples, labels = data
        return round(100 * float(np.mean(self.predict(samples) == labels)), 2)

    def predict(self, samples):
        """The class of each sample, an array of whole numbers."""
        _, activations = self.forward_prop(samples)
        return np.argmax(activations[-1], axis=1)

    def forward_prop(self, samples):
        """What every layer gets and gives: (z of layers 1 to L, activations of layers 0 to L).

        All of them have a row per sample and a column per neuron.
        """
        zs, activations = [], [samples]
        for weights, biases in zip(self.weights, self.biases, strict=True):
            zs.append(self.matmul(activations[-1], weights) + biases)
            activations.append(sigmoid(zs[-1]))
        return zs, activations

    def back_prop(self, samples, labels):
        """The slope of the squared error, summed over the samples: (by weights, by biases)."""
        by_weights = zeros_weights(self.sizes)
        by_biases = self._without_input_layer(zeros_biases(self.sizes))
        zs, activations = self.forward_prop(samples)
        wanted = np.eye(self.sizes[-1])[labels]
        error = (activations[-1] - wanted) * sigmoid_prime(zs[-1])
        for layer in reversed(range(len(self.weights))):
            by_weights[layer] = self.matmul(activations[layer].T, error)
            by_biases[layer] = error.sum(axis=0)
            if layer > 0:
                error = self.matmul(error, self.weights[layer].T) * sigmoid_prime(zs[layer - 1])
        return by_weights, by_biases

    def _step(self, samples, labels):
        by_weights, by_biases = self.back_prop(samples, labels)
        self.weights = self._downhill(self.weights, by_weights)
        self.biases = self._downhill(self.biases, by_biases)

    def _downhill(self, values, slopes):
        return [value - self.learning_rate * slope for value, slope in zip(values, slopes, strict=True)]

    def _without_input_layer(self, biases):
        # Some programs keep an unused vector for layer 0.
        return list(biases)[-(len(self.sizes) - 1) :]


def train_nn(sizes, learning_rate, mini_batch_size, epochs, matmul, training_data, validation_data):
    """Train a new network.

    Returns:
        The network, and how long the training took in seconds.
    """
    nn = NeuralNetwork(sizes, learning_rate, mini_batch_size, epochs, matmul)
    start = time.perf_counter()
    nn.fit(training_data, validation_data)
    return nn, time.perf_counter() - start
