// Products of bytes: some rows (0 .. 255) times the weights of a panel (-127 .. 127), exactly, with what the target
// has for it. All targets give the same sums.
#pragma once

#include "layers.hpp"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace h3n::H3N_TARGET {

constexpr std::size_t TILE = 6;  // rows multiplied at a time: their sums fill the registers

#if defined(__AVX512VNNI__)

template <std::size_t ROWS>
inline void dot_rows(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights, std::int32_t (*sums)[PANEL]) {
    __m512i total[ROWS][4];
    for (auto& row : total)
        for (auto& one : row) one = _mm512_setzero_si512();
    for (std::size_t k = 0; k < depth; k += QUAD, weights += QUAD * PANEL) {
        __m512i weight[4];
        for (std::size_t c = 0; c < 4; ++c) weight[c] = _mm512_loadu_si512(weights + 64 * c);
        for (std::size_t r = 0; r < ROWS; ++r) {
            std::int32_t quad;
            __builtin_memcpy(&quad, x + r * depth + k, sizeof quad);
            const __m512i value = _mm512_set1_epi32(quad);
            for (std::size_t c = 0; c < 4; ++c) total[r][c] = _mm512_dpbusd_epi32(total[r][c], value, weight[c]);
        }
    }
    for (std::size_t r = 0; r < ROWS; ++r)
        for (std::size_t c = 0; c < 4; ++c) _mm512_store_si512(sums[r] + 16 * c, total[r][c]);
}

#elif defined(__AVXVNNI__)

template <std::size_t ROWS>
inline void dot_rows(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights, std::int32_t (*sums)[PANEL]) {
    for (std::size_t c = 0; c < PANEL; c += 16) {
        __m256i total[ROWS][2];
        for (auto& row : total)
            for (auto& one : row) one = _mm256_setzero_si256();
        const std::int8_t* from = weights + QUAD * c;
        for (std::size_t k = 0; k < depth; k += QUAD, from += QUAD * PANEL) {
            const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from));
            const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(from + 32));
            for (std::size_t r = 0; r < ROWS; ++r) {
                std::int32_t quad;
                __builtin_memcpy(&quad, x + r * depth + k, sizeof quad);
                const __m256i value = _mm256_set1_epi32(quad);
                total[r][0] = _mm256_dpbusd_avx_epi32(total[r][0], value, first);
                total[r][1] = _mm256_dpbusd_avx_epi32(total[r][1], value, second);
            }
        }
        for (std::size_t r = 0; r < ROWS; ++r)
            for (std::size_t half = 0; half < 2; ++half)
                _mm256_store_si256(reinterpret_cast<__m256i*>(sums[r] + c + 8 * half), total[r][half]);
    }
}

#elif defined(__AVX2__)

// Without an instruction for quads: 16-bit products in pairs, which no sum can overflow.
template <std::size_t ROWS>
inline void dot_rows(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights, std::int32_t (*sums)[PANEL]) {
    for (std::size_t c = 0; c < PANEL; c += 8) {
        __m256i total[ROWS][2];
        for (auto& row : total)
            for (auto& one : row) one = _mm256_setzero_si256();
        const std::int8_t* from = weights + QUAD * c;
        for (std::size_t k = 0; k < depth; k += QUAD, from += QUAD * PANEL) {
            const __m256i first = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from)));
            const __m256i second = _mm256_cvtepi8_epi16(_mm_loadu_si128(reinterpret_cast<const __m128i*>(from + 16)));
            for (std::size_t r = 0; r < ROWS; ++r) {
                std::int32_t quad;
                __builtin_memcpy(&quad, x + r * depth + k, sizeof quad);
                const __m256i value = _mm256_cvtepu8_epi16(_mm_set1_epi32(quad));
                total[r][0] = _mm256_add_epi32(total[r][0], _mm256_madd_epi16(value, first));
                total[r][1] = _mm256_add_epi32(total[r][1], _mm256_madd_epi16(value, second));
            }
        }
        for (std::size_t r = 0; r < ROWS; ++r) {  // the two pairs of each quad, then lanes back in order
            const __m256i added = _mm256_hadd_epi32(total[r][0], total[r][1]);
            _mm256_store_si256(reinterpret_cast<__m256i*>(sums[r] + c), _mm256_permute4x64_epi64(added, 0xd8));
        }
    }
}

#else

template <std::size_t ROWS>
inline void dot_rows(const std::uint8_t* x, std::size_t depth, const std::int8_t* weights, std::int32_t (*sums)[PANEL]) {
    for (std::size_t r = 0; r < ROWS; ++r) {
        const std::int8_t* from = weights;
        for (std::size_t n = 0; n < PANEL; ++n) sums[r][n] = 0;
        for (std::size_t k = 0; k < depth; k += QUAD, from += QUAD * PANEL)
            for (std::size_t n = 0; n < PANEL; ++n)
                for (std::size_t i = 0; i < QUAD; ++i)
                    sums[r][n] += static_cast<std::int16_t>(x[r * depth + k + i]) *
                                  static_cast<std::int16_t>(from[QUAD * n + i]);
    }
}

#endif

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
