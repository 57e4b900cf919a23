// A vector of floats as wide as the target of this translation unit allows, and the handful of operations decoding
// needs. kernels.cpp is compiled once per target, each time with another H3N_TARGET and other compiler flags.
//
// `between(first, last, a, b)` takes lane l from a if first <= l < last and from b otherwise.
// `max(a, b)` may return either operand if one is NaN: the decoders refuse NaN before they start.
#pragma once

#include <cstddef>
#include <cstdint>

#if defined(__AVX512F__) || defined(__AVX2__) || defined(__SSE2__) || defined(_M_X64)
#include <immintrin.h>
#elif defined(__ARM_NEON) || defined(_M_ARM64)
#include <arm_neon.h>
#endif

#ifndef H3N_TARGET
#define H3N_TARGET baseline
#endif

namespace h3n::H3N_TARGET {

// Rows of every chart are padded to a whole number of the widest vectors, so that no loop has a tail.
constexpr std::size_t PADDING = 16;
constexpr std::size_t padded(std::size_t count) { return (count + PADDING - 1) / PADDING * PADDING; }
constexpr std::size_t aligned(std::size_t index, std::size_t width) { return index / width * width; }

#if defined(__AVX512F__)
using vec = __m512;
constexpr std::size_t WIDTH = 16;
constexpr std::size_t REGISTERS = 32;
inline vec load(const float* from) { return _mm512_load_ps(from); }
inline void store(float* to, vec value) { _mm512_store_ps(to, value); }
inline vec broadcast(float value) { return _mm512_set1_ps(value); }
inline vec add(vec a, vec b) { return _mm512_add_ps(a, b); }
inline vec max(vec a, vec b) { return _mm512_max_ps(a, b); }
inline vec multiply(vec a, vec b) { return _mm512_mul_ps(a, b); }
inline vec multiply_add(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
inline float reduce_add(vec a) { return _mm512_reduce_add_ps(a); }
inline float reduce_max(vec a) { return _mm512_reduce_max_ps(a); }
inline vec gather(const float* from, const std::int32_t* index) {
    return _mm512_i32gather_ps(_mm512_load_si512(index), from, sizeof(float));
}
inline vec between(std::ptrdiff_t first, std::ptrdiff_t last, vec inside, vec outside) {
    const auto ones = [](std::ptrdiff_t count) {
        return count <= 0 ? 0U : count >= 16 ? 0xffffU : (1U << count) - 1U;
    };
    return _mm512_mask_blend_ps(static_cast<__mmask16>(ones(last) & ~ones(first)), outside, inside);
}
#elif defined(__AVX2__)
using vec = __m256;
constexpr std::size_t WIDTH = 8;
constexpr std::size_t REGISTERS = 16;
inline vec load(const float* from) { return _mm256_load_ps(from); }
inline void store(float* to, vec value) { _mm256_store_ps(to, value); }
inline vec broadcast(float value) { return _mm256_set1_ps(value); }
inline vec add(vec a, vec b) { return _mm256_add_ps(a, b); }
inline vec max(vec a, vec b) { return _mm256_max_ps(a, b); }
inline vec multiply(vec a, vec b) { return _mm256_mul_ps(a, b); }
inline vec multiply_add(vec a, vec b, vec c) { return _mm256_add_ps(_mm256_mul_ps(a, b), c); }
inline float reduce_add(vec a) {
    __m128 half = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_add_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_add_ss(half, _mm_shuffle_ps(half, half, 1)));
}
inline float reduce_max(vec a) {
    __m128 half = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
    half = _mm_max_ps(half, _mm_movehl_ps(half, half));
    return _mm_cvtss_f32(_mm_max_ss(half, _mm_shuffle_ps(half, half, 1)));
}
inline vec gather(const float* from, const std::int32_t* index) {
    return _mm256_i32gather_ps(from, _mm256_load_si256(reinterpret_cast<const __m256i*>(index)), sizeof(float));
}
inline vec between(std::ptrdiff_t first, std::ptrdiff_t last, vec inside, vec outside) {
    const __m256 lane = _mm256_setr_ps(0, 1, 2, 3, 4, 5, 6, 7);
    const __m256 from = _mm256_cmp_ps(lane, _mm256_set1_ps(static_cast<float>(first)), _CMP_GE_OQ);
    const __m256 until = _mm256_cmp_ps(lane, _mm256_set1_ps(static_cast<float>(last)), _CMP_LT_OQ);
    return _mm256_blendv_ps(outside, inside, _mm256_and_ps(from, until));
}
#elif defined(__SSE2__) || defined(_M_X64)
using vec = __m128;
constexpr std::size_t WIDTH = 4;
constexpr std::size_t REGISTERS = 16;
inline vec load(const float* from) { return _mm_load_ps(from); }
inline void store(float* to, vec value) { _mm_store_ps(to, value); }
inline vec broadcast(float value) { return _mm_set1_ps(value); }
inline vec add(vec a, vec b) { return _mm_add_ps(a, b); }
inline vec max(vec a, vec b) { return _mm_max_ps(a, b); }
inline vec multiply(vec a, vec b) { return _mm_mul_ps(a, b); }
inline vec multiply_add(vec a, vec b, vec c) { return _mm_add_ps(_mm_mul_ps(a, b), c); }
inline float reduce_add(vec a) {
    a = _mm_add_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_add_ss(a, _mm_shuffle_ps(a, a, 1)));
}
inline float reduce_max(vec a) {
    a = _mm_max_ps(a, _mm_movehl_ps(a, a));
    return _mm_cvtss_f32(_mm_max_ss(a, _mm_shuffle_ps(a, a, 1)));
}
inline vec gather(const float* from, const std::int32_t* index) {
    return _mm_setr_ps(from[index[0]], from[index[1]], from[index[2]], from[index[3]]);
}
inline vec between(std::ptrdiff_t first, std::ptrdiff_t last, vec inside, vec outside) {
    const __m128 lane = _mm_setr_ps(0, 1, 2, 3);
    const __m128 chosen = _mm_and_ps(_mm_cmpge_ps(lane, _mm_set1_ps(static_cast<float>(first))),
                                     _mm_cmplt_ps(lane, _mm_set1_ps(static_cast<float>(last))));
    return _mm_or_ps(_mm_and_ps(chosen, inside), _mm_andnot_ps(chosen, outside));
}
#elif defined(__ARM_NEON) || defined(_M_ARM64)
using vec = float32x4_t;
constexpr std::size_t WIDTH = 4;
constexpr std::size_t REGISTERS = 32;
inline vec load(const float* from) { return vld1q_f32(from); }
inline void store(float* to, vec value) { vst1q_f32(to, value); }
inline vec broadcast(float value) { return vdupq_n_f32(value); }
inline vec add(vec a, vec b) { return vaddq_f32(a, b); }
inline vec max(vec a, vec b) { return vmaxq_f32(a, b); }
inline vec multiply(vec a, vec b) { return vmulq_f32(a, b); }
inline vec multiply_add(vec a, vec b, vec c) { return vfmaq_f32(c, a, b); }
inline float reduce_add(vec a) { return vaddvq_f32(a); }
inline float reduce_max(vec a) { return vmaxvq_f32(a); }
inline vec gather(const float* from, const std::int32_t* index) {
    const float values[4] = {from[index[0]], from[index[1]], from[index[2]], from[index[3]]};
    return vld1q_f32(values);
}
inline vec between(std::ptrdiff_t first, std::ptrdiff_t last, vec inside, vec outside) {
    const float lanes[4] = {0, 1, 2, 3};
    const float32x4_t lane = vld1q_f32(lanes);
    const uint32x4_t chosen = vandq_u32(vcgeq_f32(lane, vdupq_n_f32(static_cast<float>(first))),
                                        vcltq_f32(lane, vdupq_n_f32(static_cast<float>(last))));
    return vbslq_f32(chosen, inside, outside);
}
#else
using vec = float;
constexpr std::size_t WIDTH = 1;
constexpr std::size_t REGISTERS = 16;
inline vec load(const float* from) { return *from; }
inline void store(float* to, vec value) { *to = value; }
inline vec broadcast(float value) { return value; }
inline vec add(vec a, vec b) { return a + b; }
inline vec max(vec a, vec b) { return a > b ? a : b; }
inline vec multiply(vec a, vec b) { return a * b; }
inline vec multiply_add(vec a, vec b, vec c) { return a * b + c; }
inline float reduce_add(vec a) { return a; }
inline float reduce_max(vec a) { return a; }
inline vec gather(const float* from, const std::int32_t* index) { return from[*index]; }
inline vec between(std::ptrdiff_t first, std::ptrdiff_t last, vec inside, vec outside) {
    return first <= 0 && last > 0 ? inside : outside;
}
#endif

}  // namespace h3n::H3N_TARGET
