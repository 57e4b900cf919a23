// Rows on their way into 8 bits: turned, then rounded. Included by layer_kernels.cpp alone, once per target.
#pragma once

#include "dot.hpp"
#include "lanes.hpp"
#include "layers.hpp"

namespace h3n::H3N_TARGET {

// Sums and differences of all pairs of runs that lie side by side; `to` is not `from`.
inline void turn_pairs(const float* from, std::size_t run, std::size_t count, float* to) {
    for (std::size_t at = 0; at < count; at += 2 * run) {
        const float *one = from + at, *other = one + run;
        float *sum = to + at, *difference = sum + run;
        const auto some = [=](std::size_t k) {
            const Lanes a = load(one + k), b = load(other + k);
            store(sum + k, a + b);
            store(difference + k, a - b);
        };
        std::size_t k = 0;
        for (; k + LANES <= run; k += LANES) some(k);
        if (k < run && run >= LANES) some(run - LANES);  // some a second time: what comes out is the same
        else
            for (; k < run; ++k) {
                sum[k] = one[k] + other[k];
                difference[k] = one[k] - other[k];
            }
    }
}

// The same twice, in place: for pairs of runs, then for pairs of these pairs.
inline void turn_fours(float* row, std::size_t run, std::size_t count) {
    for (std::size_t at = 0; at < count; at += 4 * run) {
        float *a = row + at, *b = a + run, *c = b + run, *d = c + run;
        for (std::size_t k = 0; k < run; k += LANES) {
            const std::size_t some = run - k;
            const Lanes first = load_some(a + k, some, 0.0F), second = load_some(b + k, some, 0.0F);
            const Lanes third = load_some(c + k, some, 0.0F), fourth = load_some(d + k, some, 0.0F);
            const Lanes sum = first + second, less = first - second;
            const Lanes other_sum = third + fourth, other_less = third - fourth;
            store_some(a + k, sum + other_sum, some);
            store_some(b + k, less + other_less, some);
            store_some(c + k, sum - other_sum, some);
            store_some(d + k, less - other_less, some);
        }
    }
}

// Turn the stretches of a row against each other: neighbours, then neighbouring pairs, and so on. Pairs and longer runs
// of stretches lie in one piece, so that vectors need not fit a stretch.
inline void turn(const float* x, std::size_t inputs, float* turned) {
    static_assert(TURN == 32, "five steps: one, then twice two");
    const std::size_t stretch = inputs / TURN;
    turn_pairs(x, stretch, inputs, turned);
    turn_fours(turned, 2 * stretch, inputs);
    turn_fours(turned, 8 * stretch, inputs);
}

// The row as it is to be rounded.
inline const float* ready(const float* x, const Int8& layer, float* room) {
    if (!layer.turned) return x;
    turn(x, layer.inputs, room);
    return room;
}

struct Range {
    float low, high;
};

inline Range range_of(const float* x, std::size_t count) {
    constexpr std::size_t CHAINS = 4;  // that need not wait for each other
    Lanes least[CHAINS], most[CHAINS];
    for (std::size_t c = 0; c < CHAINS; ++c) least[c] = most[c] = all(x[0]);
    const auto take = [&](std::size_t c, Lanes one) {
        least[c] = min(least[c], one);
        most[c] = max(most[c], one);
    };
    std::size_t k = 0;
    for (; k + CHAINS * LANES <= count; k += CHAINS * LANES)
        for (std::size_t c = 0; c < CHAINS; ++c) take(c, load(x + k + c * LANES));
    for (; k < count; k += LANES) take(0, load_some(x + k, count - k, x[0]));
    for (std::size_t c = 1; c < CHAINS; ++c) {
        least[0] = min(least[0], least[c]);
        most[0] = max(most[0], most[c]);
    }
    return {-largest(-least[0]), largest(most[0])};
}

inline Whole rounded(Lanes x, float low, float inverse) {
    return __builtin_convertvector((x - low) * inverse + 0.5F, Whole);
}

// The bytes of as many numbers as the widest store takes; they are between 0 and 255.
#if defined(__AVX2__) && !defined(__AVX512F__)
constexpr std::size_t STEP = 4 * LANES;
inline void store_bytes(const float* x, float low, float inverse, std::uint8_t* values) {
    const auto whole = [=](std::size_t k) { return reinterpret_cast<__m256i>(rounded(load(x + k), low, inverse)); };
    const __m256i first = _mm256_packs_epi32(whole(0), whole(LANES));
    const __m256i second = _mm256_packs_epi32(whole(2 * LANES), whole(3 * LANES));
    // Packing goes by halves of a register: the quads come out in this order.
    const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
    const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packus_epi16(first, second), order);
    _mm256_storeu_si256(reinterpret_cast<__m256i*>(values), bytes);
}
#else
constexpr std::size_t STEP = LANES;
inline void store_bytes(const float* x, float low, float inverse, std::uint8_t* values) {
    const Bytes bytes = __builtin_convertvector(rounded(load(x), low, inverse), Bytes) ^ OFFSET;
    __builtin_memcpy(values, &bytes, sizeof bytes);
}
#endif

// Round a row to 0 .. 255; what is left up to the end of the last quad is zero.
inline void round_row(const float* x, const Int8& layer, std::uint8_t* values, float& step, float& low) {
    const std::size_t count = layer.inputs;
    const Range range = range_of(x, count);
    low = range.low;
    const float width = range.high - range.low;
    step = width > 1e-30F ? width / 255.0F : 1.0F;
    const float inverse = 1.0F / step;
    std::size_t k = 0;
    for (; k + STEP <= count; k += STEP) store_bytes(x + k, low, inverse, values + k);
    for (; k < count; k += LANES) {
        const Whole whole = rounded(load_some(x + k, count - k, low), low, inverse);
        for (std::size_t l = 0; l < LANES && k + l < count; ++l)
            values[k + l] = static_cast<std::uint8_t>(whole[l]) ^ OFFSET;
    }
    for (k = count; k < layer.depth; ++k) values[k] = 0;
}

}  // namespace h3n::H3N_TARGET
