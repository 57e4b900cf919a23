// In place of the compiler's own header: the instructions of x86 in plain C++, so that a processor without AVX-512 and
// VNNI runs the code for them. SIMDe has most of them; the rest is here, from Intel's descriptions.
#pragma once

#define SIMDE_NO_NATIVE
#define SIMDE_ENABLE_NATIVE_ALIASES
#include <simde/x86/avx2.h>
#include <simde/x86/avx512.h>

typedef simde__mmask16 __mmask16;

// AVX-VNNI's encoding of the instruction that AVX-512 has for registers of this length.
#ifndef _mm256_dpbusd_avx_epi32
#define _mm256_dpbusd_avx_epi32 simde_mm256_dpbusd_epi32
#endif

// Lanes that the mask leaves out are not touched in memory, whatever lies there.
#ifndef _mm512_mask_loadu_ps
inline __m512 _mm512_mask_loadu_ps(__m512 rest, __mmask16 mask, const void* from) {
    for (int lane = 0; lane < 16; ++lane)
        if (mask >> lane & 1) rest[lane] = static_cast<const float*>(from)[lane];
    return rest;
}
#endif

#ifndef _mm512_mask_storeu_ps
inline void _mm512_mask_storeu_ps(void* to, __mmask16 mask, __m512 value) {
    for (int lane = 0; lane < 16; ++lane)
        if (mask >> lane & 1) static_cast<float*>(to)[lane] = value[lane];
}
#endif

#ifndef _mm512_reduce_max_ps
inline float _mm512_reduce_max_ps(__m512 value) {
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane)
            value[lane] = value[lane + half] > value[lane] ? value[lane + half] : value[lane];
    return value[0];
}
#endif

#ifndef _mm512_reduce_add_ps
inline float _mm512_reduce_add_ps(__m512 value) {
    for (int half = 8; half > 0; half /= 2)
        for (int lane = 0; lane < half; ++lane) value[lane] += value[lane + half];
    return value[0];
}
#endif

#ifndef _mm512_i32gather_ps
inline __m512 _mm512_i32gather_ps(__m512i index, const void* from, int scale) {
    std::int32_t places[16];
    __builtin_memcpy(places, &index, sizeof places);
    __m512 value;
    for (int lane = 0; lane < 16; ++lane)
        value[lane] = *reinterpret_cast<const float*>(static_cast<const char*>(from) + std::ptrdiff_t{places[lane]} * scale);
    return value;
}
#endif
