/* The calls of the CUDA driver that the probe makes, with the types of cuda.h, on memory of the host.

   The environment names a call that is to FAIL, to HANG, or to do its work WRONG. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

typedef unsigned long long CUdeviceptr;

static int is(const char *how, const char *name)
{
    const char *named = getenv(how);
    return named && strcmp(named, name) == 0;
}

static int called(const char *name)
{
    while (is("HANG", name)) pause();
    return is("FAIL", name) ? 700 : 0;
}

#define CALL do { int status = called(__func__); if (status) return status; } while (0)

int cuGetErrorName(int error, const char **text)
{
    *text = error == 700 ? "CUDA_ERROR_ILLEGAL_ADDRESS" : NULL;
    return 0;
}

int cuInit(unsigned flags) { CALL; return flags; }
int cuDeviceGet(int *device, int ordinal) { CALL; *device = ordinal + 40; return 0; }
int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    CALL;
    *value = attribute == 75 ? 9 : 0;
    return device == 40 && (attribute == 75 || attribute == 76) ? 0 : 1;
}
int cuDevicePrimaryCtxRetain(void **context, int device) { CALL; *context = &called; return device != 40; }
int cuDevicePrimaryCtxRelease_v2(int device) { CALL; return device != 40; }
int cuCtxSetCurrent(void *context) { CALL; return context != (void *)&called; }
int cuCtxSynchronize(void) { CALL; return 0; }
int cuMemAlloc_v2(CUdeviceptr *at, size_t bytes) { CALL; *at = (CUdeviceptr)malloc(bytes); return 0; }
int cuMemFree_v2(CUdeviceptr at) { CALL; free((void *)at); return 0; }
int cuMemsetD32_v2(CUdeviceptr at, unsigned value, size_t count)
{
    CALL;
    for (size_t i = is("WRONG", __func__); i < count; i++) ((uint32_t *)at)[i] = value;
    return 0;
}
int cuMemcpyDtoH_v2(void *to, CUdeviceptr from, size_t bytes) { CALL; memcpy(to, (void *)from, bytes); return 0; }
int cuModuleLoadData(void **module, const void *image)
{
    CALL;
    *module = &is;
    return !strstr(image, ".target sm_75\n") || !strstr(image, "\n    mov.u32 %i, %tid.x;");
}
int cuModuleGetFunction(void **function, void *module, const char *name)
{
    CALL;
    *function = &cuModuleGetFunction;
    return module != (void *)&is || strcmp(name, "add_index");
}
int cuLaunchKernel(void *function, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz,
                   unsigned shared, void *stream, void **parameters, void **extra)
{
    CALL;
    if (function != (void *)&cuModuleGetFunction || shared || stream || extra) return 1;
    uint32_t *numbers = (uint32_t *)*(CUdeviceptr *)parameters[0];
    unsigned count = gx * gy * gz * bx * by * bz - is("WRONG", __func__);
    for (unsigned i = 0; i < count; i++) numbers[i] += i;
    return 0;
}
