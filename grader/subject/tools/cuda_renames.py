"""Functions that CUDA 13 removed, and those that do exactly the same."""

from __future__ import annotations

RENAMED = {
    "cudaThreadExit": "cudaDeviceReset",
    "cudaThreadGetCacheConfig": "cudaDeviceGetCacheConfig",
    "cudaThreadGetLimit": "cudaDeviceGetLimit",
    "cudaThreadSetCacheConfig": "cudaDeviceSetCacheConfig",
    "cudaThreadSetLimit": "cudaDeviceSetLimit",
    "cudaThreadSynchronize": "cudaDeviceSynchronize",
}
