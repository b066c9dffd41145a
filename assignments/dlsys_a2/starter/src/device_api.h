/* What the library asks of a type of device: memory, and copies. */
#ifndef DLSYS_DEVICE_API_H_
#define DLSYS_DEVICE_API_H_

#include <cstddef>

#include "c_runtime_api.h"

namespace dlsys {
namespace runtime {

/* All functions throw std::runtime_error if they fail. */
class DeviceAPI {
 public:
  virtual ~DeviceAPI() = default;

  virtual void *AllocDataSpace(DLContext ctx, size_t bytes) = 0;
  virtual void FreeDataSpace(DLContext ctx, void *data) = 0;

  /* One of the two is a device of this type. Returns when the bytes are there, unless there is a stream. */
  virtual void CopyDataFromTo(const void *from, void *to, size_t bytes, DLContext ctx_from, DLContext ctx_to,
                              DLStreamHandle stream) = 0;
};

}  // namespace runtime
}  // namespace dlsys

#endif
