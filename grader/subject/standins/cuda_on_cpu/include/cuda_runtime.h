// Stands in for CUDA's header of that name: kernels and the runtime API, on the CPU.
#pragma once
#pragma GCC system_header
#include "cuda_on_cpu/types.h"
#include "cuda_on_cpu/kernel.h"
#include "cuda_on_cpu/warp.h"
#include "cuda_on_cpu/atomics.h"
#include "cuda_on_cpu/math.h"
#include "cuda_on_cpu/host.h"
