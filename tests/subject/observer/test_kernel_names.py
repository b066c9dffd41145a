"""A kernel is called what its source calls it."""

import pytest

from grader.subject.observer.kernel_names import kernel_name


@pytest.mark.parametrize(
    ("symbol", "name"),
    [
        (
            "_ZN6cudapy13max_functions10max_kernelB2v1B38c8tJTIcFKzyF2ILShI4CrgQElQb6E5ArrayIxLi2E1CE",
            "max_kernel",
        ),
        ("_ZN8__main__10max_kernelB2v1E5ArrayIxLi2E", "max_kernel"),
        ("max_kernel[abi:v1][abi:cw51cXTLSUwv1sDUaKthqaNgoKmjgOR3W3_3d]", "max_kernel"),
        ("_Z10max_kernelPfS_", "max_kernel"),
        ("_ZN2at6native29vectorized_elementwise_kernelILi4EEEv", "vectorized_elementwise_kernel"),
        (
            "void at::native::vectorized_elementwise_kernel<4, float>(int, float)",
            "vectorized_elementwise_kernel",
        ),
        ("sm80_xmma_gemm_f32f32_f32f32_f32_nn_n", "sm80_xmma_gemm_f32f32_f32f32_f32_nn_n"),
        ("max_kernel", "max_kernel"),
        (
            "_ZN7cutlass7Kernel2I36cutlass_80_simt_sgemm_64x64_8x5_tn_alEEvNT_6ParamsE",
            "cutlass_80_simt_sgemm_64x64_8x5_tn_al"[:36],
        ),
        ("_ZN7cutlass13device_kernelIN4gemm6kernel4GemmIiEEEEvT_", "Gemm"),
        (
            "void cutlass::Kernel2<cutlass_80_simt_sgemm>(cutlass_80_simt_sgemm::Params)",
            "cutlass_80_simt_sgemm",
        ),
        ("void at::native::(anonymous namespace)::pool<float>(float)", "pool"),
        ("_Z6KernelIiEvT_", "Kernel"),
        ("_Z", "_Z"),
        ("_ZN99999short", "short"),
        ("", ""),
    ],
)
def test_the_name_is_taken_out_of_what_a_compiler_made_of_it(symbol, name):
    assert kernel_name(symbol) == name
