// Products of bytes: some rows (0 .. 255) times the weights of a panel (-127 .. 127), exactly, with what the target
// has for it. All targets give the same sums, once what they take off the inputs is made good.
#pragma once

#include "layers.hpp"

#if defined(__SSE2__)
#include <immintrin.h>
#elif defined(__ARM_FEATURE_DOTPROD)
#include <arm_neon.h>
#endif

#define H3N_INLINE __attribute__((always_inline)) inline
// Never inlined: what surrounds such a loop would take registers away from it.
#define H3N_ALONE __attribute__((noinline)) static

namespace h3n::H3N_TARGET {

H3N_INLINE std::int32_t four(const std::uint8_t* bytes) {
    std::int32_t made;
    __builtin_memcpy(&made, bytes, sizeof made);
    return made;
}

// What is taken off the inputs before they are multiplied, where the instruction wants a sign on both sides.
#if defined(__ARM_FEATURE_DOTPROD) && !defined(__ARM_FEATURE_MATMUL_INT8)
constexpr std::uint8_t OFFSET = 128;
#else
constexpr std::uint8_t OFFSET = 0;
#endif

// Each target has the weights of COLUMNS outputs for one quad of inputs, and the sums of one row for these outputs. TILE
// rows are multiplied at a time: as many as leave all sums in registers.
#if defined(__AVX512VNNI__)

constexpr std::size_t COLUMNS = 64, TILE = 6;
#define H3N_SOME_PANELS  // the last outputs of a layer may be fewer panels

template <std::size_t PANELS>
struct Weights {
    __m512i a, b, c, d;
    H3N_INLINE Weights(const std::int8_t* from, std::size_t depth) {
        a = b = c = d = _mm512_loadu_si512(from);
        if constexpr (PANELS > 1) b = _mm512_loadu_si512(from + PANEL * depth);
        if constexpr (PANELS > 2) c = _mm512_loadu_si512(from + 2 * PANEL * depth);
        if constexpr (PANELS > 3) d = _mm512_loadu_si512(from + 3 * PANEL * depth);
    }
};

template <std::size_t PANELS>
struct Sum {
    __m512i a = _mm512_setzero_si512(), b = a, c = a, d = a;
    H3N_INLINE void add(const std::uint8_t* quad, const Weights<PANELS>& weights) {
        const __m512i value = _mm512_set1_epi32(four(quad));
        a = _mm512_dpbusd_epi32(a, value, weights.a);
        if constexpr (PANELS > 1) b = _mm512_dpbusd_epi32(b, value, weights.b);
        if constexpr (PANELS > 2) c = _mm512_dpbusd_epi32(c, value, weights.c);
        if constexpr (PANELS > 3) d = _mm512_dpbusd_epi32(d, value, weights.d);
    }
    H3N_INLINE void save(std::int32_t* to) const {
        _mm512_storeu_si512(to, a);
        if constexpr (PANELS > 1) _mm512_storeu_si512(to + 16, b);
        if constexpr (PANELS > 2) _mm512_storeu_si512(to + 32, c);
        if constexpr (PANELS > 3) _mm512_storeu_si512(to + 48, d);
    }
};

#elif defined(__AVX2__)

constexpr std::size_t COLUMNS = 16;

template <std::size_t>
struct Weights {
    __m256i a, b;
    H3N_INLINE explicit Weights(const std::int8_t* from, std::size_t = 0)
        : a(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from))),
          b(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32))) {}
};

#if defined(__AVXVNNI__)
constexpr std::size_t TILE = 6;

H3N_INLINE __m256i add_quads(__m256i sum, __m256i values, __m256i weights) {
    return _mm256_dpbusd_avx_epi32(sum, values, weights);
}
#else
constexpr std::size_t TILE = 4;

// Without an instruction for quads: two products in 16 bits, which they fit into (see PAIR), then two such sums in 32.
H3N_INLINE __m256i add_pairs(__m256i sum, __m256i pairs) {
    return _mm256_add_epi32(sum, _mm256_madd_epi16(pairs, _mm256_set1_epi16(1)));
}
H3N_INLINE __m256i add_quads(__m256i sum, __m256i values, __m256i weights) {
    return add_pairs(sum, _mm256_maddubs_epi16(values, weights));
}
#define H3N_IN_ORDER  // two quads at a time where they fit each other (see Int8)
#endif

