/* Memory of the CPU. */
#include "cpu_device_api.h"

#include <cstdlib>
#include <cstring>
#include <stdexcept>

namespace dlsys {
namespace runtime {

namespace {
constexpr size_t kAlignment = 64;  // a cache line
}

void *CPUDeviceAPI::AllocDataSpace(DLContext, size_t bytes) {
  void *data = nullptr;
  if (posix_memalign(&data, kAlignment, bytes ? bytes : 1) != 0) {
    throw std::runtime_error("the CPU has no memory left");
  }
  return data;
}

void CPUDeviceAPI::FreeDataSpace(DLContext, void *data) { std::free(data); }

void CPUDeviceAPI::CopyDataFromTo(const void *from, void *to, size_t bytes, DLContext, DLContext,
                                  DLStreamHandle) {
  std::memmove(to, from, bytes);
}

}  // namespace runtime
}  // namespace dlsys
