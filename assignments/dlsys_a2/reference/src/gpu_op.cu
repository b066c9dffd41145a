/* The operations on arrays that lie on a GPU. */
#include <cuda_runtime.h>

#include <algorithm>
#include <stdexcept>

#ifndef TILED
#include <cublas_v2.h>

#include <map>
#endif

#include "./c_runtime_api.h"
#include "./runtime_base.h"

namespace {

constexpr int THREADS = 256;
/* A grid of this size fills any GPU; a kernel goes through larger arrays in steps of the whole grid. */
constexpr index_t MOST_BLOCKS = 65535;

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

int blocks_for(index_t n, int per_block = THREADS) {
  return static_cast<int>(std::min((n + per_block - 1) / per_block, MOST_BLOCKS));
}

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(status));
  }
}

/* What follows is launched on the GPU that has the array. */
void on_device_of(const DLArrayHandle array) { check(cudaSetDevice(array->ctx.device_id)); }

void check_launch() { check(cudaGetLastError()); }

__device__ index_t first() { return blockIdx.x * index_t{blockDim.x} + threadIdx.x; }
__device__ index_t step() { return gridDim.x * index_t{blockDim.x}; }

/* ---- element by element ---- */

__global__ void set(float *out, float value, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = value;
}

__global__ void repeat(const float *in, index_t n_in, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = in[i % n_in];
}

__global__ void add(const float *a, const float *b, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = a[i] + b[i];
}

__global__ void add_const(const float *in, float value, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = in[i] + value;
}

__global__ void multiply(const float *a, const float *b, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = a[i] * b[i];
}

__global__ void multiply_const(const float *in, float value, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = in[i] * value;
}

__global__ void relu(const float *in, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = in[i] < 0 ? 0 : in[i];
}

__global__ void relu_gradient(const float *in, const float *grad, float *out, index_t n) {
  for (index_t i = first(); i < n; i += step()) out[i] = in[i] > 0 ? grad[i] : 0;
}

/* ---- sums ---- */

constexpr int COLUMNS = 32;
constexpr int STRIPES = 8;

