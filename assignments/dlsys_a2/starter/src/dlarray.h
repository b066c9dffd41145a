/* The array that every function of the library works on. */
#ifndef DLSYS_DLARRAY_H_
#define DLSYS_DLARRAY_H_

#include <stdint.h>

typedef enum { kCPU = 1, kGPU = 2 } DLDeviceType;

typedef struct {
  int device_id; /* counts the devices of one type; 0 for the CPU */
  DLDeviceType device_type;
} DLContext;

/* A dense array of float32 in row-major order. It does not own its memory: DLArrayFree gives that back. */
typedef struct {
  void *data; /* where ctx says */
  DLContext ctx;
  int ndim;
  int64_t *shape; /* ndim numbers in the CPU's memory */
} DLArray;

#endif
