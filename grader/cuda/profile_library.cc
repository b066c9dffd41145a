// Loaded by the driver into a program (CUDA_INJECTION64_PATH): adds up CUPTI's activity records by name, and
// writes the sums as JSON when the process ends. `grader/cuda/profile.py` reads them.

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <mutex>
#include <string>
#include <tuple>
#include <vector>

// Last: macros of CUDA's headers are words that the standard library's use.
#include <cupti.h>

// KERNEL, MEMCPY, PEER and MEMSET are the newest records of the header, whose layout this CUPTI writes; the
// compiler is told their names.

namespace {

struct Sum {
  uint64_t count = 0, nanoseconds = 0, bytes = 0;
};
struct Call {
  uint64_t begin, end;
  uint32_t driver, number;
};
using Named = std::map<std::pair<uint32_t, std::string>, Sum>;

std::mutex lock;
Named kernels, copies;
std::map<uint32_t, std::vector<Call>> calls;  // by thread
const CUpti_ActivityKind KINDS[] = {CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL, CUPTI_ACTIVITY_KIND_MEMCPY,
                                    CUPTI_ACTIVITY_KIND_MEMCPY2, CUPTI_ACTIVITY_KIND_MEMSET,
                                    CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER};

void add(Named &sums, uint32_t device, const std::string &name, uint64_t nanoseconds, uint64_t bytes) {
  Sum &sum = sums[{device, name}];
  sum.count++, sum.nanoseconds += nanoseconds, sum.bytes += bytes;
}

const char *direction(uint8_t kind) {
  static const char *names[] = {"UNKNOWN", "HTOD", "DTOH", "HTOA", "ATOH", "ATOA",
                                "ATOD",    "DTOA", "DTOD", "HTOH", "PTOP"};
  return kind < sizeof names / sizeof *names ? names[kind] : "UNKNOWN";
}

void CUPTIAPI requested(uint8_t **buffer, size_t *size, size_t *most) {
  *size = 8 << 20, *most = 0;
  *buffer = static_cast<uint8_t *>(aligned_alloc(8, *size));
}

void CUPTIAPI completed(CUcontext, uint32_t, uint8_t *buffer, size_t, size_t valid) {
  std::lock_guard<std::mutex> held(lock);
  CUpti_Activity *record = nullptr;
  while (cuptiActivityGetNextRecord(buffer, valid, &record) == CUPTI_SUCCESS) {
    if (record->kind == CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) {
      auto *kernel = reinterpret_cast<KERNEL *>(record);
      add(kernels, kernel->deviceId, kernel->name ? kernel->name : "?", kernel->end - kernel->start, 0);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY) {
      auto *copy = reinterpret_cast<MEMCPY *>(record);
      add(copies, copy->deviceId, std::string("memcpy ") + direction(copy->copyKind), copy->end - copy->start,
          copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMCPY2) {
      auto *copy = reinterpret_cast<PEER *>(record);
      add(copies, copy->deviceId, std::string("memcpy ") + direction(copy->copyKind), copy->end - copy->start,
          copy->bytes);
    } else if (record->kind == CUPTI_ACTIVITY_KIND_MEMSET) {
      auto *set = reinterpret_cast<MEMSET *>(record);
      add(copies, set->deviceId, "memset", set->end - set->start, set->bytes);
    } else {
      auto *call = reinterpret_cast<CUpti_ActivityAPI *>(record);
      uint32_t driver = record->kind == CUPTI_ACTIVITY_KIND_DRIVER;
      calls[call->threadId].push_back({call->start, call->end, driver, call->cbid});
    }
  }
  free(buffer);
}

std::string escaped(const std::string &text) {
  std::string plain;
  for (unsigned char letter : text) {
    char code[8];
    snprintf(code, sizeof code, "\\u%04x", letter);
    plain += letter < 32 || letter > 126 || letter == '"' || letter == '\\' ? code : std::string(1, letter);
  }
  return plain;
}

std::string call_name(uint32_t driver, uint32_t number) {
  const char *name = nullptr;
  auto domain = driver ? CUPTI_CB_DOMAIN_DRIVER_API : CUPTI_CB_DOMAIN_RUNTIME_API;
  if (cuptiGetCallbackName(domain, number, &name) != CUPTI_SUCCESS || !name) return "?";
  std::string plain = name;
  for (size_t at; (at = plain.rfind('_')) != std::string::npos;) {
    std::string tail = plain.substr(at + 1);
    bool version = tail.size() > 1 && tail[0] == 'v' &&
                   tail.find_first_not_of("0123456789", 1) == std::string::npos;
    if (!version && tail != "ptsz" && tail != "ptds") break;
    plain.resize(at);
  }
  return plain;
}

void write_rows(FILE *file, const char *key, const Named &sums, bool devices) {
  fprintf(file, "\"%s\": [", key);
  const char *comma = "";
  for (auto &[of, sum] : sums) {
    fprintf(file, "%s{\"name\": \"%s\", \"count\": %llu, \"seconds\": %.9f", comma, escaped(of.second).c_str(),
            (unsigned long long)sum.count, sum.nanoseconds * 1e-9);
    if (devices) fprintf(file, ", \"device\": %u, \"bytes\": %llu", of.first, (unsigned long long)sum.bytes);
    fprintf(file, "}"), comma = ", ";
  }
  fprintf(file, "]");
}

// Calls that another call of the same thread makes are part of it.
Named outermost() {
  std::map<std::pair<uint32_t, uint32_t>, Sum> by_number;
  for (auto &[thread, made] : calls) {
    std::sort(made.begin(), made.end(), [](const Call &a, const Call &b) {
      return std::make_tuple(a.begin, ~a.end) < std::make_tuple(b.begin, ~b.end);
    });
    uint64_t ended = 0;
    for (auto &call : made)
      if (call.begin >= ended) {
        ended = call.end;
        Sum &sum = by_number[{call.driver, call.number}];
        sum.count++, sum.nanoseconds += call.end - call.begin;
      }
  }
  Named named;
  for (auto &[of, sum] : by_number) {
    Sum &all = named[{0, call_name(of.first, of.second)}];
    all.count += sum.count, all.nanoseconds += sum.nanoseconds;
  }
  return named;
}

// Looked up where the program has loaded it: the driver resolves all symbols of this library when it loads it, and
// without a word does not load it where one is missing.
template <typename Function>
Function in_driver(const char *name) {
  static void *driver = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD);
  return reinterpret_cast<Function>(dlsym(driver ? driver : RTLD_DEFAULT, name));
}

void write_devices(FILE *file) {
  auto count_of = in_driver<decltype(&cuDeviceGetCount)>("cuDeviceGetCount");
  auto get = in_driver<decltype(&cuDeviceGet)>("cuDeviceGet");
  auto name_of = in_driver<decltype(&cuDeviceGetName)>("cuDeviceGetName");
  fprintf(file, "\"devices\": {");
  int count = 0;
  if (count_of && get && name_of) count_of(&count);
  for (int number = 0; number < count; number++) {
    CUdevice device;
    char name[256] = "";
    if (get(&device, number) == CUDA_SUCCESS) name_of(name, sizeof name, device);
    fprintf(file, "%s\"%d\": \"%s\"", number ? ", " : "", number, escaped(name).c_str());
  }
  fprintf(file, "}");
}

void finish() {
  cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
  for (auto kind : KINDS) cuptiActivityDisable(kind);
  const char *out = getenv("GRADER_PROFILE_OUT");
  if (!out) return;
  std::string path = std::string(out) + "." + std::to_string(getpid());
  FILE *file = fopen((path + ".part").c_str(), "w");
  if (!file) return;
  std::lock_guard<std::mutex> held(lock);
  fprintf(file, "{");
  write_devices(file), fprintf(file, ", ");
  write_rows(file, "kernels", kernels, true), fprintf(file, ", ");
  write_rows(file, "copies", copies, true), fprintf(file, ", ");
  write_rows(file, "api", outermost(), false);
  fprintf(file, "}\n");
  fclose(file);
  rename((path + ".part").c_str(), path.c_str());
}

}  // namespace

extern "C" int InitializeInjection() {
  if (cuptiActivityRegisterCallbacks(requested, completed) != CUPTI_SUCCESS) return 0;
  for (auto kind : KINDS) cuptiActivityEnable(kind);
  atexit(finish);
  return 1;
}
