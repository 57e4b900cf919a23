// A register of floats, as wide as the target has them, and what the layers of a network need of it. Written with the
// vectors of GCC and Clang, which every target of theirs can do. All targets give the same bits: steps are the same and
// in the same order, and a product is rounded before it is added. No header with inline code: see layer_kernels.cpp.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>

#if defined(__AVX512F__)
#include <immintrin.h>
#endif

#ifndef H3N_TARGET
#define H3N_TARGET baseline
#endif

namespace h3n::H3N_TARGET {

#if defined(__AVX512F__)
constexpr std::size_t LANES = 16;
#elif defined(__AVX2__)
constexpr std::size_t LANES = 8;
#else
constexpr std::size_t LANES = 4;
#endif
using Lanes = float __attribute__((vector_size(4 * LANES)));
using Bytes = std::uint8_t __attribute__((vector_size(LANES)));
using Whole = std::int32_t __attribute__((vector_size(4 * LANES)));

inline Lanes load(const float* from) {
    Lanes made;
    __builtin_memcpy(&made, from, sizeof made);
    return made;
}
inline void store(float* to, Lanes value) { __builtin_memcpy(to, &value, sizeof value); }
inline Lanes all(float value) { return value - Lanes{}; }
inline Lanes max(Lanes a, Lanes b) { return a > b ? a : b; }
inline Lanes min(Lanes a, Lanes b) { return a < b ? a : b; }

// The first `count` lanes from memory, `rest` in the others; and back.
#if defined(__AVX512F__)
inline __mmask16 first_lanes(std::size_t count) {
    return static_cast<__mmask16>(count >= LANES ? 0xffffU : (1U << count) - 1U);
}
inline Lanes load_some(const float* from, std::size_t count, float rest) {
    return _mm512_mask_loadu_ps(all(rest), first_lanes(count), from);
}
inline void store_some(float* to, Lanes value, std::size_t count) {
    _mm512_mask_storeu_ps(to, first_lanes(count), value);
}
#else
inline Lanes load_some(const float* from, std::size_t count, float rest) {
    if (count >= LANES) return load(from);
    float made[LANES];
    for (std::size_t l = 0; l < LANES; ++l) made[l] = l < count ? from[l] : rest;
    return load(made);
}
inline void store_some(float* to, Lanes value, std::size_t count) {
    if (count >= LANES) return store(to, value);
    float made[LANES];
    store(made, value);
    for (std::size_t l = 0; l < count; ++l) to[l] = made[l];
}
#endif

#if defined(__AVX512F__)
inline float largest(Lanes value) { return _mm512_reduce_max_ps(value); }
#else
inline float largest(Lanes value) {
    float most = value[0];
    for (std::size_t l = 1; l < LANES; ++l) most = most > value[l] ? most : value[l];
    return most;
}
#endif

// A square of LANES rows, turned over: its halves change places across the diagonal, then those of its quarters, and so on.
template <std::size_t HALF, std::size_t... L>
__attribute__((always_inline)) inline void exchange(Lanes& one, Lanes& other, std::index_sequence<L...>) {
    const Lanes upper = one;
    one = __builtin_shufflevector(upper, other, ((L & HALF) == 0 ? L : LANES + L - HALF)...);
    other = __builtin_shufflevector(upper, other, ((L & HALF) == 0 ? L + HALF : LANES + L)...);
}
template <std::size_t HALF = LANES / 2>
__attribute__((always_inline)) inline void turn_square(Lanes (&rows)[LANES]) {
#pragma GCC unroll 16
    for (std::size_t r = 0; r < LANES; ++r)
        if ((r & HALF) == 0) exchange<HALF>(rows[r], rows[r + HALF], std::make_index_sequence<LANES>());
    if constexpr (HALF > 1) turn_square<HALF / 2>(rows);
}

constexpr std::size_t STRANDS = 16;  // of a sum, on every target: all add up in the same order, and get the same bits

// The sum of the lanes: to each of the first half the one as far behind is added, and so on.
template <std::size_t HALF = LANES / 2, std::size_t... L>
inline float total_of(Lanes parts, std::index_sequence<L...> all) {
    parts += __builtin_shufflevector(parts, parts, (L + HALF) % LANES...);
    if constexpr (HALF > 1) return total_of<HALF / 2>(parts, all);
    else return parts[0];
}
inline float total_of(Lanes parts) { return total_of(parts, std::make_index_sequence<LANES>()); }

// The sum of term(k), which is LANES numbers from place k on, zero from `count` on.
template <class Term>
inline float sum(std::size_t count, const Term& term) {
    Lanes parts[STRANDS / LANES] = {};
    for (std::size_t k = 0; k < count; k += STRANDS)
        for (std::size_t p = 0; p < STRANDS / LANES && k + p * LANES < count; ++p) parts[p] += term(k + p * LANES);
    for (std::size_t half = STRANDS / LANES / 2; half > 0; half /= 2)
        for (std::size_t p = 0; p < half; ++p) parts[p] += parts[p + half];
    return total_of(parts[0]);
}

template <std::size_t COUNT>
inline Lanes polynomial(Lanes x, const float (&factors)[COUNT]) {  // the highest power first
    Lanes made = all(factors[0]);
    for (std::size_t k = 1; k < COUNT; ++k) made = made * x + factors[k];
    return made;
}

// e to the power of x, to the last bit or two; below -87 it is as good as 0.
inline Lanes exponential(Lanes x) {
    constexpr float TAYLOR[] = {1.0F / 720, 1.0F / 120, 1.0F / 24, 1.0F / 6, 0.5F, 1.0F, 1.0F};
    x = min(max(x, all(-87.0F)), all(88.0F));
    const Lanes magic = all(12582912.0F);  // adding it leaves no room for a fraction
    const Lanes times = (x * 1.44269504F + magic) - magic;
    const Lanes rest = (x - times * 0.693359375F) + times * 2.12194440e-4F;  // ln 2 in two parts
    const Whole exponent = (__builtin_convertvector(times, Whole) + 127) << 23;
    return polynomial(rest, TAYLOR) * reinterpret_cast<Lanes>(exponent);
}

// x times the share of a normal distribution that lies below x. The error function in it is a fraction of two
// polynomials, fitted to 2e-8 as far as it is not yet 1.
inline Lanes gelu(Lanes x) {
    constexpr float ABOVE[] = {2.0347290e-6F, 2.8748069e-4F, 3.8683759e-3F, 5.3060630e-2F, 1.9276516e-1F, 1.1283790F};
    constexpr float BELOW[] = {3.8070648e-5F, 1.1881273e-3F, 1.5172392e-2F, 1.1508508e-1F, 5.0416534e-1F, 1.0F};
    const Lanes z = min(max(x * 0.70710678F, all(-3.92F)), all(3.92F));
    const Lanes square = z * z;
    const Lanes half = x * 0.5F;
    const Lanes made = half + half * (z * polynomial(square, ABOVE) / polynomial(square, BELOW));
    return x < all(-5.54F) ? Lanes{} : made;  // what is left there is rounding, times x
}

}  // namespace h3n::H3N_TARGET
