"""What becomes of CUDA C++ before g++ sees it."""

import re
import shlex

import pytest

from grader.subject.standins.cuda_on_cpu import translate
from grader.subject.standins.cuda_on_cpu.nvcc import Unsupported, as_gxx
from grader.subject.standins.cuda_on_cpu.tokens import text_of, tokens_of

LAUNCH = 'sim::Launch("{}", {}).of([&](auto... sim_arguments) SIM_PLAIN {{ {}(sim_arguments...); }})'


def body(source):
    return translate(source, "a.cu").split('#line 1 "a.cu"\n')[1]


@pytest.mark.parametrize(
    ("source", "name", "config", "kernel", "arguments"),
    [
        ("k<<<1, 2>>>(a, b);", "k", "1, 2", "k", "(a, b);"),
        ("k <<< g, b, n * sizeof(T), s >>> ();", "k", " g, b, n * sizeof(T), s ", "k", " ();"),
        (
            "r<T, (4 > 3)><<<dim3(n >> 1, f(x)), b>>>(a);",
            "r",
            "dim3(n >> 1, f(x)), b",
            "r<T, (4 > 3)>",
            "(a);",
        ),
        ("r<A<B<int>>><<<1, 1>>>(a);", "r", "1, 1", "r<A<B<int>>>", "(a);"),
        ("ns::k<3><<<A<2>::size, 1>>>(a);", "k", "A<2>::size, 1", "ns::k<3>", "(a);"),
        ("(*which)<<<1, 1>>>(a);", "which", "1, 1", "(*which)", "(a);"),
        ("k<<<1, 1>>>(f(a, b), NULL, NULLS);", "k", "1, 1", "k", "(f(a, b), nullptr, NULLS);"),
        ("if (a < b) k<<<1, 1>>>(a);", "k", "1, 1", "k", "(a);"),
    ],
)
def test_a_launch_becomes_a_call_with_the_kernel_and_its_arguments(source, name, config, kernel, arguments):
    translated = body(source).removeprefix("if (a < b) ")
    assert translated == LAUNCH.format(name, config, kernel) + arguments


def test_a_launch_over_several_lines_moves_no_line():
    source = "k<T,\n  3><<<dim3(1,\n 2), // why\n 3>>>\n  (a,\n   b);\nlast"
    assert body(source).split("\n").index("last") == source.split("\n").index("last")


def test_a_launch_within_a_macro_is_translated_with_its_continued_lines():
    source = "#define RUN(k, ...) \\\n  k<<<1, \\\n  2>>>(__VA_ARGS__)\nRUN(a, b);"
    translated = body(source)
    assert 'sim::Launch("k", 1, \\\n  2)' in translated
    assert translated.count("\n") == source.count("\n")


@pytest.mark.parametrize(
    "source",
    [
        "// k<<<1, 2>>>(a);\n",
        "/* k<<<1, 2>>>(a);\n __shared__ int x; */",
        'print("k<<<1, 2>>>(a)", \'"\', "\\"");',
        'auto s = R"x(k<<<1, 2>>>(a))")x";',
        "cout << a << b; x <<= 3; y >>= 2; int n = 1'000'000;",
        "#include <vector>\n#if A < 3 // it's\n#endif\n",
    ],
)
def test_comments_texts_numbers_and_shifts_are_left_alone(source):
    assert body(source) == source


@pytest.mark.parametrize(
    "source", ["k<<<1, 2", "k<<<1, 2>>>;", "<<<1, 2>>>(a);", "k<<<1; 2>>>(a);", "__shared__ int"]
)
def test_what_cannot_be_understood_is_left_for_the_compiler(source):
    assert body(source).replace("__shared__", "").split() == source.replace("__shared__", "").split()


def in_function(declaration):
    return body("void f() {" + declaration + "}")[len("void f() {") : -1]


