"""Trains a network on pictures of handwritten digits. You may change the numbers at the top."""

import numpy as np
from data import inputs, load
from network import train_nn

sizes = [784, 128, 64, 10]
learning_rate = 0.1
mini_batch_size = 16
epochs = 5


def main():
    training, validation, test = [(inputs(pictures), labels) for pictures, labels in load()]
    nn, seconds = train_nn(sizes, learning_rate, mini_batch_size, epochs, np.matmul, training, validation)
    print(f"Time to train using np.matmul: {seconds:.2f} seconds")
    print(f"Test Accuracy: {nn.validate(test)}%")


if __name__ == "__main__":
    main()
