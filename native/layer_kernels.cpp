// The layers for one target. Built several times, with H3N_TARGET set to the name and the compiler set to its
// instructions. Includes no header with inline code that another file might share: the linker keeps one copy of such
// code, and it might keep ours.
#include "dot.hpp"
#include "lanes.hpp"
#include "layers.hpp"
#include "norm.hpp"
#include "products.hpp"
#include "rounding.hpp"

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

template <Activation how>
H3N_ALONE void finish(const Int8& layer, std::size_t first, const std::int32_t (*sums)[COLUMNS], std::size_t rows,
                      const float* steps, const float* lows, float* const* out) {
    static_assert(COLUMNS % LANES == 0, "sums are read by whole vectors");
    const std::size_t end = layer.outputs - first < COLUMNS ? layer.outputs - first : COLUMNS;
    for (std::size_t n = 0; n < end; n += LANES) {
        const Lanes scale = load(layer.scales + first + n);
        const Lanes total = load(layer.totals + first + n);
        const Lanes bias = load(layer.bias + first + n);
        Whole missing;
        __builtin_memcpy(&missing, layer.sums + first + n, sizeof missing);
        missing *= OFFSET;
        for (std::size_t r = 0; r < rows; ++r) {
            Whole whole;
            __builtin_memcpy(&whole, sums[r] + n, sizeof whole);
            if constexpr (OFFSET != 0) whole += missing;
            const Lanes product = __builtin_convertvector(whole, Lanes) * (scale * steps[r]);
            const Lanes made = activated(product + (total * lows[r] + bias), how);
            store_some(out[r] + first + n, made, end - n);
        }
    }
}

constexpr std::size_t LINE = 64;  // bytes of a line of the caches

// Ask for memory that is needed soon. It need not be ours.
inline void fetch(const std::int8_t* from, std::size_t bytes) {
    for (std::size_t k = 0; k < bytes; k += LINE) __builtin_prefetch(from + k, 0, 2);
}

// The rows of a block, which are rounded, by one layer; the first of them is row `block` of all. Weights are fetched once
// for all these rows, and stay in the nearest cache. The sums of several tiles are finished together: what finishing
// needs of the outputs is read once for them.
template <Activation how>
void multiply(const Product& product, std::size_t block, std::size_t count, const Rounded& rounded) {
    constexpr std::size_t SOME = 1024 / COLUMNS / TILE * TILE;  // rows: 4 KiB of sums
    const Int8& layer = *product.layer;
    float* out[BLOCK];
    for (std::size_t r = 0; r < count; ++r) out[r] = product.out[block + r];
    const std::size_t next = COLUMNS * layer.depth, tiles = (count + TILE - 1) / TILE;
    const std::size_t share = (next / tiles + LINE - 1) / LINE * LINE;
    for (std::size_t first = 0; first < layer.outputs; first += COLUMNS) {
        const std::int8_t* ahead = layer.weights + (first + COLUMNS) * layer.depth;
        for (std::size_t r = 0; r < count; r += SOME) {
            alignas(64) std::int32_t sums[SOME][COLUMNS];
            const std::size_t some = count - r < SOME ? count - r : SOME;
            for (std::size_t t = 0; t < some; t += TILE) {
                fetch(ahead, share);
                ahead += share;
                dot(rounded.values + (r + t) * layer.depth, layer, some - t, first, sums + t);
            }
            finish<how>(layer, first, sums, some, rounded.steps + r, rounded.lows + r, out + r);
        }
    }
}

void multiply_block(const Product& product, std::size_t block, std::size_t count, const Rounded& rounded) {
    switch (product.activation) {
        case Activation::none: return multiply<Activation::none>(product, block, count, rounded);
        case Activation::relu: return multiply<Activation::relu>(product, block, count, rounded);
        case Activation::leaky: return multiply<Activation::leaky>(product, block, count, rounded);
        case Activation::gelu: return multiply<Activation::gelu>(product, block, count, rounded);
    }
}

