// A CUPTI and a driver that play records into the library for profiles, and a program that loads it.
#include <cupti.h>

#include <cstdio>
#include <cstring>
#include <vector>

extern "C" int InitializeInjection();

static CUpti_BuffersCallbackRequestFunc ask;
static CUpti_BuffersCallbackCompleteFunc complete;
static std::vector<CUpti_Activity *> records;
static size_t next_record;
static int enabled;

template <class Record>
static Record *record(CUpti_ActivityKind kind) {
  auto *made = new Record();
  memset(made, 0, sizeof *made);
  made->kind = kind;
  records.push_back(reinterpret_cast<CUpti_Activity *>(made));
  return made;
}
static void kernel(const char *name, uint64_t start, uint64_t end, uint32_t device) {
  auto *made = record<KERNEL>(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
  made->name = name, made->start = start, made->end = end, made->deviceId = device;
}
static void call(CUpti_ActivityKind kind, uint32_t number, uint64_t start, uint64_t end, uint32_t thread) {
  auto *made = record<CUpti_ActivityAPI>(kind);
  made->cbid = number, made->start = start, made->end = end, made->threadId = thread;
}

extern "C" {
CUptiResult cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc a, CUpti_BuffersCallbackCompleteFunc b) {
  ask = a, complete = b;
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityEnable(CUpti_ActivityKind) { return enabled++, CUPTI_SUCCESS; }
CUptiResult cuptiActivityDisable(CUpti_ActivityKind) { return enabled--, CUPTI_SUCCESS; }
CUptiResult cuptiActivityFlushAll(uint32_t) {
  uint8_t *buffer;
  size_t size, most;
  ask(&buffer, &size, &most);
  complete(nullptr, 0, buffer, size, 1);
  return CUPTI_SUCCESS;
}
CUptiResult cuptiActivityGetNextRecord(uint8_t *, size_t, CUpti_Activity **out) {
  if (next_record == records.size()) return CUPTI_ERROR_MAX_LIMIT_REACHED;
  *out = records[next_record++];
  return CUPTI_SUCCESS;
}
CUptiResult cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t number, const char **name) {
  *name = domain == CUPTI_CB_DOMAIN_DRIVER_API ? "cuLaunchKernelEx_ptsz"
          : number == 7                        ? "cudaLaunchKernel_v7000"
                                               : "cudaMalloc_v3020";
  return CUPTI_SUCCESS;
}
CUresult cuDeviceGetCount(int *count) { return *count = 1, CUDA_SUCCESS; }
CUresult cuDeviceGet(CUdevice *device, int number) { return *device = number, CUDA_SUCCESS; }
CUresult cuDeviceGetName(char *name, int size, CUdevice) { return snprintf(name, size, "a \"GPU\""), CUDA_SUCCESS; }
}

int main() {
  if (InitializeInjection() != 1 || enabled != 6) return 1;
  kernel("_Z3addPf", 100, 400, 0), kernel("_Z3addPf", 500, 1000, 0), kernel("scale", 100, 300, 1);
  auto *copy = record<MEMCPY>(CUPTI_ACTIVITY_KIND_MEMCPY);
  copy->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD, copy->end = 50, copy->bytes = 64;
  auto *set = record<MEMSET>(CUPTI_ACTIVITY_KIND_MEMSET);
  set->end = 10, set->bytes = 8;
  auto *peer = record<PEER>(CUPTI_ACTIVITY_KIND_MEMCPY2);
  peer->copyKind = CUPTI_ACTIVITY_MEMCPY_KIND_PTOP, peer->end = 5, peer->bytes = 4;
  call(CUPTI_ACTIVITY_KIND_DRIVER, 7, 20, 90, 1), call(CUPTI_ACTIVITY_KIND_RUNTIME, 7, 10, 100, 1);
  call(CUPTI_ACTIVITY_KIND_DRIVER, 7, 200, 260, 1), call(CUPTI_ACTIVITY_KIND_DRIVER, 7, 20, 40, 2);
  call(CUPTI_ACTIVITY_KIND_RUNTIME, 8, 300, 900, 1);
  return 0;
}
