// The layers for one target. Built several times, with H3N_TARGET set to the name and the compiler set to its
// instructions. Includes no header with inline code that another file might share: the linker keeps one copy of such
// code, and it might keep ours.
#include "dot.hpp"
#include "lanes.hpp"
#include "layers.hpp"

#define H3N_TEXT_(name) #name
#define H3N_TEXT(name) H3N_TEXT_(name)

namespace h3n::H3N_TARGET {

namespace {

Lanes activated(Lanes x, Activation how) {
    switch (how) {
        case Activation::none: break;
        case Activation::relu: return max(x, Lanes{});
        case Activation::leaky: return max(x, x * 0.1F);
        case Activation::gelu: return gelu(x);
    }
    return x;
}

// Round a row to bytes; what is left up to the end of the last quad stays zero.
void round_row(const float* x, const Int8& layer, std::uint8_t* values, float& step, float& low) {
    const std::size_t count = layer.inputs;
    Lanes least = all(x[0]), most = all(x[0]);
    std::size_t k = 0;
    for (; k + LANES <= count; k += LANES) {
        const Lanes one = load(x + k);
        least = min(least, one);
        most = max(most, one);
    }
    if (k < count) {
        least = min(least, load_some(x + k, count - k, x[0]));
        most = max(most, load_some(x + k, count - k, x[0]));
    }
    low = -largest(-least);
    const float range = largest(most) - low;
    step = range > 1e-30F ? range / 255.0F : 1.0F;
    const float inverse = 1.0F / step;
    const auto rounded = [&](Lanes one) {
        return __builtin_convertvector(__builtin_convertvector((one - low) * inverse + 0.5F, Whole), Bytes);
    };
    for (k = 0; k + LANES <= count; k += LANES) {
        const Bytes made = rounded(load(x + k));
        __builtin_memcpy(values + k, &made, sizeof made);
    }
    if (k < count) {
        const Bytes made = rounded(load_some(x + k, count - k, low));
        for (std::size_t l = 0; k + l < layer.depth; ++l) values[k + l] = k + l < count ? made[l] : std::uint8_t{0};
    } else {
        for (; k < layer.depth; ++k) values[k] = 0;
    }
}

template <Activation how>
void finish(const Int8& layer, std::size_t first, const std::int32_t (*sums)[PANEL], std::size_t rows,
            const float* steps, const float* lows, Table<float> out) {
    const std::size_t end = layer.outputs - first < PANEL ? layer.outputs - first : PANEL;
    for (std::size_t n = 0; n < end; n += LANES) {
        const Lanes scale = load(layer.scales + first + n);
        const Lanes total = load(layer.totals + first + n);
        const Lanes bias = load(layer.bias + first + n);
        for (std::size_t r = 0; r < rows; ++r) {
            Whole whole;
            __builtin_memcpy(&whole, sums[r] + n, sizeof whole);
            const Lanes product = __builtin_convertvector(whole, Lanes) * (scale * steps[r]);
            const Lanes made = activated(product + (total * lows[r] + bias), how);
            store_some(out[r] + first + n, made, end - n);
        }
    }
}

template <Activation how>
void linear_as(const Int8& layer, Table<const float> x, std::size_t rows, Table<float> out, const Rounded& rounded) {
    for (std::size_t block = 0; block < rows; block += BLOCK) {
        const std::size_t count = rows - block < BLOCK ? rows - block : BLOCK;
        for (std::size_t r = 0; r < count; ++r)
            round_row(x[block + r], layer, rounded.values + r * layer.depth, rounded.steps[r], rounded.lows[r]);
        for (std::size_t first = 0; first < layer.outputs; first += PANEL) {
            const std::int8_t* weights = layer.weights + first * layer.depth;
            for (std::size_t r = 0; r < count; r += TILE) {
                alignas(64) std::int32_t sums[TILE][PANEL];
                const std::size_t some = count - r < TILE ? count - r : TILE;
                dot(rounded.values + r * layer.depth, layer.depth, weights, some, sums);
                finish<how>(layer, first, sums, some, rounded.steps + r, rounded.lows + r,
                            {out[block + r], out.stride});
            }
        }
    }
}

void linear(const Int8& layer, Table<const float> x, std::size_t rows, Table<float> out, Activation how,
            const Rounded& rounded) {
    switch (how) {
        case Activation::none: return linear_as<Activation::none>(layer, x, rows, out, rounded);
        case Activation::relu: return linear_as<Activation::relu>(layer, x, rows, out, rounded);
        case Activation::leaky: return linear_as<Activation::leaky>(layer, x, rows, out, rounded);
        case Activation::gelu: return linear_as<Activation::gelu>(layer, x, rows, out, rounded);
    }
}

void activate(Table<float> x, std::size_t rows, std::size_t width, Activation how) {
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t k = 0; k < width; k += LANES)
            store_some(x[r] + k, activated(load_some(x[r] + k, width - k, 0.0F), how), width - k);
}

void add_norm(Table<const float> x, Table<const float> y, std::size_t rows, std::size_t width, const Norm& norm,
              Table<float> out) {
    const std::size_t even = width / LANES * LANES;
    const auto both = [&](std::size_t r, std::size_t k, std::size_t count) {
        const Lanes one = load_some(x[r] + k, count, 0.0F);
        return y.data == nullptr ? one : one + load_some(y[r] + k, count, 0.0F);
    };
    for (std::size_t r = 0; r < rows; ++r) {
        float* made = out[r];
        Lanes total{};
        for (std::size_t k = 0; k < width; k += LANES) {
            const Lanes one = both(r, k, width - k);
            total += one;
            store_some(made + k, one, width - k);
        }
        const float mean = sum(total) / static_cast<float>(width);
        Lanes squares{};
        for (std::size_t k = 0; k < width; k += LANES) {
            const Lanes one = load_some(made + k, width - k, mean) - mean;
            squares += one * one;
        }
        const float variance = sum(squares) / static_cast<float>(width);
        const float factor = 1.0F / __builtin_sqrtf(variance + norm.epsilon);
        for (std::size_t k = 0; k < even; k += LANES)
            store(made + k, (load(made + k) - mean) * factor * load(norm.weight + k) + load(norm.bias + k));
        for (std::size_t k = even; k < width; ++k) made[k] = (made[k] - mean) * factor * norm.weight[k] + norm.bias[k];
    }
}

constexpr std::size_t TOGETHER = 4;  // queries whose sums are under way at the same time

// The scores of some queries for all keys, as far apart as `width`; keys lie in columns.
void scores_of(const float* const* query, const float* keys, std::size_t size, std::size_t width, float* scores) {
    for (std::size_t k = 0; k < width; k += LANES) {
        Lanes totals[TOGETHER] = {};
        for (std::size_t d = 0; d < size; ++d) {
            const Lanes key = load(keys + d * width + k);
            for (std::size_t q = 0; q < TOGETHER; ++q) totals[q] += key * query[q][d];
        }
        for (std::size_t q = 0; q < TOGETHER; ++q) store(scores + q * width + k, totals[q]);
    }
}

void softmax(float* scores, std::size_t rows, std::size_t width) {
    for (std::size_t k = rows; k < width; ++k) scores[k] = -1e30F;
    Lanes most = load(scores);
    for (std::size_t k = LANES; k < width; k += LANES) most = max(most, load(scores + k));
    const Lanes highest = all(largest(most));
    Lanes total{};
    for (std::size_t k = 0; k < width; k += LANES) {
        const Lanes one = exponential(load(scores + k) - highest);
        total += one;
        store(scores + k, one);
    }
    const Lanes share = all(1.0F / sum(total));
    for (std::size_t k = 0; k < width; k += LANES) store(scores + k, load(scores + k) * share);
}

// The values of all rows, mixed as the shares of some queries say.
void mix(const float* shares, std::size_t width, const float* values, std::size_t rows, std::size_t padded, float* out) {
    for (std::size_t d = 0; d < padded; d += LANES) {
        Lanes totals[TOGETHER] = {};
        for (std::size_t k = 0; k < rows; ++k) {
            const Lanes value = load(values + k * padded + d);
            for (std::size_t q = 0; q < TOGETHER; ++q) totals[q] += value * shares[q * width + k];
        }
        for (std::size_t q = 0; q < TOGETHER; ++q) store(out + q * padded + d, totals[q]);
    }
}

void attention(Table<const float> query, Table<const float> key, Table<const float> value, std::size_t rows,
               const Heads& heads, Table<float> out, float* room) {
    const std::size_t size = heads.parts * heads.size;
    const std::size_t width = (rows + LANES - 1) / LANES * LANES, padded = (size + LANES - 1) / LANES * LANES;
    float* keys = room;                                // (size, width)
    float* values = keys + size * width;               // (rows, padded)
    float* scores = values + rows * padded;            // (TOGETHER, width)
    float* mixed = scores + TOGETHER * width;          // (TOGETHER, padded)
    float* asked = mixed + TOGETHER * padded;          // (TOGETHER, size)
    const float factor = 1.0F / __builtin_sqrtf(static_cast<float>(size));
    for (std::size_t k = 0; k < size * width; ++k) keys[k] = 0.0F;
    for (std::size_t k = 0; k < rows * padded; ++k) values[k] = 0.0F;
    for (std::size_t head = 0; head < heads.count; ++head) {
        for (std::size_t p = 0; p < heads.parts; ++p) {
            const std::size_t from = p * heads.apart + head * heads.size, to = p * heads.size;
            for (std::size_t r = 0; r < rows; ++r) {
                for (std::size_t d = 0; d < heads.size; ++d) keys[(to + d) * width + r] = key[r][from + d];
                for (std::size_t d = 0; d < heads.size; ++d) values[r * padded + to + d] = value[r][from + d];
            }
        }
        for (std::size_t first = 0; first < rows; first += TOGETHER) {
            const std::size_t some = rows - first < TOGETHER ? rows - first : TOGETHER;
            const float* each[TOGETHER];
            for (std::size_t q = 0; q < TOGETHER; ++q) {
                const float* row = query[first + (q < some ? q : 0)];
                float* to = asked + q * size;
                for (std::size_t p = 0; p < heads.parts; ++p)
                    for (std::size_t d = 0; d < heads.size; ++d)
                        to[p * heads.size + d] = row[p * heads.apart + head * heads.size + d] * factor;
                each[q] = to;
            }
            scores_of(each, keys, size, width, scores);
            for (std::size_t q = 0; q < some; ++q) softmax(scores + q * width, rows, width);
            mix(scores, width, values, rows, padded, mixed);
            for (std::size_t q = 0; q < some; ++q)
                for (std::size_t p = 0; p < heads.parts; ++p)
                    for (std::size_t d = 0; d < heads.size; ++d)
                        out[first + q][p * heads.apart + head * heads.size + d] = mixed[q * padded + p * heads.size + d];
        }
    }
}

void score_spans(const Spans& given, const Span* spans, std::size_t rows, Table<float> out, const Rounded& rounded,
                 float* room) {
    const Table<float> features{room, given.width};
    const std::size_t width = given.width;
    for (std::size_t r = 0; r < rows; ++r) {
        const float* first = given.posts + (spans[r].sentence * given.count + spans[r].start) * width;
        const float* last = given.posts + (spans[r].sentence * given.count + spans[r].end) * width;
        float* made = features[r];
        for (std::size_t k = 0; k < width; ++k) made[k] = last[k] - first[k] + given.bias[k];
    }
    add_norm({room, width}, {}, rows, width, given.norm, features);
    activate(features, rows, width, Activation::relu);
    linear(given.labels, {room, width}, rows, out, Activation::none, rounded);
    if (given.pairs == nullptr) return;
    for (std::size_t r = 0; r < rows; ++r) {
        const float pair = given.pairs[(spans[r].sentence * given.count + spans[r].start) * given.count + spans[r].end];
        for (std::size_t n = 0; n < given.labels.outputs; ++n) out[r][n] += pair;
    }
}

std::size_t best(const float* values, std::size_t count, std::size_t left_out) {
    std::size_t found = left_out == 0 && count > 1 ? 1 : 0;
    for (std::size_t n = found + 1; n < count; ++n)
        if (values[n] > values[found] && n != left_out) found = n;
    return found;
}

}  // namespace

extern const LayerKernels layer_kernels;
const LayerKernels layer_kernels = {H3N_TEXT(H3N_TARGET), linear, activate, add_norm, attention, score_spans, best};

}  // namespace h3n::H3N_TARGET
