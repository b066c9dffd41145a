/* Arrays on any device: to make, to free and to copy them. */
#include "c_runtime_api.h"

#include <algorithm>
#include <memory>
#include <stdexcept>
#include <string>

#include "cpu_device_api.h"
#include "cuda_device_api.h"
#include "runtime_base.h"

namespace dlsys {
namespace runtime {

namespace {

thread_local std::string last_error;

DeviceAPI &device_of(DLContext ctx) {
  static CPUDeviceAPI cpu;
  static CUDADeviceAPI cuda;
  switch (ctx.device_type) {
    case kCPU:
      return cpu;
    case kGPU:
      return cuda;
  }
  throw std::runtime_error("there is no such type of device");
}

size_t bytes_of(const DLArray &array) {
  size_t bytes = sizeof(float);
  for (int axis = 0; axis < array.ndim; ++axis) {
    bytes *= static_cast<size_t>(array.shape[axis]);
  }
  return bytes;
}

}  // namespace

int failed(const std::exception &error) {
  last_error = error.what();
  return 1;
}

}  // namespace runtime
}  // namespace dlsys

using namespace dlsys::runtime;

const char *DLLastError(void) {
  static thread_local std::string told;
  told.clear();
  told.swap(last_error);
  return told.c_str();
}

int DLArrayAlloc(const index_t *shape, int ndim, DLContext ctx, DLArrayHandle *out) {
  API_BEGIN();
  std::unique_ptr<index_t[]> own(new index_t[ndim]);
  std::copy(shape, shape + ndim, own.get());
  std::unique_ptr<DLArray> array(new DLArray{nullptr, ctx, ndim, own.get()});
  array->data = device_of(ctx).AllocDataSpace(ctx, bytes_of(*array));
  own.release();
  *out = array.release();
  API_END();
}

int DLArrayFree(DLArrayHandle array) {
  API_BEGIN();
  std::unique_ptr<DLArray> whole(array);
  std::unique_ptr<index_t[]> shape(array->shape);
  device_of(array->ctx).FreeDataSpace(array->ctx, array->data);
  API_END();
}

int DLArrayCopyFromTo(DLArrayHandle from, DLArrayHandle to, DLStreamHandle stream) {
  API_BEGIN();
  const size_t bytes = bytes_of(*from);
  if (bytes != bytes_of(*to)) {
    throw std::runtime_error("the arrays have different numbers of elements");
  }
  DLContext device = from->ctx.device_type == kGPU ? from->ctx : to->ctx;
  device_of(device).CopyDataFromTo(from->data, to->data, bytes, from->ctx, to->ctx, stream);
  API_END();
}