void linear(const Product* products, std::size_t count, Rows<const float> x, const Rounded& rounded) {
    std::size_t rows = 0;
    for (std::size_t p = 0; p < count; ++p) rows = products[p].rows > rows ? products[p].rows : rows;
    for (std::size_t block = 0; block < rows; block += BLOCK) {
        const Int8& layer = *products[0].layer;
        const std::size_t end = rows < block + BLOCK ? rows : block + BLOCK;
        for (std::size_t r = 0; block + r < end; ++r)
            round_row(x[block + r], layer, rounded.turned, rounded.values + r * layer.depth, rounded.steps[r],
                      rounded.lows[r]);
        for (std::size_t p = 0; p < count; ++p) {
            const std::size_t last = products[p].rows < end ? products[p].rows : end;
            if (last > block) multiply_block(products[p], block, last - block, rounded);
        }
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
    for (std::size_t r = 0; r < rows; ++r) {
        const float *one = x[r], *other = y.data == nullptr ? nullptr : y[r];
        float* made = out[r];
        const float total = sum(width, [&](std::size_t k) {
            Lanes added = load_some(one + k, width - k, 0.0F);
            if (other != nullptr) added += load_some(other + k, width - k, 0.0F);
            store_some(made + k, added, width - k);
            return added;
        });
        const float mean = total / static_cast<float>(width);
        const float squares = sum(width, [&](std::size_t k) {
            const Lanes apart = load_some(made + k, width - k, mean) - mean;
            return apart * apart;
        });
        const float variance = squares / static_cast<float>(width);
        const float factor = 1.0F / __builtin_sqrtf(variance + norm.epsilon);
        for (std::size_t k = 0; k < even; k += LANES)
            store(made + k, (load(made + k) - mean) * factor * load(norm.weight + k) + load(norm.bias + k));
        for (std::size_t k = even; k < width; ++k) made[k] = (made[k] - mean) * factor * norm.weight[k] + norm.bias[k];
    }
}

// Columns out of the first rows, of which there are up to LANES, times a factor: asked[d][query]. Lanes without a query
// have the first one's.
void ask(Table<const float> query, std::size_t some, std::size_t size, float factor, float* asked) {
    const float* from[LANES];
    for (std::size_t q = 0; q < LANES; ++q) from[q] = query[q < some ? q : 0];
    std::size_t d = 0;
    for (; d + LANES <= size; d += LANES) {
        Lanes rows[LANES];
        for (std::size_t q = 0; q < LANES; ++q) rows[q] = load(from[q] + d) * factor;
        turn_square(rows);
        for (std::size_t k = 0; k < LANES; ++k) store(asked + (d + k) * LANES, rows[k]);
    }
    for (; d < size; ++d)
        for (std::size_t q = 0; q < LANES; ++q) asked[d * LANES + q] = from[q][d] * factor;
}

constexpr std::size_t TOGETHER = 8;  // sums under way at the same time, so that none waits for the one before

// The scores of LANES queries for all keys: asked[d][query] and scores[key][query]. To the scores for key k, LANES values
// at added - k are added, unless it is null.
void scores_of(const float* asked, Table<const float> key, std::size_t rows, const Heads& heads, const float* added,
               float* scores) {
    for (std::size_t first = 0; first < rows; first += TOGETHER) {
        const float* keys[TOGETHER];
        for (std::size_t k = 0; k < TOGETHER; ++k) keys[k] = key[first + k < rows ? first + k : rows - 1];
        Lanes totals[TOGETHER] = {};
        for (std::size_t p = 0; p < heads.parts; ++p)
            for (std::size_t d = 0; d < heads.size; ++d) {
                const Lanes query = load(asked + (p * heads.size + d) * LANES);
                for (std::size_t k = 0; k < TOGETHER; ++k) totals[k] += query * keys[k][p * heads.apart + d];
            }
        for (std::size_t k = 0; k < TOGETHER && first + k < rows; ++k) {
            if (added != nullptr) totals[k] += load(added - (first + k));
            store(scores + (first + k) * LANES, totals[k]);
        }
    }
}

// Scores into shares of 1, for each query by itself.
void softmax(float* scores, std::size_t rows) {
    Lanes most = load(scores);
    for (std::size_t k = 1; k < rows; ++k) most = max(most, load(scores + k * LANES));
    Lanes total{};
    for (std::size_t k = 0; k < rows; ++k) {
        const Lanes one = exponential(load(scores + k * LANES) - most);
        total += one;
        store(scores + k * LANES, one);
    }
    const Lanes share = 1.0F / total;
    for (std::size_t k = 0; k < rows; ++k) store(scores + k * LANES, load(scores + k * LANES) * share);
}

// The values of all rows, mixed as the shares of some queries say; one part of a head.
void mix(const float* shares, Table<const float> value, std::size_t rows, std::size_t size, std::size_t queries,
         Table<float> out) {
    for (std::size_t first = 0; first < queries; first += TOGETHER)
        for (std::size_t d = 0; d < size; d += LANES) {
            Lanes totals[TOGETHER] = {};
            for (std::size_t k = 0; k < rows; ++k) {
                const Lanes one = load_some(value[k] + d, size - d, 0.0F);
                for (std::size_t q = 0; q < TOGETHER; ++q) totals[q] += one * shares[k * LANES + first + q];
            }
            for (std::size_t q = 0; q < TOGETHER && first + q < queries; ++q)
                store_some(out[first + q] + d, totals[q], size - d);
        }
}

void attention(Table<const float> query, Table<const float> key, Table<const float> value, std::size_t rows,
               const Heads& heads, Table<float> out, float* room) {
    float* asked = room;                                                // (parts x size, LANES)
    float* scores = room + heads.parts * heads.size * LANES;            // (rows, LANES), and room to read past the end
    const float factor = 1.0F / __builtin_sqrtf(static_cast<float>(heads.parts * heads.size));
    for (std::size_t head = 0; head < heads.count; ++head) {
        const std::size_t at = head * heads.size;
        for (std::size_t first = 0; first < rows; first += LANES) {
            const std::size_t some = rows - first < LANES ? rows - first : LANES;
            for (std::size_t p = 0; p < heads.parts; ++p)
                ask({query[first] + at + p * heads.apart, query.stride}, some, heads.size, factor,
                    asked + p * heads.size * LANES);
            const float* added = heads.by_distance;
            if (added != nullptr) added += head * (2 * heads.reach + 1) + heads.reach + first;
            scores_of(asked, {key.data + at, key.stride}, rows, heads, added, scores);
            softmax(scores, rows);
            for (std::size_t p = 0; p < heads.parts; ++p) {
                const std::size_t from = p * heads.apart + at, to = p * heads.out_apart + at;
                mix(scores, {value.data + from, value.stride}, rows, heads.size, some, {out[first] + to, out.stride});
            }
        }
    }
}

// One product for each of some stretches of a row with the same values, which are padded with zeros.
void contract(const float* row, std::size_t count, std::size_t width, const float* values, float* out) {
    for (std::size_t n = 0; n < count; ++n)
        out[n] = sum(width, [&](std::size_t k) { return load(row + n * width + k) * load(values + k); });
}

// Spans whose features are in the nearest cache at the same time.
constexpr std::size_t FEW = 16;

// The features of up to BLOCK spans, rounded; `room` holds FEW x width floats.
void round_spans(const Spans& given, const Span* spans, std::size_t rows, const Rounded& rounded, float* room) {
    const Int8& layer = given.labels;
    const Table<float> features{room, given.width};
    for (std::size_t first = 0; first < rows; first += FEW) {
        const std::size_t some = rows - first < FEW ? rows - first : FEW;
        span_features(given, spans + first, some, features);
        for (std::size_t r = 0; r < some; ++r)
            round_row(features[r], layer, rounded.turned, rounded.values + (first + r) * layer.depth,
                      rounded.steps[first + r], rounded.lows[first + r]);
    }
}

void score_spans(const Spans& given, const Span* spans, std::size_t rows, Table<float> out, const Rounded& rounded,
                 float* room) {
    round_spans(given, spans, rows, rounded, room);
    multiply_block({&given.labels, rows, {out}, Activation::none}, 0, rows, rounded);
    if (given.pairs == nullptr) return;
    for (std::size_t r = 0; r < rows; ++r) {
        const float pair = given.pairs[(spans[r].sentence * given.count + spans[r].start) * given.count + spans[r].end];
        for (std::size_t n = 0; n < given.labels.outputs; ++n) out[r][n] += pair;
    }
}

std::size_t best(const float* values, std::size_t count, std::size_t left_out) {
    const auto largest_of = [&](std::size_t first, std::size_t last, float found) {
        Lanes most = all(found);
        for (std::size_t n = first; n < last; n += LANES) most = max(most, load_some(values + n, last - n, found));
        return largest(most);
    };
    const std::size_t skipped = left_out < count ? left_out : count;
    float most = largest_of(0, skipped, -__builtin_inff());
    if (skipped < count) most = largest_of(skipped + 1, count, most);
    for (std::size_t n = 0; n < count; ++n)
        if (values[n] == most && n != left_out) return n;
    return 0;
}

void best_labels(const Spans& given, const Span* spans, const std::size_t* left_out, std::size_t rows, float* scores,
                 std::int32_t* labels, const Rounded& rounded, float* room) {
    const Int8& layer = given.labels;
    round_spans(given, spans, rows, rounded, room);
    const Table<float> made{room, layer.outputs};
    multiply_block({&layer, rows, {made}, Activation::none}, 0, rows, rounded);
    for (std::size_t r = 0; r < rows; ++r) {
        const std::size_t found = best(made[r], layer.outputs, left_out[r]);
        scores[r] = made[r][found];
        labels[r] = static_cast<std::int32_t>(found);
    }
}

}  // namespace

extern const LayerKernels layer_kernels;
const LayerKernels layer_kernels = {H3N_TEXT(H3N_TARGET), IN_ORDER, linear, activate, add_norm, attention, contract, score_spans, best,
                                    norm_rows, products, log_shares, best_labels, column_shares, share};

}  // namespace h3n::H3N_TARGET
