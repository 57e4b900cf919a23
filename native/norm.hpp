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

// In chunks, which are joined in pairs, and these in pairs, and so on.
inline Moments<float> moments_of(const float* x, std::size_t width) {
    constexpr std::size_t CHUNK = 16, DEEPEST = 32;
    const std::size_t vectors = width / EIGHT, chunks = (vectors + CHUNK - 1) / CHUNK;
    std::size_t depth = 0;
    while ((std::size_t{1} << depth) < chunks) ++depth;
    Moments<Eight> levels[DEEPEST];
    for (std::size_t i = 0; i < chunks; ++i) {
        Moments<Eight> chunk;
        for (std::size_t k = i * CHUNK; k < vectors && k < (i + 1) * CHUNK; ++k) {
            const Eight one = load_eight(x + k * EIGHT), apart = one - chunk.mean;
            const float share = 1.0F / static_cast<float>(++chunk.count);
            chunk.mean = fused(apart, share - Eight{}, chunk.mean);
            chunk.squares = fused(apart, one - chunk.mean, chunk.squares);
        }
        join(levels[0], chunk);
        for (std::size_t level = 1, mask = i + 1; level < depth && mask % 2 == 0; ++level, mask /= 2) {
            join(levels[level], levels[level - 1]);
            levels[level - 1] = {};
        }
    }
    for (std::size_t level = 1; level < depth; ++level) join(levels[0], levels[level]);
    Moments<float> made;
    for (std::size_t k = vectors * EIGHT; k < width; ++k) {
        const float apart = x[k] - made.mean;
        made.mean += apart / static_cast<float>(++made.count);
        made.squares = fused(apart, x[k] - made.mean, made.squares);
    }
    for (std::size_t lane = 0; lane < EIGHT; ++lane)
        join(made, vectors, levels[0].mean[lane], levels[0].squares[lane]);
    return made;
}

inline void norm_rows(Table<float> x, std::size_t rows, std::size_t width, const Norm& norm) {
    for (std::size_t r = 0; r < rows; ++r) {
        float* row = x[r];
        const Moments<float> found = moments_of(row, width);
        const float factor = 1.0F / __builtin_sqrtf(found.squares / static_cast<float>(width) + norm.epsilon);
        std::size_t k = 0;
        for (; k + EIGHT <= width; k += EIGHT) {
            const Eight made = fused((load_eight(row + k) - found.mean) * factor, load_eight(norm.weight + k),
                                     load_eight(norm.bias + k));
            __builtin_memcpy(row + k, &made, sizeof made);
        }
        for (; k < width; ++k) row[k] = fused((row[k] - found.mean) * factor, norm.weight[k], norm.bias[k]);
    }
}

}  // namespace h3n::H3N_TARGET
