// Products of bytes: some rows (0 .. 255) times the weights of a panel (-127 .. 127), exactly, with what the target
// has for it. All targets give the same sums.
#pragma once

#include "layers.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#define H3N_INLINE __attribute__((always_inline)) inline
// Never inlined: what surrounds such a loop would take registers away from it.
#define H3N_ALONE __attribute__((noinline)) static

namespace h3n::H3N_TARGET {

constexpr std::size_t TILE = 6;  // rows multiplied at a time: their sums fill the registers

// Each target has the weights of COLUMNS outputs for one quad of inputs, and the sums of one row for these outputs.
#if defined(__AVX512VNNI__)

constexpr std::size_t COLUMNS = 64;

struct Weights {
    __m512i a, b, c, d;
    H3N_INLINE explicit Weights(const std::int8_t* from)
        : a(_mm512_loadu_si512(from)),
          b(_mm512_loadu_si512(from + 64)),
          c(_mm512_loadu_si512(from + 128)),
          d(_mm512_loadu_si512(from + 192)) {}
};

struct Sum {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    H3N_INLINE void add(std::int32_t quad, const Weights& weights) {
        const __m512i value = _mm512_set1_epi32(quad);
        a = _mm512_dpbusd_epi32(a, value, weights.a);
        b = _mm512_dpbusd_epi32(b, value, weights.b);
        c = _mm512_dpbusd_epi32(c, value, weights.c);
        d = _mm512_dpbusd_epi32(d, value, weights.d);
    }
    H3N_INLINE void save(std::int32_t* to) const {
        _mm512_storeu_si512(to, a);
        _mm512_storeu_si512(to + 16, b);
        _mm512_storeu_si512(to + 32, c);
        _mm512_storeu_si512(to + 48, d);
    }
};

#elif defined(__AVXVNNI__)

constexpr std::size_t COLUMNS = 16;

struct Weights {
    __m256i a, b;
    H3N_INLINE explicit Weights(const std::int8_t* from)
        : a(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))),
          b(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32))) {}
};

struct Sum {
    __m256i a = _mm256_setzero_si256(), b = a;
    H3N_INLINE void add(std::int32_t quad, const Weights& weights) {
        const __m256i value = _mm256_set1_epi32(quad);
        a = _mm256_dpbusd_avx_epi32(a, value, weights.a);
        b = _mm256_dpbusd_avx_epi32(b, value, weights.b);
    }
    H3N_INLINE void save(std::int32_t* to) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8), b);
    }
};

#elif defined(__AVX2__)

constexpr std::size_t COLUMNS = 8;

// Without an instruction for quads: 16-bit products in pairs, which no sum can overflow.
struct Weights {
    __m256i a, b;
    H3N_INLINE explicit Weights(const std::int8_t* from)
        : a(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)))),
          b(_mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16)))) {}
};

struct Sum {
    __m256i a = _mm256_setzero_si256(), b = a;
    H3N_INLINE void add(std::int32_t quad, const Weights& weights) {
        const __m256i value = _mm256_cvtepu8_epi16(_mm_set1_epi32(quad));
        a = _mm256_add_epi32(a, _mm256_madd_epi16(value, weights.a));
        b = _mm256_add_epi32(b, _mm256_madd_epi16(value, weights.b));
    }
    H3N_INLINE void save(std::int32_t* to) const {  // the two pairs of each quad, then lanes back in order
        const __m256i added = _mm256_permute4x64_epi64(_mm256_hadd_epi32(a, b), 0xd8);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), added);
    }
};

#else

constexpr std::size_t COLUMNS = 4;

struct Weights {
    const std::int8_t* at;
    H3N_INLINE explicit Weights(const std::int8_t* from) : at(from) {}
};

struct Sum {
    std::int32_t values[COLUMNS] = {};
    H3N_INLINE void add(std::int32_t quad, const Weights& weights) {
        std::uint8_t inputs[QUAD];
        __builtin_memcpy(inputs, &quad, sizeof quad);
        for (std::size_t n = 0; n < COLUMNS; ++n)
            for (std::size_t i = 0; i < QUAD; ++i) values[n] += inputs[i] * weights.at[QUAD * n + i];
    }
    H3N_INLINE void save(std::int32_t* to) const { __builtin_memcpy(to, values, sizeof values); }
};

#endif

// The sums of several rows. Members and no array, which the compiler would keep in memory.
template <std::size_t ROWS>
struct Sums {
    Sum first;
    Sums<ROWS - 1> rest;
    H3N_INLINE void add(const std::uint8_t* x, std::size_t depth, const Weights& weights) {
        std::int32_t quad;
        __builtin_memcpy(&quad, x, sizeof quad);
        first.add(quad, weights);
        rest.add(x + depth, depth, weights);
    }
    H3N_INLINE void save(std::int32_t (*sums)[PANEL], std::size_t column) const {
        first.save(*sums + column);
        rest.save(sums + 1, column);
    }
};
template <>
struct Sums<0> {
    H3N_INLINE void add(const std::uint8_t*, std::size_t, const Weights&) {}
    H3N_INLINE void save(std::int32_t (*)[PANEL], std::size_t) const {}
};

template <std::size_t ROWS>
H3N_ALONE void dot_rows(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights,
                        std::int32_t (*sums)[PANEL]) {
    for (std::size_t column = 0; column < PANEL; column += COLUMNS) {
        Sums<ROWS> total;
        const std::int8_t* from = weights + QUAD * column;
        for (std::size_t k = 0; k < depth; k += QUAD, from += QUAD * PANEL) total.add(x + k, depth, Weights(from));
        total.save(sums, column);
    }
}

inline void dot(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights, std::size_t rows,
                std::int32_t (*sums)[PANEL]) {
    switch (rows) {
        case 1: return dot_rows<1>(x, depth, weights, sums);
        case 2: return dot_rows<2>(x, depth, weights, sums);
        case 3: return dot_rows<3>(x, depth, weights, sums);
        case 4: return dot_rows<4>(x, depth, weights, sums);
        case 5: return dot_rows<5>(x, depth, weights, sums);
        default: return dot_rows<TILE>(x, depth, weights, sums);
    }
}

}  // namespace h3n::H3N_TARGET