template <std::size_t PANELS>
struct Sum {
    __m256i a = _mm256_setzero_si256(), b = a;
    H3N_INLINE void add(const std::uint8_t* quad, const Weights<PANELS>& weights) {
        const __m256i values = _mm256_set1_epi32(four(quad));
        a = add_quads(a, values, weights.a);
        b = add_quads(b, values, weights.b);
    }
#if defined(H3N_IN_ORDER)
    H3N_INLINE void add(const std::uint8_t* quad, const std::uint8_t* other, const Weights<PANELS>& weights,
                        const Weights<PANELS>& others) {
        const __m256i one = _mm256_set1_epi32(four(quad)), two = _mm256_set1_epi32(four(other));
        a = add_pairs(a, _mm256_add_epi16(_mm256_maddubs_epi16(one, weights.a), _mm256_maddubs_epi16(two, others.a)));
        b = add_pairs(b, _mm256_add_epi16(_mm256_maddubs_epi16(one, weights.b), _mm256_maddubs_epi16(two, others.b)));
    }
#endif
    H3N_INLINE void save(std::int32_t* to) const {
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), a);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(to + 8), b);
    }
};

#elif defined(__SSE2__)

constexpr std::size_t COLUMNS = 4, TILE = 2;

template <std::size_t>
struct Weights {  // in 16 bits, as there are no products of fewer
    __m128i a, b;
    H3N_INLINE explicit Weights(const std::int8_t* from, std::size_t = 0) {
        const __m128i bytes = _mm_loadu_si128(reinterpret_cast<const __m128i*>(from));
        a = _mm_srai_epi16(_mm_unpacklo_epi8(bytes, bytes), 8);
        b = _mm_srai_epi16(_mm_unpackhi_epi8(bytes, bytes), 8);
    }
};

template <std::size_t PANELS>
struct Sum {
    __m128i a = _mm_setzero_si128(), b = a;
    H3N_INLINE void add(const std::uint8_t* quad, const Weights<PANELS>& weights) {
        const __m128i values = _mm_unpacklo_epi8(_mm_set1_epi32(four(quad)), _mm_setzero_si128());
        a = _mm_add_epi32(a, _mm_madd_epi16(values, weights.a));
        b = _mm_add_epi32(b, _mm_madd_epi16(values, weights.b));
    }
    H3N_INLINE void save(std::int32_t* to) const {  // each output has two sums side by side
        const __m128 one = _mm_castsi128_ps(a), other = _mm_castsi128_ps(b);
        const __m128i even = _mm_castps_si128(_mm_shuffle_ps(one, other, 0x88));
        const __m128i odd = _mm_castps_si128(_mm_shuffle_ps(one, other, 0xdd));
        _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_add_epi32(even, odd));
    }
};

#elif defined(__ARM_FEATURE_DOTPROD)

constexpr std::size_t COLUMNS = 16, TILE = 6;

template <std::size_t>
struct Weights {
    int8x16_t a, b, c, d;
    H3N_INLINE explicit Weights(const std::int8_t* from, std::size_t = 0)
        : a(vld1q_s8(from)), b(vld1q_s8(from + 16)), c(vld1q_s8(from + 32)), d(vld1q_s8(from + 48)) {}
};

#if defined(__ARM_FEATURE_MATMUL_INT8)
H3N_INLINE int32x4_t add_quads(int32x4_t sum, int8x16_t values, int8x16_t weights) {
    return vusdotq_s32(sum, vreinterpretq_u8_s8(values), weights);
}
#else
H3N_INLINE int32x4_t add_quads(int32x4_t sum, int8x16_t values, int8x16_t weights) {
    return vdotq_s32(sum, values, weights);
}
#endif

template <std::size_t PANELS>
struct Sum {
    int32x4_t a = vdupq_n_s32(0), b = a, c = a, d = a;
    H3N_INLINE void add(const std::uint8_t* quad, const Weights<PANELS>& weights) {
        const int8x16_t values = vreinterpretq_s8_s32(vdupq_n_s32(four(quad)));
        a = add_quads(a, values, weights.a);
        b = add_quads(b, values, weights.b);
        c = add_quads(c, values, weights.c);
        d = add_quads(d, values, weights.d);
    }
    H3N_INLINE void save(std::int32_t* to) const {
        vst1q_s32(to, a);
        vst1q_s32(to + 4, b);
        vst1q_s32(to + 8, c);
        vst1q_s32(to + 12, d);
    }
};

#else

constexpr std::size_t COLUMNS = 4, TILE = 4;

template <std::size_t>
struct Weights {
    const std::int8_t* at;
    H3N_INLINE explicit Weights(const std::int8_t* from, std::size_t = 0) : at(from) {}
};

