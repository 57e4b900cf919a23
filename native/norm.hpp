// The norm of what enters an encoder, with the very steps of torch's on x86. All that follows is rounded to 8 bits, where
// one last bit may become one of 255 steps: so a parse is the same whoever computed the norm, in training or here.
// Included by layer_kernels.cpp alone, once per target.
#pragma once

#include "lanes.hpp"
#include "layers.hpp"

namespace h3n::H3N_TARGET {

constexpr std::size_t EIGHT = 8;  // lanes of torch's sums, whatever the target
using Eight = float __attribute__((vector_size(4 * EIGHT)));
using Exact = double __attribute__((vector_size(8 * EIGHT)));

inline Eight load_eight(const float* from) {
    Eight made;
    __builtin_memcpy(&made, from, sizeof made);
    return made;
}

// a * b + c, rounded once. A product of floats is exact in double, the sum nearly always.
inline Eight fused(Eight a, Eight b, Eight c) {
    const Exact made = __builtin_convertvector(a, Exact) * __builtin_convertvector(b, Exact) +
                       __builtin_convertvector(c, Exact);
    return __builtin_convertvector(made, Eight);
}
inline float fused(float a, float b, float c) {
    return static_cast<float>(static_cast<double>(a) * static_cast<double>(b) + static_cast<double>(c));
}

// Of some numbers: how many they are, their mean, and the sum of the squares of how far they are from it.
template <class Value>
struct Moments {
    std::size_t count = 0;
    Value mean{}, squares{};
};

inline void join(Moments<Eight>& one, const Moments<Eight>& other) {
    const std::size_t count = one.count + other.count;
    if (count == 0) return;
    const float share = static_cast<float>(other.count) / static_cast<float>(count);
    const Eight apart = other.mean - one.mean;
    one.mean += apart * share;
    one.squares = fused(apart, apart * (share * static_cast<float>(one.count)), one.squares + other.squares);
    one.count = count;
}

inline void join(Moments<float>& one, std::size_t others, float mean, float squares) {
    const std::size_t count = one.count + others;
    if (count == 0) return;
    const float share = static_cast<float>(others) / static_cast<float>(count), apart = mean - one.mean;
    one.mean = fused(share, apart, one.mean);
    one.squares += fused(apart * apart * share, static_cast<float>(one.count), squares);
    one.count = count;
}

// Of some rows, which do not wait for each other. In chunks, which are joined in pairs, and these in pairs, and so on.
template <std::size_t ROWS>
inline void moments_of(const float* const (&x)[ROWS], std::size_t width, Moments<float> (&made)[ROWS]) {
    constexpr std::size_t CHUNK = 16, DEEPEST = 32;
    const std::size_t vectors = width / EIGHT, chunks = (vectors + CHUNK - 1) / CHUNK;
    std::size_t depth = 0;
    while ((std::size_t{1} << depth) < chunks) ++depth;
    Moments<Eight> levels[ROWS][DEEPEST];
    for (std::size_t i = 0; i < chunks; ++i) {
        const std::size_t first = i * CHUNK, last = vectors < first + CHUNK ? vectors : first + CHUNK;
        Eight mean[ROWS] = {}, squares[ROWS] = {};
        for (std::size_t k = first; k < last; ++k) {
            const float share = 1.0F / static_cast<float>(k - first + 1);
            for (std::size_t r = 0; r < ROWS; ++r) {
                const Eight one = load_eight(x[r] + k * EIGHT), apart = one - mean[r];
                mean[r] = fused(apart, share - Eight{}, mean[r]);
                squares[r] = fused(apart, one - mean[r], squares[r]);
            }
        }
        for (std::size_t r = 0; r < ROWS; ++r) {
            join(levels[r][0], {last - first, mean[r], squares[r]});
            for (std::size_t level = 1, mask = i + 1; level < depth && mask % 2 == 0; ++level, mask /= 2) {
                join(levels[r][level], levels[r][level - 1]);
                levels[r][level - 1] = {};
            }
        }
    }
    for (std::size_t r = 0; r < ROWS; ++r) {
        for (std::size_t level = 1; level < depth; ++level) join(levels[r][0], levels[r][level]);
        Moments<float>& all = made[r];
        all = {};
        for (std::size_t k = vectors * EIGHT; k < width; ++k) {
            const float apart = x[r][k] - all.mean;
            all.mean += apart / static_cast<float>(++all.count);
            all.squares = fused(apart, x[r][k] - all.mean, all.squares);
        }
        for (std::size_t lane = 0; lane < EIGHT; ++lane)
            join(all, vectors, levels[r][0].mean[lane], levels[r][0].squares[lane]);
    }
}

template <std::size_t ROWS>
inline void norm_some(Table<float> x, std::size_t width, const Norm& norm) {
    const float* rows[ROWS];
    for (std::size_t r = 0; r < ROWS; ++r) rows[r] = x[r];
    Moments<float> found[ROWS];
    moments_of(rows, width, found);
    for (std::size_t r = 0; r < ROWS; ++r) {
        float* row = x[r];
        const float mean = found[r].mean;
        const float factor = 1.0F / __builtin_sqrtf(found[r].squares / static_cast<float>(width) + norm.epsilon);
        std::size_t k = 0;
        for (; k + EIGHT <= width; k += EIGHT) {
            const Eight made =
                fused((load_eight(row + k) - mean) * factor, load_eight(norm.weight + k), load_eight(norm.bias + k));
            __builtin_memcpy(row + k, &made, sizeof made);
        }
        for (; k < width; ++k) row[k] = fused((row[k] - mean) * factor, norm.weight[k], norm.bias[k]);
    }
}

inline void norm_rows(Table<float> x, std::size_t rows, std::size_t width, const Norm& norm) {
    constexpr std::size_t SOME = 4;
    std::size_t r = 0;
    for (; r + SOME <= rows; r += SOME) norm_some<SOME>({x[r], x.stride}, width, norm);
    for (; r < rows; ++r) norm_some<1>({x[r], x.stride}, width, norm);
}

}  // namespace h3n::H3N_TARGET
