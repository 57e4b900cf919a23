// Products of floats, logarithms of shares, and the features of spans. Included by layer_kernels.cpp alone, once per
// target. Every number is the sum of its terms in their order, whatever the width of the vectors: the bits are the same.
#pragma once

#include "dot.hpp"
#include "lanes.hpp"
#include "layers.hpp"

namespace h3n::H3N_TARGET {

#if defined(__AVX512F__)
constexpr std::size_t TALL = 6;  // rows whose sums are under way at the same time, as many as registers hold
#else
constexpr std::size_t TALL = 4;
#endif
constexpr std::size_t ABREAST = 2;  // vectors of each of these rows
static_assert(ABREAST * LANES <= COLUMN_STEP, "weights are readable up to whole steps of columns");

template <std::size_t ROWS, std::size_t VECTORS>
H3N_INLINE void multiply_tile(Table<const float> x, std::size_t inputs, Table<const float> weights, const float* bias,
                              std::size_t columns, Table<float> out) {
    Lanes totals[ROWS][VECTORS] = {};
    for (std::size_t k = 0; k < inputs; ++k) {
        Lanes some[VECTORS];
        for (std::size_t v = 0; v < VECTORS; ++v) some[v] = load(weights[k] + v * LANES);
        for (std::size_t r = 0; r < ROWS; ++r)
            for (std::size_t v = 0; v < VECTORS; ++v) totals[r][v] += some[v] * x[r][k];
    }
    for (std::size_t r = 0; r < ROWS; ++r)
        for (std::size_t v = 0; v < VECTORS; ++v) {
            if (bias != nullptr) totals[r][v] += load(bias + v * LANES);
            store_some(out[r] + v * LANES, totals[r][v], columns - v * LANES);
        }
}

template <std::size_t ROWS>
H3N_ALONE void multiply_rows(Table<const float> x, std::size_t inputs, Table<const float> weights, const float* bias,
                             std::size_t columns, Table<float> out) {
    for (std::size_t c = 0; c < columns; c += ABREAST * LANES) {
        const Table<const float> here{weights.data + c, weights.stride};
        const float* added = bias == nullptr ? nullptr : bias + c;
        const Table<float> to{out.data + c, out.stride};
        if (columns - c > LANES) multiply_tile<ROWS, ABREAST>(x, inputs, here, added, columns - c, to);
        else multiply_tile<ROWS, 1>(x, inputs, here, added, columns - c, to);
    }
}

template <std::size_t ROWS = TALL>
inline void multiply_some(Table<const float> x, std::size_t rows, std::size_t inputs, Table<const float> weights,
                          const float* bias, std::size_t columns, Table<float> out) {
    if constexpr (ROWS > 1)
        if (rows < ROWS) return multiply_some<ROWS - 1>(x, rows, inputs, weights, bias, columns, out);
    multiply_rows<ROWS>(x, inputs, weights, bias, columns, out);
}

inline void products(Table<const float> x, std::size_t rows, std::size_t inputs, Table<const float> weights,
                     const float* bias, std::size_t columns, Table<float> out) {
    for (std::size_t r = 0; r < rows; r += TALL)
        multiply_some({x[r], x.stride}, rows - r, inputs, weights, bias, columns, {out[r], out.stride});
}

inline void log_shares(Table<float> x, std::size_t rows, std::size_t columns) {
    for (std::size_t c = 0; c < columns; c += LANES) {
        const std::size_t some = columns - c;
        Lanes most = load_some(x[0] + c, some, 0.0F);
        for (std::size_t r = 1; r < rows; ++r) most = max(most, load_some(x[r] + c, some, 0.0F));
        Lanes total{};
        for (std::size_t r = 0; r < rows; ++r) total += exponential(load_some(x[r] + c, some, 0.0F) - most);
        Lanes logs{};
        for (std::size_t l = 0; l < LANES && l < some; ++l) logs[l] = __builtin_logf(total[l]);
        for (std::size_t r = 0; r < rows; ++r)
            store_some(x[r] + c, (load_some(x[r] + c, some, 0.0F) - most) - logs, some);
    }
}

inline void column_shares(Table<const float> x, std::size_t rows, std::size_t columns, const std::int64_t* chosen,
                          float factor, float* out) {
    for (std::size_t c = 0; c < columns; c += LANES) {
        const std::size_t some = columns - c;
        Lanes most = load_some(x[0] + c, some, 0.0F), taken{};
        for (std::size_t r = 1; r < rows; ++r) most = max(most, load_some(x[r] + c, some, 0.0F));
        Lanes total{};
        for (std::size_t r = 0; r < rows; ++r) total += exponential((load_some(x[r] + c, some, 0.0F) - most) * factor);
        for (std::size_t l = 0; l < LANES && l < some; ++l) taken[l] = x[static_cast<std::size_t>(chosen[c + l])][c + l];
        store_some(out + c, exponential((taken - most) * factor) / total, some);
    }
}

inline float share(const float* values, std::size_t count, std::size_t place, float factor) {
    const float least = -__builtin_inff();
    Lanes most = all(values[place]);
    for (std::size_t k = 0; k < count; k += LANES) most = max(most, load_some(values + k, count - k, least));
    const float top = largest(most);
    const float total = sum(count, [&](std::size_t k) {
        return exponential((load_some(values + k, count - k, least) - top) * factor);
    });
    return exponential(all((values[place] - top) * factor))[0] / total;
}

// The features of some spans, (rows, width): the differences of their fenceposts, normed, cut off below zero. The steps
// are those of add_norm, one after the other for all of the spans, so that none waits for the one before.
H3N_ALONE void span_features(const Spans& given, const Span* spans, std::size_t rows, Table<float> out) {
    const std::size_t width = given.width;
    float means[BLOCK], factors[BLOCK];
    for (std::size_t r = 0; r < rows; ++r) {
        const float* first = given.posts + (spans[r].sentence * given.count + spans[r].start) * width;
        const float* last = given.posts + (spans[r].sentence * given.count + spans[r].end) * width;
        float* made = out[r];
        const float total = sum(width, [&](std::size_t k) {
            const std::size_t some = width - k;
            const Lanes apart = load_some(last + k, some, 0.0F) - load_some(first + k, some, 0.0F) +
                                load_some(given.bias + k, some, 0.0F);
            store_some(made + k, apart, some);
            return apart;
        });
        means[r] = total / static_cast<float>(width);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        const float* made = out[r];
        const float mean = means[r];
        const float squares = sum(width, [&](std::size_t k) {
            const Lanes apart = load_some(made + k, width - k, mean) - mean;
            return apart * apart;
        });
        factors[r] = 1.0F / __builtin_sqrtf(squares / static_cast<float>(width) + given.norm.epsilon);
    }
    for (std::size_t r = 0; r < rows; ++r) {
        float* made = out[r];
        for (std::size_t k = 0; k < width; k += LANES) {
            const std::size_t some = width - k;
            const Lanes one =
                (load_some(made + k, some, 0.0F) - means[r]) * factors[r] * load_some(given.norm.weight + k, some, 0.0F);
            store_some(made + k, max(one + load_some(given.norm.bias + k, some, 0.0F), Lanes{}), some);
        }
    }
}

}  // namespace h3n::H3N_TARGET