def test_shared_arrays_are_references_to_the_memory_of_the_block():
    translated = in_function("__shared__ float a[4][N + 1], *b;")
    assert translated.startswith(" typedef float sim_of_a[4][N + 1], *sim_of_b;")
    assert (
        'sim_of_a &a = *static_cast<sim_of_a *>(sim::shared(&sim_at_a, sizeof(sim_of_a), "a"));' in translated
    )
    assert translated.endswith(
        'sim_of_b &b = *static_cast<sim_of_b *>(sim::shared(&sim_at_b, sizeof(sim_of_b), "b"));'
    )


@pytest.mark.parametrize(
    "declaration",
    [
        "extern __shared__ float s[];",
        "extern volatile __shared__ float s[];",
        "extern __shared__ __align__(16) unsigned char s[];",
        "extern alignas(16) __shared__ T s[];",
    ],
)
def test_dynamic_shared_memory_is_a_pointer_with_the_type_of_an_element(declaration):
    translated = in_function(declaration)
    assert re.fullmatch(
        r"\s*typedef\s+(volatile\s+)?(float|unsigned char|T)\s+sim_of_s;"
        r" sim_of_s \*const s = static_cast<sim_of_s \*>\(sim::dynamic_shared\(\)\);",
        translated,
    )


def test_the_other_dimensions_of_dynamic_shared_memory_are_kept():
    assert "typedef float sim_of_s[16];" in " ".join(in_function("extern __shared__ float s[][16];").split())


@pytest.mark.parametrize(
    "scope", ["{}", "namespace {{ {} }}", "namespace a::b {{ {} }}", 'extern "C" {{ {} }}']
)
def test_shared_memory_outside_of_functions_is_looked_up_when_it_is_used(scope):
    assert "static const sim::DynamicOfFile<sim_of_s> s{};" in body(
        scope.format("extern __shared__ float s[];")
    )
    assert "static const sim::SharedOfFile<" in body(scope.format("__shared__ float s[3];"))


def test_a_parameter_in_shared_memory_is_a_parameter():
    assert body("__device__ void f(__shared__ float *x, int n);").split() == [
        "__device__",
        "void",
        "f(",
        "float",
        "*x,",
        "int",
        "n);",
    ]


def test_never_inlined_functions_keep_the_attribute_of_the_compiler():
    assert body("__device__ __noinline__ int f();") == "__device__ __attribute__((noinline)) int f();"
    assert body("__attribute__((__noinline__)) int f();") == "__attribute__((__noinline__)) int f();"


def test_the_name_may_have_any_characters():
    assert '#line 1 "C:\\\\a \\"b\\".cu"' in translate("", 'C:\\a "b".cu')


@pytest.mark.parametrize(
    "source", ["a\\\nb", "'", '"', "/* x", "#define \\\n", 'R"(', "x'y", "\u00e4 = 'ü';", ""]
)
def test_tokens_joined_are_the_source_however_broken_it_is(source):
    assert text_of(tokens_of(source)) == source


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("-arch=sm_90 -gencode arch=compute_70,code=sm_70 -O3 -c a.cu -o a.o", "-O3 -c a.cu -o a.o"),
        ("-Xptxas -v -lineinfo -rdc=true --use_fast_math -std c++14 a.cu", "-std=c++14 a.cu"),
        ("-Xcompiler -fPIC,-Wall --compiler-options '-O2 -g' a.cu", "-fPIC -Wall -O2 -g a.cu"),
        ("-Xcompiler=-fopenmp -Xlinker -rpath,/x a.cu", "-fopenmp -Wl,-rpath,/x a.cu"),
        (
            "--shared --output-file=a.so -I inc --library cublas -L/cuda a.cu",
            "-shared -o a.so -I inc -lcublas -L/cuda a.cu",
        ),
    ],
)
def test_options_of_nvcc_become_those_of_gxx(given, expected):
    assert as_gxx(shlex.split(given)) == expected.split()


def test_code_for_a_gpu_cannot_be_had():
    with pytest.raises(Unsupported, match="-ptx makes code for a GPU"):
        as_gxx(["-ptx", "a.cu"])