template <std::size_t PANELS>
struct Sum {
    std::int32_t values[COLUMNS] = {};
    H3N_INLINE void add(const std::uint8_t* quad, const Weights<PANELS>& weights) {
        for (std::size_t n = 0; n < COLUMNS; ++n)
            for (std::size_t i = 0; i < QUAD; ++i) values[n] += quad[i] * weights.at[QUAD * n + i];
    }
    H3N_INLINE void save(std::int32_t* to) const { __builtin_memcpy(to, values, sizeof values); }
};

#endif

#if defined(H3N_IN_ORDER)
constexpr bool IN_ORDER = true;
#else
constexpr bool IN_ORDER = false;
#endif

// The sums of several rows. Members and no array, which the compiler would keep in memory.
template <std::size_t ROWS, std::size_t PANELS>
struct Sums {
    Sum<PANELS> first;
    Sums<ROWS - 1, PANELS> rest;
    H3N_INLINE void add(const std::uint8_t* x, std::size_t depth, const Weights<PANELS>& weights) {
        first.add(x, weights);
        rest.add(x + depth, depth, weights);
    }
#if defined(H3N_IN_ORDER)
    H3N_INLINE void add(const std::uint8_t* x, const std::uint8_t* y, std::size_t depth, const Weights<PANELS>& weights,
                        const Weights<PANELS>& others) {
        first.add(x, y, weights, others);
        rest.add(x + depth, y + depth, depth, weights, others);
    }
#endif
    H3N_INLINE void save(std::int32_t (*sums)[COLUMNS]) const {
        first.save(*sums);
        rest.save(sums + 1);
    }
};
template <std::size_t PANELS>
struct Sums<0, PANELS> {
    H3N_INLINE void add(const std::uint8_t*, std::size_t, const Weights<PANELS>&) {}
#if defined(H3N_IN_ORDER)
    H3N_INLINE void add(const std::uint8_t*, const std::uint8_t*, std::size_t, const Weights<PANELS>&,
                        const Weights<PANELS>&) {}
#endif
    H3N_INLINE void save(std::int32_t (*)[COLUMNS]) const {}
};

constexpr std::size_t ALL_PANELS = COLUMNS < PANEL ? 1 : COLUMNS / PANEL;

// The sums of ROWS rows for COLUMNS outputs of a layer from `column` on, or for some of their panels.
template <std::size_t ROWS, std::size_t PANELS = ALL_PANELS>
H3N_ALONE void dot_rows(const std::uint8_t* x, const Int8& layer, std::size_t column, std::int32_t (*sums)[COLUMNS]) {
    static_assert(COLUMNS % PANEL == 0 || PANEL % COLUMNS == 0, "outputs are some of one panel, or some panels");
    const std::size_t depth = layer.depth, panel = column / PANEL;
    const std::int8_t* weights = layer.weights + panel * PANEL * depth + QUAD * (column % PANEL);
    Sums<ROWS, PANELS> total;
#if defined(H3N_IN_ORDER)
    static_assert(COLUMNS == PANEL, "the order is that of a panel");
    const std::uint32_t* quad = layer.order + panel * (depth / QUAD);
    const std::uint32_t *end = quad + depth / QUAD, *single = quad + layer.fitting[panel];
    const auto at = [=](std::uint32_t place) { return Weights<PANELS>(weights + place * (QUAD * PANEL)); };
    for (; quad < single; quad += 2)
        total.add(x + QUAD * quad[0], x + QUAD * quad[1], depth, at(quad[0]), at(quad[1]));
    for (; quad < end; ++quad) total.add(x + QUAD * *quad, depth, at(*quad));
#else
    for (std::size_t k = 0; k < depth; k += QUAD, weights += QUAD * PANEL)
        total.add(x + k, depth, Weights<PANELS>(weights, depth));
#endif
    total.save(sums);
}

template <std::size_t ROWS = TILE>
inline void dot(const std::uint8_t* x, const Int8& layer, std::size_t rows, std::size_t column,
                std::int32_t (*sums)[COLUMNS]) {
    if constexpr (ROWS > 1)
        if (rows < ROWS) return dot<ROWS - 1>(x, layer, rows, column, sums);
#if defined(H3N_SOME_PANELS)
    switch (layer.outputs < column + COLUMNS ? (layer.outputs - column + PANEL - 1) / PANEL : ALL_PANELS) {
        case 1: return dot_rows<ROWS, 1>(x, layer, column, sums);
        case 2: return dot_rows<ROWS, 2>(x, layer, column, sums);
        case 3: return dot_rows<ROWS, 3>(x, layer, column, sums);
        default: break;
    }
#endif
    dot_rows<ROWS>(x, layer, column, sums);
}

}  // namespace h3n::H3N_TARGET
