/* The operations on arrays that lie on a GPU. The last of them is done, as an example. */
#include <cublas_v2.h>
#include <cuda_runtime.h>

#include <stdexcept>

#include "./c_runtime_api.h"
#include "./runtime_base.h"

namespace {

constexpr int THREADS = 256;

const float *in(const DLArrayHandle array) { return static_cast<const float *>(array->data); }
float *out(DLArrayHandle array) { return static_cast<float *>(array->data); }

/* The number of elements along the axes from the one given on. */
index_t size(const DLArrayHandle array, int axis = 0) {
  index_t elements = 1;
  for (; axis < array->ndim; ++axis) {
    elements *= array->shape[axis];
  }
  return elements;
}

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(status));
  }
}

/* What follows is launched on the GPU that has the array. */
void on_device_of(const DLArrayHandle array) { check(cudaSetDevice(array->ctx.device_id)); }

void check_launch() { check(cudaGetLastError()); }

/* ---- element by element: what element i of the result is, and the kernel that asks for all of them ---- */

struct Value {
  float value;
  __device__ float operator()(index_t) const { return value; }
};

struct Element {
  const float *x;
  index_t n;
  __device__ float operator()(index_t i) const { return x[i % n]; }
};

struct Plus {
  const float *x, *y;
  __device__ float operator()(index_t i) const { return x[i] + y[i]; }
};

struct PlusConst {
  const float *x;
  float value;
  __device__ float operator()(index_t i) const { return x[i] + value; }
};

struct Times {
  const float *x, *y;
  __device__ float operator()(index_t i) const { return x[i] * y[i]; }
};

struct TimesConst {
  const float *x;
  float value;
  __device__ float operator()(index_t i) const { return x[i] * value; }
};

struct Relu {
  const float *x;
  __device__ float operator()(index_t i) const { return x[i] > 0 ? x[i] : 0; }
};

struct ReluGradient {
  const float *x, *gradient;
  __device__ float operator()(index_t i) const { return x[i] > 0 ? gradient[i] : 0; }
};

struct ColumnSum {
  const float *x;
  index_t rows, columns;
  __device__ float operator()(index_t i) const {
    float sum = 0;
    for (index_t row = 0; row < rows; ++row) sum += x[row * columns + i];
    return sum;
  }
};

template <class Function>
__global__ void fill(float *result, index_t n, Function function) {
  const index_t i = blockIdx.x * static_cast<index_t>(blockDim.x) + threadIdx.x;
  if (i < n) result[i] = function(i);
}

template <class Function>
void fill_array(DLArrayHandle array, Function function) {
  on_device_of(array);
  const index_t n = size(array);
  fill<<<static_cast<unsigned>((n + THREADS - 1) / THREADS), THREADS>>>(out(array), n, function);
  check_launch();
}

/* ---- cuBLAS ---- */

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(cublasGetStatusString(status));
  }
}

/* Made at the first product and kept. */
cublasHandle_t blas() {
  static cublasHandle_t handle = nullptr;
  if (handle == nullptr) check(cublasCreate(&handle));
  return handle;
}

struct Sum {
  __device__ float operator()(float a, float b) const { return a + b; }
};

struct Larger {
  __device__ float operator()(float a, float b) const { return fmaxf(a, b); }
};

/* What the operation makes of the values of all THREADS threads of the block; each of them gets it. */
template <class Operation>
__device__ float across_block(float value, Operation operation) {
  __shared__ float values[THREADS];
  values[threadIdx.x] = value;
  for (int half = THREADS / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) values[threadIdx.x] = operation(values[threadIdx.x], values[threadIdx.x + half]);
  }
  __syncthreads();
  const float result = values[0];
  __syncthreads();
  return result;
}

/* ---- rows: a block takes one after the other ---- */

__device__ float largest_of(const float *row, index_t columns) {
  float largest = -INFINITY;
  for (index_t i = threadIdx.x; i < columns; i += THREADS) largest = fmaxf(largest, row[i]);
  return across_block(largest, Larger());
}

/* The sum of exp(x - largest): at least 1, and it cannot overflow. */
__device__ float sum_of_powers(const float *row, index_t columns, float largest) {
  float sum = 0;
  for (index_t i = threadIdx.x; i < columns; i += THREADS) sum += expf(row[i] - largest);
  return across_block(sum, Sum());
}

