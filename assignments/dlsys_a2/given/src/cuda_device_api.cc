/* Memory of NVIDIA's GPUs. */
#include "cuda_device_api.h"

#include <cuda_runtime.h>

#include <stdexcept>

namespace dlsys {
namespace runtime {

namespace {

void check(cudaError_t status) {
  if (status != cudaSuccess) {
    throw std::runtime_error(cudaGetErrorString(status));
  }
}

}  // namespace

void *CUDADeviceAPI::AllocDataSpace(DLContext ctx, size_t bytes) {
  void *data = nullptr;
  check(cudaSetDevice(ctx.device_id));
  check(cudaMalloc(&data, bytes));
  return data;
}

void CUDADeviceAPI::FreeDataSpace(DLContext ctx, void *data) {
  check(cudaSetDevice(ctx.device_id));
  check(cudaFree(data));
}

void CUDADeviceAPI::CopyDataFromTo(const void *from, void *to, size_t bytes, DLContext ctx_from,
                                   DLContext ctx_to, DLStreamHandle stream) {
  check(cudaSetDevice(ctx_from.device_type == kGPU ? ctx_from.device_id : ctx_to.device_id));
  // Where the bytes lie is told by their addresses.
  check(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, static_cast<cudaStream_t>(stream)));
  if (stream == nullptr) {
    check(cudaStreamSynchronize(nullptr));
  }
}

}  // namespace runtime
}  // namespace dlsys
