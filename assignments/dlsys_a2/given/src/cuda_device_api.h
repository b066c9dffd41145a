/* Memory of NVIDIA's GPUs. */
#ifndef DLSYS_CUDA_DEVICE_API_H_
#define DLSYS_CUDA_DEVICE_API_H_

#include "device_api.h"

namespace dlsys {
namespace runtime {

class CUDADeviceAPI : public DeviceAPI {
 public:
  void *AllocDataSpace(DLContext ctx, size_t bytes) final;
  void FreeDataSpace(DLContext ctx, void *data) final;
  void CopyDataFromTo(const void *from, void *to, size_t bytes, DLContext ctx_from, DLContext ctx_to,
                      DLStreamHandle stream) final;
};

}  // namespace runtime
}  // namespace dlsys

#endif
