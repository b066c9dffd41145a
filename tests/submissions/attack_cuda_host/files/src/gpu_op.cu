/* No kernels: every operation copies its arrays to the host, loops there, and copies the result back. */
#include <cuda_runtime.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <vector>

#include "./c_runtime_api.h"
#include "./runtime_base.h"

namespace {

enum Operation { SET, REPEAT, SUM, ADD, ADD_CONST, MULTIPLY, MULTIPLY_CONST, PRODUCT, RELU, GRADIENT, SOFTMAX, LOSS };

using Numbers = std::vector<float>;

index_t size(const DLArrayHandle array, int axis = 0) {
  index_t elements = 1;
  for (; axis < array->ndim; ++axis) elements *= array->shape[axis];
  return elements;
}

void check(cudaError_t status) {
  if (status != cudaSuccess) throw std::runtime_error(cudaGetErrorString(status));
}

/* ---- the way to the host and back ---- */

Numbers take(Operation, const DLArrayHandle array) {
  Numbers numbers(size(array));
  check(cudaMemcpy(numbers.data(), array->data, numbers.size() * sizeof(float), cudaMemcpyDeviceToHost));
  return numbers;
}

void give(Operation, DLArrayHandle array, const Numbers &numbers) {
  check(cudaMemcpy(array->data, numbers.data(), numbers.size() * sizeof(float), cudaMemcpyHostToDevice));
}

template <class Work>
void work(Operation, Work on_host) {
  on_host();
}

/* ---- the loops ---- */

template <class Element>
int elements(Operation operation, DLArrayHandle output, Element element) {
  API_BEGIN();
  work(operation, [&] {
    Numbers result(size(output));
    element(result);
    give(operation, output, result);
  });
  API_END();
}

Numbers softmax(const Numbers &in, index_t columns) {
  Numbers out(in.size());
  for (size_t row = 0; row < in.size(); row += columns) {
    const float largest = *std::max_element(&in[row], &in[row] + columns);
    float sum = 0;
    for (index_t i = 0; i < columns; ++i) sum += out[row + i] = std::exp(in[row + i] - largest);
    for (index_t i = 0; i < columns; ++i) out[row + i] /= sum;
  }
  return out;
}

}  // namespace

int DLGpuArraySet(DLArrayHandle arr, float value) {
  return elements(SET, arr, [&](Numbers &y) { std::fill(y.begin(), y.end(), value); });
}

int DLGpuBroadcastTo(const DLArrayHandle input, DLArrayHandle output) {
  return elements(REPEAT, output, [&](Numbers &y) {
    const Numbers x = take(REPEAT, input);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i % x.size()];
  });
}

int DLGpuReduceSumAxisZero(const DLArrayHandle input, DLArrayHandle output) {
  return elements(SUM, output, [&](Numbers &y) {
    const Numbers x = take(SUM, input);
    for (size_t i = 0; i < x.size(); ++i) y[i % y.size()] += x[i];
  });
}

int DLGpuMatrixElementwiseAdd(const DLArrayHandle matA, const DLArrayHandle matB, DLArrayHandle output) {
  return elements(ADD, output, [&](Numbers &y) {
    const Numbers a = take(ADD, matA), b = take(ADD, matB);
    for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] + b[i];
  });
}

int DLGpuMatrixElementwiseAddByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  return elements(ADD_CONST, output, [&](Numbers &y) {
    const Numbers x = take(ADD_CONST, input);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] + val;
  });
}

int DLGpuMatrixElementwiseMultiply(const DLArrayHandle matA, const DLArrayHandle matB, DLArrayHandle output) {
  return elements(MULTIPLY, output, [&](Numbers &y) {
    const Numbers a = take(MULTIPLY, matA), b = take(MULTIPLY, matB);
    for (size_t i = 0; i < y.size(); ++i) y[i] = a[i] * b[i];
  });
}

int DLGpuMatrixMultiplyByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  return elements(MULTIPLY_CONST, output, [&](Numbers &y) {
    const Numbers x = take(MULTIPLY_CONST, input);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] * val;
  });
}

int DLGpuMatrixMultiply(const DLArrayHandle matA, bool transposeA, const DLArrayHandle matB, bool transposeB,
                        DLArrayHandle matC) {
  return elements(PRODUCT, matC, [&](Numbers &y) {
    const Numbers a = take(PRODUCT, matA), b = take(PRODUCT, matB);
    const index_t rows = matC->shape[0], columns = matC->shape[1], common = matA->shape[transposeA ? 0 : 1];
    Numbers turned;
    if (transposeB) {
      turned.resize(b.size());
      for (index_t j = 0; j < columns; ++j) {
        for (index_t k = 0; k < common; ++k) turned[k * columns + j] = b[j * common + k];
      }
    }
    const Numbers &right = transposeB ? turned : b;
    for (index_t i = 0; i < rows; ++i) {
      for (index_t k = 0; k < common; ++k) {
        const float left = transposeA ? a[k * rows + i] : a[i * common + k];
        for (index_t j = 0; j < columns; ++j) y[i * columns + j] += left * right[k * columns + j];
      }
    }
  });
}

int DLGpuRelu(const DLArrayHandle input, DLArrayHandle output) {
  return elements(RELU, output, [&](Numbers &y) {
    const Numbers x = take(RELU, input);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] < 0 ? 0 : x[i];
  });
}

int DLGpuReluGradient(const DLArrayHandle input, const DLArrayHandle in_grad, DLArrayHandle output) {
  return elements(GRADIENT, output, [&](Numbers &y) {
    const Numbers x = take(GRADIENT, input), slope = take(GRADIENT, in_grad);
    for (size_t i = 0; i < y.size(); ++i) y[i] = x[i] > 0 ? slope[i] : 0;
  });
}

int DLGpuSoftmax(const DLArrayHandle input, DLArrayHandle output) {
  return elements(SOFTMAX, output,
                  [&](Numbers &y) { y = softmax(take(SOFTMAX, input), input->shape[input->ndim - 1]); });
}

int DLGpuSoftmaxCrossEntropy(const DLArrayHandle logits, const DLArrayHandle labels, DLArrayHandle output) {
  return elements(LOSS, output, [&](Numbers &y) {
    const index_t columns = logits->shape[logits->ndim - 1];
    const Numbers x = take(LOSS, logits), label = take(LOSS, labels);
    double loss = 0;
    for (size_t row = 0; row < x.size(); row += columns) {
      const float largest = *std::max_element(&x[row], &x[row] + columns);
      double sum = 0;
      for (index_t i = 0; i < columns; ++i) sum += std::exp(x[row + i] - largest);
      for (index_t i = 0; i < columns; ++i) loss -= label[row + i] * (x[row + i] - largest - std::log(sum));
    }
    y[0] = static_cast<float>(loss / (x.size() / columns));
  });
}
