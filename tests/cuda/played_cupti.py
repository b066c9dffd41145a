"""A `cupti` package that plays records: two devices, nested calls, two threads."""

FILES = {
    "cupti/__init__.py": "",
    "cupti/cupti.py": """
from enum import IntEnum
from types import SimpleNamespace

ActivityKind = IntEnum("ActivityKind", "MEMCPY MEMSET DRIVER RUNTIME CONCURRENT_KERNEL MEMCPY2", start=1)
ActivityMemcpyKind = IntEnum("ActivityMemcpyKind", "HTOD DTOH", start=1)
CallbackDomain = IntEnum("CallbackDomain", "DRIVER_API RUNTIME_API", start=1)
enabled, done = set(), []


def activity_register_callbacks(requested, completed):
    assert requested()[0] > 0
    done.append(completed)


activity_enable, activity_disable = enabled.add, enabled.discard


def get_callback_name(domain, number):
    names = {(1, 7): "cuLaunchKernelEx_ptsz", (2, 7): "cudaLaunchKernel_v7000", (2, 8): "cudaMalloc_v3020"}
    return names[domain, number]


def activity_flush_all(forced):
    assert forced == 1 and len(enabled) == 6
    kinds = ActivityKind

    def kernel(name, start, end, device=0):
        kind = kinds.CONCURRENT_KERNEL
        return SimpleNamespace(kind=kind, name=name, start=start, end=end, device_id=device)

    def call(kind, number, start, end, thread=1):
        return SimpleNamespace(kind=kind, cbid=number, start=start, end=end, thread_id=thread)

    done[0]([
        kernel("_ZN2at6native3addIfEEvT_", 100, 400), kernel("_ZN2at6native3addIfEEvT_", 500, 1000),
        kernel("scale", 100, 300, device=1),
        SimpleNamespace(kind=kinds.MEMCPY, copy_kind=1, start=0, end=50, device_id=0, bytes=64),
        SimpleNamespace(kind=kinds.MEMSET, start=0, end=10, device_id=0, bytes=8),
        call(kinds.DRIVER, 7, 20, 90), call(kinds.RUNTIME, 7, 10, 100),
        call(kinds.DRIVER, 7, 200, 260), call(kinds.DRIVER, 7, 20, 40, thread=2),
        call(kinds.RUNTIME, 8, 300, 900),
    ])
""",
}