/* A thread adds every eighth row of its column, neighbours in a row side by side; then eight sums are left. */
__global__ void sum_rows(const float *in, float *out, index_t rows, index_t columns) {
  __shared__ float partial[STRIPES][COLUMNS];
  for (index_t from = blockIdx.x * index_t{COLUMNS}; from < columns; from += gridDim.x * index_t{COLUMNS}) {
    const index_t column = from + threadIdx.x;
    float sum = 0;
    if (column < columns) {
      for (index_t row = threadIdx.y; row < rows; row += STRIPES) sum += in[row * columns + column];
    }
    partial[threadIdx.y][threadIdx.x] = sum;
    __syncthreads();
    if (threadIdx.y == 0 && column < columns) {
      for (int stripe = 1; stripe < STRIPES; ++stripe) sum += partial[stripe][threadIdx.x];
      out[column] = sum;
    }
    __syncthreads();
  }
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

__global__ void softmax_of_rows(const float *in, float *out, index_t rows, index_t columns) {
  for (index_t row = blockIdx.x; row < rows; row += gridDim.x) {
    const float *from = in + row * columns;
    const float largest = largest_of(from, columns);
    const float sum = sum_of_powers(from, columns, largest);
    for (index_t i = threadIdx.x; i < columns; i += THREADS) {
      out[row * columns + i] = expf(from[i] - largest) / sum;
    }
  }
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

/* ---- the product of two matrices ---- */

#ifdef TILED

/* A matrix as the product sees it: turned on its side if it is to be transposed. */
struct Matrix {
  const float *data;
  index_t rows, columns;
  bool transposed;

  Matrix(const DLArrayHandle array, bool transpose)
      : data(in(array)),
        rows(array->shape[transpose ? 1 : 0]),
        columns(array->shape[transpose ? 0 : 1]),
        transposed(transpose) {}

  /* 0 outside. */
  __device__ float at(index_t row, index_t column) const {
    if (row >= rows || column >= columns) return 0;
    return transposed ? data[column * rows + row] : data[row * columns + column];
  }
};

constexpr int TILE = 64;       // rows and columns of the result that a block computes
constexpr int DEPTH = 16;      // how much of the common axis is in shared memory at a time
constexpr int PER_THREAD = 4;  // rows and columns of a thread: TILE / 16, for 16 x 16 threads

/* Neighbouring threads read neighbouring elements, whichever way the matrix lies. */
__device__ void load(float (*tile)[TILE + 1], const Matrix &m, index_t row, index_t column, bool rows_first) {
  for (int i = threadIdx.x; i < TILE * DEPTH; i += THREADS) {
    const int along = rows_first ? i % TILE : i / DEPTH;
    const int depth = rows_first ? i / TILE : i % DEPTH;
    tile[depth][along] = m.at(row + along, column + depth);
  }
}

/* a is m x k; b is given as its transpose, n x k, so that both are cut into tiles in the same way. */
__global__ void product(Matrix a, Matrix b, float *out) {
  __shared__ float tile_a[DEPTH][TILE + 1];
  __shared__ float tile_b[DEPTH][TILE + 1];
  const index_t across = (b.rows + TILE - 1) / TILE;
  const index_t row = blockIdx.x / across * TILE;
  const index_t column = blockIdx.x % across * TILE;
  const int y = threadIdx.x / 16;
  const int x = threadIdx.x % 16;
  float sums[PER_THREAD][PER_THREAD] = {};

  for (index_t depth = 0; depth < a.columns; depth += DEPTH) {
    load(tile_a, a, row, depth, a.transposed);
    load(tile_b, b, column, depth, b.transposed);
    __syncthreads();
    for (int k = 0; k < DEPTH; ++k) {
      float from_b[PER_THREAD];
      for (int j = 0; j < PER_THREAD; ++j) from_b[j] = tile_b[k][x + 16 * j];
      for (int i = 0; i < PER_THREAD; ++i) {
        const float from_a = tile_a[k][y + 16 * i];
        for (int j = 0; j < PER_THREAD; ++j) sums[i][j] += from_a * from_b[j];
      }
    }
    __syncthreads();
  }

  for (int i = 0; i < PER_THREAD; ++i) {
    for (int j = 0; j < PER_THREAD; ++j) {
      const index_t to_row = row + y + 16 * i;
      const index_t to_column = column + x + 16 * j;
      if (to_row < a.rows && to_column < b.rows) out[to_row * b.rows + to_column] = sums[i][j];
    }
  }
}

void matrix_product(const DLArrayHandle a, bool transpose_a, const DLArrayHandle b, bool transpose_b,
                    DLArrayHandle c) {
  const Matrix left(a, transpose_a), right(b, !transpose_b);
  const index_t tiles = (left.rows + TILE - 1) / TILE * ((right.rows + TILE - 1) / TILE);
  product<<<static_cast<unsigned>(tiles), THREADS>>>(left, right, out(c));
  check_launch();
}

#else

void check(cublasStatus_t status) {
  if (status != CUBLAS_STATUS_SUCCESS) {
    throw std::runtime_error(cublasGetStatusString(status));
  }
}

/* To make a handle allocates memory, so there is one per device, and it lasts as long as the process. */
cublasHandle_t handle_of(int device) {
  static std::map<int, cublasHandle_t> handles;
  cublasHandle_t &handle = handles[device];
  if (handle == nullptr) check(cublasCreate(&handle));
  return handle;
}

/* cuBLAS goes down columns first, so it sees the transpose of each matrix: c' = b' * a'. */
void matrix_product(const DLArrayHandle a, bool transpose_a, const DLArrayHandle b, bool transpose_b,
                    DLArrayHandle c) {
  const index_t common = a->shape[transpose_a ? 0 : 1];
  const float one = 1, zero = 0;
  if (common == 0) {
    check(cudaMemsetAsync(c->data, 0, size(c) * sizeof(float)));
    return;
  }
  check(cublasSgemm(handle_of(c->ctx.device_id), transpose_b ? CUBLAS_OP_T : CUBLAS_OP_N,
                    transpose_a ? CUBLAS_OP_T : CUBLAS_OP_N, static_cast<int>(c->shape[1]),
                    static_cast<int>(c->shape[0]), static_cast<int>(common), &one, in(b),
                    static_cast<int>(b->shape[1]), in(a), static_cast<int>(a->shape[1]), &zero, out(c),
                    static_cast<int>(c->shape[1])));
}

#endif

}  // namespace

/* A launch of no blocks is an error, so an array without elements is left alone. */
#define FOR_ELEMENTS_OF(array, kernel, ...)                     \
  API_BEGIN();                                                  \
  on_device_of(array);                                          \
  if (const index_t n = size(array)) {                          \
    kernel<<<blocks_for(n), THREADS>>>(__VA_ARGS__, n);         \
    check_launch();                                             \
  }                                                             \
  API_END();

int DLGpuArraySet(DLArrayHandle arr, float value) { FOR_ELEMENTS_OF(arr, set, out(arr), value) }

int DLGpuBroadcastTo(const DLArrayHandle input, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, repeat, in(input), size(input), out(output))
}

int DLGpuReduceSumAxisZero(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  if (const index_t columns = size(input, 1)) {
    sum_rows<<<blocks_for(columns, COLUMNS), dim3(COLUMNS, STRIPES)>>>(in(input), out(output),
                                                                       input->shape[0], columns);
    check_launch();
  }
  API_END();
}

int DLGpuMatrixElementwiseAdd(const DLArrayHandle matA, const DLArrayHandle matB, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, add, in(matA), in(matB), out(output))
}

int DLGpuMatrixElementwiseAddByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, add_const, in(input), val, out(output))
}

int DLGpuMatrixElementwiseMultiply(const DLArrayHandle matA, const DLArrayHandle matB,
                                   DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, multiply, in(matA), in(matB), out(output))
}

int DLGpuMatrixMultiplyByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, multiply_const, in(input), val, out(output))
}

int DLGpuMatrixMultiply(const DLArrayHandle matA, bool transposeA, const DLArrayHandle matB, bool transposeB,
                        DLArrayHandle matC) {
  API_BEGIN();
  on_device_of(matC);
  if (size(matC)) matrix_product(matA, transposeA, matB, transposeB, matC);
  API_END();
}

int DLGpuRelu(const DLArrayHandle input, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, relu, in(input), out(output))
}

int DLGpuReluGradient(const DLArrayHandle input, const DLArrayHandle in_grad, DLArrayHandle output) {
  FOR_ELEMENTS_OF(output, relu_gradient, in(input), in(in_grad), out(output))
}

int DLGpuSoftmax(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  if (size(input)) {
    const index_t columns = input->shape[input->ndim - 1];
    const index_t rows = size(input) / columns;
    softmax_of_rows<<<blocks_for(rows, 1), THREADS>>>(in(input), out(output), rows, columns);
    check_launch();
  }
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
