/* The C interface: arrays, and operations on arrays that lie on a GPU.
 *
 * Every function returns 0 if it succeeded. Operations write to an array that the caller allocated, and may
 * return before the GPU is done; a later copy waits for it. */
#ifndef DLSYS_C_RUNTIME_API_H_
#define DLSYS_C_RUNTIME_API_H_

#ifdef __cplusplus
#define DLSYS_EXTERN_C extern "C"
#else
#define DLSYS_EXTERN_C
#include <stdbool.h>
#endif

#include <stddef.h>
#include <stdint.h>

#include "dlarray.h"

typedef int64_t index_t;
typedef DLArray *DLArrayHandle;
typedef void *DLStreamHandle;

/* What went wrong last in this thread, as text; empty if nothing did since this was asked. */
DLSYS_EXTERN_C const char *DLLastError(void);

/* An array of ndim axes whose elements are not set. */
DLSYS_EXTERN_C int DLArrayAlloc(const index_t *shape, int ndim, DLContext ctx, DLArrayHandle *out);
DLSYS_EXTERN_C int DLArrayFree(DLArrayHandle array);

/* Copies all elements, between any two devices; both arrays have the same number of them. */
DLSYS_EXTERN_C int DLArrayCopyFromTo(DLArrayHandle from, DLArrayHandle to, DLStreamHandle stream);

/* Every element becomes value. */
DLSYS_EXTERN_C int DLGpuArraySet(DLArrayHandle arr, float value);

/* output[k, ...] = input[...] for every k; an input of shape (1,) fills any output. */
DLSYS_EXTERN_C int DLGpuBroadcastTo(const DLArrayHandle input, DLArrayHandle output);

/* output[...] = the sum of input[k, ...] over k; an input of one axis gives shape (1,). */
DLSYS_EXTERN_C int DLGpuReduceSumAxisZero(const DLArrayHandle input, DLArrayHandle output);

/* Element by element; the output may be one of the inputs. */
DLSYS_EXTERN_C int DLGpuMatrixElementwiseAdd(const DLArrayHandle matA, const DLArrayHandle matB,
                                             DLArrayHandle output);
DLSYS_EXTERN_C int DLGpuMatrixElementwiseAddByConst(const DLArrayHandle input, float val,
                                                    DLArrayHandle output);
DLSYS_EXTERN_C int DLGpuMatrixElementwiseMultiply(const DLArrayHandle matA, const DLArrayHandle matB,
                                                  DLArrayHandle output);
DLSYS_EXTERN_C int DLGpuMatrixMultiplyByConst(const DLArrayHandle input, float val, DLArrayHandle output);

/* matC = matA * matB, either of them transposed first where asked for; matC is neither of them. */
DLSYS_EXTERN_C int DLGpuMatrixMultiply(const DLArrayHandle matA, bool transposeA, const DLArrayHandle matB,
                                       bool transposeB, DLArrayHandle matC);

/* output = max(input, 0). */
DLSYS_EXTERN_C int DLGpuRelu(const DLArrayHandle input, DLArrayHandle output);

/* output = in_grad where input > 0, and 0 elsewhere. */
DLSYS_EXTERN_C int DLGpuReluGradient(const DLArrayHandle input, const DLArrayHandle in_grad,
                                     DLArrayHandle output);

/* The softmax of every row (along the last axis). */
DLSYS_EXTERN_C int DLGpuSoftmax(const DLArrayHandle input, DLArrayHandle output);

/* output[0] = the mean over the rows of -sum(labels * log(softmax(logits))). */
DLSYS_EXTERN_C int DLGpuSoftmaxCrossEntropy(const DLArrayHandle logits, const DLArrayHandle labels,
                                            DLArrayHandle output);

#endif
