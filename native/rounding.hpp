// Rows on their way into 8 bits: turned, then rounded. Included by layer_kernels.cpp alone, once per target.
#pragma once

#include "dot.hpp"
#include "lanes.hpp"
#include "layers.hpp"

namespace h3n::H3N_TARGET {

struct Range {
    float low, high;
};

// The least and the largest of what it is given, in chains that need not wait for each other.
struct Extremes {
    static constexpr std::size_t CHAINS = 4;
    Lanes least[CHAINS], most[CHAINS];
    H3N_INLINE explicit Extremes(float any) {
        for (std::size_t c = 0; c < CHAINS; ++c) least[c] = most[c] = all(any);
    }
    H3N_INLINE void take(std::size_t c, Lanes one) {
        least[c] = min(least[c], one);
        most[c] = max(most[c], one);
    }
    H3N_INLINE Range range() const {
        const Lanes low = min(min(least[0], least[1]), min(least[2], least[3]));
        const Lanes high = max(max(most[0], most[1]), max(most[2], most[3]));
        return {-largest(-low), largest(high)};
    }
};

H3N_ALONE Range range_of(const float* x, std::size_t count) {
    Extremes found(x[0]);
    std::size_t k = 0;
    for (; k + Extremes::CHAINS * LANES <= count; k += Extremes::CHAINS * LANES)
        for (std::size_t c = 0; c < Extremes::CHAINS; ++c) found.take(c, load(x + k + c * LANES));
    for (; k < count; k += LANES) found.take(0, load_some(x + k, count - k, x[0]));
    return found.range();
}

// Sum and difference instead of the two.
H3N_INLINE void turn_pair(Lanes& one, Lanes& other) {
    const Lanes sum = one + other;
    other = one - other;
    one = sum;
}
H3N_INLINE void turn_four(Lanes& a, Lanes& b, Lanes& c, Lanes& d) {
    turn_pair(a, b);
    turn_pair(c, d);
    turn_pair(a, c);
    turn_pair(b, d);
}

// Three steps at once: pairs of runs that lie side by side, pairs of these pairs, and pairs of those; `to` is not `from`.
// RUN is the length of a run where that is known to the compiler, else 0.
template <std::size_t RUN>
H3N_ALONE void turn_eights(const float* from, std::size_t length, std::size_t count, float* to) {
    const std::size_t run = RUN > 0 ? RUN : length;
    for (std::size_t at = 0; at < count; at += 8 * run) {
        const auto some = [=](std::size_t k, std::size_t width) __attribute__((always_inline)) {
            const float* x = from + at + k;
            Lanes a = load_some(x, width, 0.0F), b = load_some(x + run, width, 0.0F);
            Lanes c = load_some(x + 2 * run, width, 0.0F), d = load_some(x + 3 * run, width, 0.0F);
            Lanes e = load_some(x + 4 * run, width, 0.0F), f = load_some(x + 5 * run, width, 0.0F);
            Lanes g = load_some(x + 6 * run, width, 0.0F), h = load_some(x + 7 * run, width, 0.0F);
            turn_four(a, b, c, d);
            turn_four(e, f, g, h);
            float* y = to + at + k;
            store_some(y, a + e, width);
            store_some(y + run, b + f, width);
            store_some(y + 2 * run, c + g, width);
            store_some(y + 3 * run, d + h, width);
            store_some(y + 4 * run, a - e, width);
            store_some(y + 5 * run, b - f, width);
            store_some(y + 6 * run, c - g, width);
            store_some(y + 7 * run, d - h, width);
        };
        std::size_t k = 0;
        for (; k + LANES <= run; k += LANES) some(k, LANES);
        if (k == run) continue;
        if (run >= LANES) some(run - LANES, LANES);  // some a second time: what comes out is the same
        else some(0, run);
    }
}

// The last two steps, in place: pairs of quarters of the row, and pairs of these pairs.
H3N_ALONE Range turn_quarters(float* row, std::size_t count) {
    const std::size_t run = count / 4;
    float *first = row, *second = row + run, *third = second + run, *fourth = third + run;
    const auto some = [=](std::size_t k, std::size_t width, const auto& see) {
        Lanes a = load_some(first + k, width, 0.0F), b = load_some(second + k, width, 0.0F);
        Lanes c = load_some(third + k, width, 0.0F), d = load_some(fourth + k, width, 0.0F);
        turn_four(a, b, c, d);
        store_some(first + k, a, width);
        store_some(second + k, b, width);
        store_some(third + k, c, width);
        store_some(fourth + k, d, width);
        see(a, b, c, d);
    };
    if (run % LANES != 0) {
        for (std::size_t k = 0; k < run; k += LANES) some(k, run - k, [](Lanes, Lanes, Lanes, Lanes) {});
        return range_of(row, count);
    }
    Extremes found((row[0] + row[run]) + (row[2 * run] + row[3 * run]));  // what becomes of the first
    for (std::size_t k = 0; k < run; k += LANES)
        some(k, LANES, [&](Lanes a, Lanes b, Lanes c, Lanes d) {
            found.take(0, a);
            found.take(1, b);
            found.take(2, c);
            found.take(3, d);
        });
    return found.range();
}

// Turn the stretches of a row against each other: neighbours, then neighbouring pairs, and so on.
inline Range turn(const float* x, std::size_t inputs, float* turned) {
    static_assert(TURN == 8 * 4, "three steps, then two");
    const std::size_t run = inputs / TURN;
    switch (run) {  // the usual lengths
        case 12: turn_eights<12>(x, run, inputs, turned); break;
        case 24: turn_eights<24>(x, run, inputs, turned); break;
        case 48: turn_eights<48>(x, run, inputs, turned); break;
        default: turn_eights<0>(x, run, inputs, turned);
    }
    return turn_quarters(turned, inputs);
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

// Round a row, turned if the layer asks for it, to 0 .. 255; what is left up to the end of the last quad is zero.
inline void round_row(const float* x, const Int8& layer, float* room, std::uint8_t* values, float& step, float& low) {
    const std::size_t count = layer.inputs;
    const Range range = layer.turned ? turn(x, count, room) : range_of(x, count);
    if (layer.turned) x = room;
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