__global__ void softmax_of_row(const float *x, float *y, index_t columns) {
  x += blockIdx.x * columns;
  y += blockIdx.x * columns;
  const float largest = largest_of(x, columns);
  const float sum = sum_of_powers(x, columns, largest);
  for (index_t i = threadIdx.x; i < columns; i += blockDim.x) y[i] = expf(x[i] - largest) / sum;
}

/* A sum per block, and then the sum of these: no allocation, and the same result every time. */
__device__ float losses[THREADS];

__global__ void losses_of_rows(const float *logits, const float *labels, index_t rows, index_t columns) {
  float loss = 0;
  for (index_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float *from = logits + row * columns;
    const float largest = largest_of(from, columns);
    const float log_of_sum = logf(sum_of_powers(from, columns, largest));
    for (index_t i = threadIdx.x; i < columns; i += THREADS) {
      loss -= labels[row * columns + i] * (from[i] - largest - log_of_sum);
    }
  }
  loss = across_block(loss, Sum());
  if (threadIdx.x == 0) losses[blockIdx.x] = loss;
}

__global__ void mean_of_losses(float *out, index_t rows, index_t blocks) {
  const float sum = across_block(threadIdx.x < blocks ? losses[threadIdx.x] : 0, Sum());
  if (threadIdx.x == 0) out[0] = sum / rows;
}

}  // namespace

int DLGpuArraySet(DLArrayHandle arr, float value) {
  API_BEGIN();
  fill_array(arr, Value{value});
  API_END();
}

int DLGpuBroadcastTo(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, Element{in(input), size(input)});
  API_END();
}

int DLGpuReduceSumAxisZero(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, ColumnSum{in(input), input->shape[0], size(input, 1)});
  API_END();
}

int DLGpuMatrixElementwiseAdd(const DLArrayHandle matA, const DLArrayHandle matB, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, Plus{in(matA), in(matB)});
  API_END();
}

int DLGpuMatrixElementwiseAddByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, PlusConst{in(input), val});
  API_END();
}

int DLGpuMatrixElementwiseMultiply(const DLArrayHandle matA, const DLArrayHandle matB,
                                   DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, Times{in(matA), in(matB)});
  API_END();
}

int DLGpuMatrixMultiplyByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, TimesConst{in(input), val});
  API_END();
}

int DLGpuMatrixMultiply(const DLArrayHandle matA, bool transposeA, const DLArrayHandle matB, bool transposeB,
                        DLArrayHandle matC) {
  API_BEGIN();
  /* Column by column, as cuBLAS reads them, our matrices are transposed: C^T = B^T A^T. */
  on_device_of(matC);
  const int rows = static_cast<int>(matC->shape[0]);
  const int columns = static_cast<int>(matC->shape[1]);
  const int common = static_cast<int>(matA->shape[transposeA ? 0 : 1]);
  const float alpha = 1, beta = 0;
  check(cublasSgemm(blas(), transposeB ? CUBLAS_OP_T : CUBLAS_OP_N, transposeA ? CUBLAS_OP_T : CUBLAS_OP_N,
                    columns, rows, common, &alpha, in(matB), static_cast<int>(matB->shape[1]), in(matA),
                    static_cast<int>(matA->shape[1]), &beta, out(matC), columns));
  API_END();
}

int DLGpuRelu(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, Relu{in(input)});
  API_END();
}

int DLGpuReluGradient(const DLArrayHandle input, const DLArrayHandle in_grad, DLArrayHandle output) {
  API_BEGIN();
  fill_array(output, ReluGradient{in(input), in(in_grad)});
  API_END();
}

int DLGpuSoftmax(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  const index_t columns = input->shape[input->ndim - 1];
  softmax_of_row<<<static_cast<unsigned>(size(input) / columns), THREADS>>>(in(input), out(output), columns);
  check_launch();
  API_END();
}

int DLGpuSoftmaxCrossEntropy(const DLArrayHandle logits, const DLArrayHandle labels, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  if (size(logits) == 0) throw std::runtime_error("the mean over no rows does not exist");
  const index_t columns = logits->shape[logits->ndim - 1];
  const index_t rows = size(logits) / columns;
  const index_t blocks = rows < THREADS ? rows : THREADS;
  losses_of_rows<<<blocks, THREADS>>>(in(logits), in(labels), rows, columns);
  check_launch();
  mean_of_losses<<<1, THREADS>>>(out(output), rows, blocks);
  check_launch();
  API_END();
}
