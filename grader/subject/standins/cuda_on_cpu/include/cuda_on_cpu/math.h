// Functions that device code has and <cmath> has not, or has only in namespace std.
#pragma once
#pragma GCC system_header
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <type_traits>

template <class A, class B>
constexpr std::common_type_t<A, B> min(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(b) < T(a) ? T(b) : T(a);
}
template <class A, class B>
constexpr std::common_type_t<A, B> max(A a, B b) {
    using T = std::common_type_t<A, B>;
    return T(a) < T(b) ? T(b) : T(a);
}

#define SIM_1(T, name, expression) \
    inline T name(T x) { return expression; }
#define SIM_2(T, name, expression) \
    inline T name(T x, T y) { return expression; }
SIM_1(float, rsqrtf, 1.0f / std::sqrt(x))
SIM_1(double, rsqrt, 1.0 / std::sqrt(x))
SIM_1(float, rcbrtf, 1.0f / std::cbrt(x))
SIM_1(float, __expf, std::exp(x))
SIM_1(float, __exp10f, std::pow(10.0f, x))
SIM_1(float, __logf, std::log(x))
SIM_1(float, __log2f, std::log2(x))
SIM_1(float, __log10f, std::log10(x))
SIM_1(float, __sinf, std::sin(x))
SIM_1(float, __cosf, std::cos(x))
SIM_1(float, __tanf, std::tan(x))
SIM_1(float, __saturatef, x > 0 ? (x < 1 ? x : 1.0f) : 0.0f)
SIM_1(float, __frcp_rn, 1.0f / x)
SIM_1(float, __fsqrt_rn, std::sqrt(x))
SIM_1(float, __frsqrt_rn, 1.0f / std::sqrt(x))
SIM_1(float, normcdff, 0.5f * std::erfc(-x * 0.70710678f))
SIM_2(float, __powf, std::pow(x, y))
SIM_2(float, __fdividef, x / y)
SIM_2(float, fdividef, x / y)
SIM_2(float, __fadd_rn, x + y)
SIM_2(float, __fsub_rn, x - y)
SIM_2(float, __fmul_rn, x* y)
SIM_2(float, __fdiv_rn, x / y)
SIM_2(double, __dadd_rn, x + y)
SIM_2(double, __dmul_rn, x* y)
SIM_2(double, __ddiv_rn, x / y)
SIM_2(int, __mul24, x* y)
SIM_2(int, __mulhi, int(((long long)x * y) >> 32))
SIM_2(unsigned, __umulhi, unsigned(((unsigned long long)x * y) >> 32))
SIM_2(unsigned, __umul24, x* y)
#undef SIM_1
#undef SIM_2
inline float __fmaf_rn(float x, float y, float z) { return std::fma(x, y, z); }
inline double __fma_rn(double x, double y, double z) { return std::fma(x, y, z); }
inline void __sincosf(float x, float* sine, float* cosine) { *sine = std::sin(x), *cosine = std::cos(x); }

inline int __popc(unsigned x) { return __builtin_popcount(x); }
inline int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
inline int __clz(int x) { return x ? __builtin_clz(unsigned(x)) : 32; }
inline int __clzll(long long x) { return x ? __builtin_clzll((unsigned long long)x) : 64; }
inline int __ffs(int x) { return __builtin_ffs(x); }
inline int __ffsll(long long x) { return __builtin_ffsll(x); }
inline unsigned __brev(unsigned x) {
    unsigned reversed = 0;
    for (int bit = 0; bit < 32; bit++) reversed |= (x >> bit & 1u) << (31 - bit);
    return reversed;
}

namespace sim {
template <class To, class From>
To bits(From from) {
    static_assert(sizeof(To) == sizeof(From));
    To to;
    std::memcpy(&to, &from, sizeof(To));
    return to;
}
}  // namespace sim

inline float __int_as_float(int x) { return sim::bits<float>(x); }
inline float __uint_as_float(unsigned x) { return sim::bits<float>(x); }
inline int __float_as_int(float x) { return sim::bits<int>(x); }
inline unsigned __float_as_uint(float x) { return sim::bits<unsigned>(x); }
inline long long __double_as_longlong(double x) { return sim::bits<long long>(x); }
inline double __longlong_as_double(long long x) { return sim::bits<double>(x); }
inline int __float2int_rn(float x) { return int(std::nearbyint(x)); }
inline int __float2int_rz(float x) { return int(x); }
inline int __float2int_ru(float x) { return int(std::ceil(x)); }
inline int __float2int_rd(float x) { return int(std::floor(x)); }
inline float __int2float_rn(int x) { return float(x); }
template <class T>
T __ldg(const T* address) {
    return *address;
}
