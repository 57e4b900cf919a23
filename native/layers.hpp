// What the layers of a network are computed with at inference: linear layers in 8-bit whole numbers, and the steps
// between them. Matrices are row-major; a row is a word (or piece), and no row's result depends on another's, save in
// attention, where it depends on the rows of its own sentence. Nothing here is compiled per target.
#pragma once

#include <cstddef>
#include <cstdint>

namespace h3n {

// A row-major matrix whose rows may lie further apart than they are long.
template <class Value>
struct Table {
    Value* data = nullptr;
    std::size_t stride = 0;
    Value* operator[](std::size_t row) const { return data + row * stride; }
};

constexpr std::size_t PANEL = 16;    // outputs whose weights lie together
constexpr std::size_t WIDEST = 64;   // outputs that a target multiplies at a time, at most
constexpr std::size_t QUAD = 4;      // inputs that one instruction multiplies and adds up
constexpr std::size_t SLACK = 16;    // the widest vector
constexpr std::size_t PAIR = 2;      // inputs whose products with weights are small enough to be added up in 16 bits
constexpr std::size_t COLUMN_STEP = 32;  // columns of float weights that are read together
constexpr std::size_t TURN = 32;     // stretches of a row that are turned against each other
constexpr std::size_t BLOCK = 192;   // rows rounded at a time: with the weights of a panel they stay in the caches

enum class Activation : std::int32_t { none = 0, relu = 1, leaky = 2, gelu = 3 };

// Weights rounded to 8 bits, each output with a scale of its own: weights[panel][quad][output][input of the quad]. The
// scale leaves no pair of weights that adds up to more than 128, so that two products with inputs fit into 16 bits.
// Inputs are rounded on the way, each row between its least and its largest value: x ~ low + step * q, q in 0 .. 255.
// So a row times an output's weights is step * scale * (q . w) + low * total, where total is the sum of the weights.
// A few inputs of an encoder are far larger than all others, and would leave these few steps. So rows are turned first:
// cut into TURN stretches, which are multiplied by the matrix of Hadamard (all 1 and -1), as the weights have been. That
// spreads large inputs over others and leaves products the same. Rows that cannot be cut so are left as they are.
// Some targets add up two quads in 16 bits before they go on in 32. That is exact for quads whose weights fit each other:
// for no output of a panel do the weights of one sign at the same places add up to more than 128. So each panel has an
// order of the quads, those that fit each other first, side by side. Targets with an instruction for quads need none.
struct Int8 {
    std::size_t inputs = 0, outputs = 0;
    std::size_t depth = 0, width = 0;       // the same, in whole quads and WIDEST; what is too many is zero
    bool turned = false;
    const std::int8_t* weights = nullptr;
    const std::uint32_t* order = nullptr;   // (width / PANEL, depth / QUAD), or none
    const std::uint32_t* fitting = nullptr; // (width / PANEL): how many quads of the order fit the one beside them
    const float* scales = nullptr;          // (width)
    const std::int32_t* sums = nullptr;     // (width), of the rounded weights
    const float* totals = nullptr;          // (width), the same times the scale
    const float* bias = nullptr;            // (width)
};

// Room for the rounded rows of a block.
struct Rounded {
    std::uint8_t* values = nullptr;  // (BLOCK, depth)
    float* steps = nullptr;          // (BLOCK)
    float* lows = nullptr;           // (BLOCK)
    float* turned = nullptr;         // (depth)
};

struct Norm {
    const float* weight = nullptr;
    const float* bias = nullptr;
    float epsilon = 0.0F;
};

// Where the values of a head lie in a row: `parts` stretches of `size` values, `apart` from each other in queries, keys
// and values, and `out_apart` in what is made of them.
struct Heads {
    std::size_t count = 1, parts = 1, size = 0, apart = 0, out_apart = 0;
    // What is added to a score by how far the query stands behind the key: (count, 2 * reach + 1), from -reach to reach,
    // with SLACK readable floats behind; null where distance counts for nothing. No sentence is longer than reach.
    const float* by_distance = nullptr;
    std::size_t reach = 0;
};

// The spans of a batch: a span is the difference of its two fenceposts, normed, cut off below zero, then one score for
// every label. `pairs` is added to all labels of a span.
struct Spans {
    const float* posts = nullptr;  // (sentences, count, width)
    const float* pairs = nullptr;  // (sentences, count, count), or null
    std::size_t count = 0, width = 0;
    const float* bias = nullptr;   // (width)
    Norm norm;
    Int8 labels;
};

struct Span {
    std::size_t sentence, start, end;
};

// Rows that lie anywhere in a table: all in a row, or where `places` says.
template <class Value>
struct Rows {
    Table<Value> table;
    const std::int64_t* places = nullptr;
    __attribute__((always_inline)) Value* operator[](std::size_t row) const {
        return table[places == nullptr ? row : static_cast<std::size_t>(places[row])];
    }
};

// What is made of the first `rows` of an input by one layer.
struct Product {
    const Int8* layer = nullptr;
    std::size_t rows = 0;
    Rows<float> out;
    Activation activation = Activation::none;
};

struct LayerKernels {
    const char* target;
    bool in_order;  // whether it reads the order of quads
    // All layers have the same number of inputs and are turned alike, so that a row is rounded once for all of them.
    void (*linear)(const Product* products, std::size_t count, Rows<const float> x, const Rounded&);
    void (*activate)(Table<float> x, std::size_t rows, std::size_t width, Activation);
    // out = norm(x + y), y left out if null; out may be x or y.
    void (*add_norm)(Table<const float> x, Table<const float> y, std::size_t rows, std::size_t width, const Norm&,
                     Table<float> out);
    // Softmax attention among the `rows` of one sentence; `room` holds attention_room(rows, heads) floats.
    void (*attention)(Table<const float> query, Table<const float> key, Table<const float> value, std::size_t rows,
                      const Heads&, Table<float> out, float* room);
    // out[n] = row[n * width ...] . values, both with SLACK readable floats behind, those of `values` zero.
    void (*contract)(const float* row, std::size_t count, std::size_t width, const float* values, float* out);
    // The scores of all labels of up to BLOCK spans; `room` holds BLOCK x width floats.
    void (*score_spans)(const Spans&, const Span* spans, std::size_t rows, Table<float> out, const Rounded&, float* room);
    // The place of the largest of some values, the first of several, leaving out one place (or none if it is beyond).
    std::size_t (*best)(const float* values, std::size_t count, std::size_t left_out);
    // x = norm(x), in place, with the steps of torch's.
    void (*norm)(Table<float> x, std::size_t rows, std::size_t width, const Norm&);
    // out[r][n] = x[r] . weights[.][n] + bias[n], in floats; no bias if null. The rows of the weights, (inputs, columns),
    // and the bias are readable up to a whole COLUMN_STEP.
    void (*products)(Table<const float> x, std::size_t rows, std::size_t inputs, Table<const float> weights,
                     const float* bias, std::size_t columns, Table<float> out);
    // Scores into the logarithms of their shares of each column, in place.
    void (*log_shares)(Table<float> x, std::size_t rows, std::size_t columns);
    // The best label of up to BLOCK spans and its score, without `pairs`; of span r the label left_out[r] is left out.
    // `room` holds BLOCK x width floats, and BLOCK x labels.
    void (*best_labels)(const Spans&, const Span* spans, const std::size_t* left_out, std::size_t rows, float* scores,
                        std::int32_t* labels, const Rounded&, float* room);
    // out[c] = the share that row chosen[c] has of column c, by the exponentials of all its values times a factor.
    void (*column_shares)(Table<const float> x, std::size_t rows, std::size_t columns, const std::int64_t* chosen,
                          float factor, float* out);
    // The same of one row: the share of the value at a place.
    float (*share)(const float* values, std::size_t count, std::size_t place, float factor);
};

// One layer on rows that lie one after the other.
inline void run_linear(const LayerKernels& kernels, const Int8& layer, Table<const float> x, std::size_t rows,
                       Table<float> out, Activation activation, const Rounded& rounded) {
    const Product product{&layer, rows, {out}, activation};
    kernels.linear(&product, 1, {x}, rounded);
}

std::size_t attention_room(std::size_t rows, const Heads& heads);

}  // namespace h3n
