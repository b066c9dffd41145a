/* The operations on arrays that lie on a GPU. The last of them is done, as an example. */
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

/* ---- one thread for each element of the result ---- */

__device__ index_t my_element() { return index_t{blockIdx.x} * blockDim.x + threadIdx.x; }

unsigned grid_for(index_t n) { return static_cast<unsigned>((n + THREADS - 1) / THREADS); }

__global__ void set_kernel(float *x, float value, index_t n) {
  index_t i = my_element();
  if (i < n) x[i] = value;
}

__global__ void broadcast_kernel(const float *x, index_t n_x, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) y[i] = x[i % n_x];
}

__global__ void reduce_sum_kernel(const float *x, index_t rows, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) {
    float sum = 0;
    for (index_t row = 0; row < rows; ++row) sum += x[row * n + i];
    y[i] = sum;
  }
}

__global__ void add_kernel(const float *x, const float *y, float *z, index_t n) {
  index_t i = my_element();
  if (i < n) z[i] = x[i] + y[i];
}

__global__ void add_const_kernel(const float *x, float value, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) y[i] = x[i] + value;
}

__global__ void multiply_kernel(const float *x, const float *y, float *z, index_t n) {
  index_t i = my_element();
  if (i < n) z[i] = x[i] * y[i];
}

__global__ void multiply_const_kernel(const float *x, float value, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) y[i] = x[i] * value;
}

__global__ void relu_kernel(const float *x, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) y[i] = fmaxf(x[i], 0);
}

__global__ void relu_gradient_kernel(const float *x, const float *gradient, float *y, index_t n) {
  index_t i = my_element();
  if (i < n) y[i] = x[i] > 0 ? gradient[i] : 0;
}

/* ---- the product: a block computes a tile of C, and goes along a row of tiles of A and a column of B's ---- */

constexpr int TILE = 16;

__global__ void matmul_kernel(const float *a, bool trans_a, const float *b, bool trans_b, float *c, index_t m,
                              index_t n, index_t k) {
  __shared__ float tile_a[TILE][TILE];
  __shared__ float tile_b[TILE][TILE];
  index_t row = index_t{blockIdx.y} * TILE + threadIdx.y;
  index_t col = index_t{blockIdx.x} * TILE + threadIdx.x;
  float sum = 0;
  for (index_t start = 0; start < k; start += TILE) {
    index_t at_a = start + threadIdx.x;
    index_t at_b = start + threadIdx.y;
    tile_a[threadIdx.y][threadIdx.x] = 0;
    tile_b[threadIdx.y][threadIdx.x] = 0;
    if (row < m && at_a < k) {
      tile_a[threadIdx.y][threadIdx.x] = trans_a ? a[at_a * m + row] : a[row * k + at_a];
    }
    if (col < n && at_b < k) {
      tile_b[threadIdx.y][threadIdx.x] = trans_b ? b[col * k + at_b] : b[at_b * n + col];
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i) sum += tile_a[threadIdx.y][i] * tile_b[i][threadIdx.x];
    __syncthreads();
  }
  if (row < m && col < n) c[row * n + col] = sum;
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

__global__ void softmax_kernel(const float *in, float *out, index_t columns) {
  const float *from = in + blockIdx.x * columns;
  float *to = out + blockIdx.x * columns;
  const float largest = largest_of(from, columns);
  const float sum = sum_of_powers(from, columns, largest);
  for (index_t i = threadIdx.x; i < columns; i += THREADS) to[i] = expf(from[i] - largest) / sum;
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
  on_device_of(arr);
  index_t n = size(arr);
  set_kernel<<<grid_for(n), THREADS>>>(out(arr), value, n);
  check_launch();
  API_END();
}

int DLGpuBroadcastTo(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  broadcast_kernel<<<grid_for(n), THREADS>>>(in(input), size(input), out(output), n);
  check_launch();
  API_END();
}

int DLGpuReduceSumAxisZero(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  reduce_sum_kernel<<<grid_for(n), THREADS>>>(in(input), input->shape[0], out(output), n);
  check_launch();
  API_END();
}

int DLGpuMatrixElementwiseAdd(const DLArrayHandle matA, const DLArrayHandle matB, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  add_kernel<<<grid_for(n), THREADS>>>(in(matA), in(matB), out(output), n);
  check_launch();
  API_END();
}

int DLGpuMatrixElementwiseAddByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  add_const_kernel<<<grid_for(n), THREADS>>>(in(input), val, out(output), n);
  check_launch();
  API_END();
}

int DLGpuMatrixElementwiseMultiply(const DLArrayHandle matA, const DLArrayHandle matB,
                                   DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  multiply_kernel<<<grid_for(n), THREADS>>>(in(matA), in(matB), out(output), n);
  check_launch();
  API_END();
}

int DLGpuMatrixMultiplyByConst(const DLArrayHandle input, float val, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  multiply_const_kernel<<<grid_for(n), THREADS>>>(in(input), val, out(output), n);
  check_launch();
  API_END();
}

int DLGpuMatrixMultiply(const DLArrayHandle matA, bool transposeA, const DLArrayHandle matB, bool transposeB,
                        DLArrayHandle matC) {
  API_BEGIN();
  on_device_of(matC);
  index_t m = matC->shape[0], n = matC->shape[1], k = matA->shape[transposeA ? 0 : 1];
  dim3 threads(TILE, TILE);
  dim3 blocks(static_cast<unsigned>((n + TILE - 1) / TILE), static_cast<unsigned>((m + TILE - 1) / TILE));
  matmul_kernel<<<blocks, threads>>>(in(matA), transposeA, in(matB), transposeB, out(matC), m, n, k);
  check_launch();
  API_END();
}

int DLGpuRelu(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  relu_kernel<<<grid_for(n), THREADS>>>(in(input), out(output), n);
  check_launch();
  API_END();
}

int DLGpuReluGradient(const DLArrayHandle input, const DLArrayHandle in_grad, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t n = size(output);
  relu_gradient_kernel<<<grid_for(n), THREADS>>>(in(input), in(in_grad), out(output), n);
  check_launch();
  API_END();
}

int DLGpuSoftmax(const DLArrayHandle input, DLArrayHandle output) {
  API_BEGIN();
  on_device_of(output);
  index_t columns = input->shape[input->ndim - 1];
  softmax_kernel<<<static_cast<unsigned>(size(input) / columns), THREADS>>>(in(input), out(output), columns);
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
