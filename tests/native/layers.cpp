// The native layers without Python, for the sanitizers: inputs lie in heap blocks of exactly their size, so that a read
// or write past either end is caught, and every kernel this machine can run gets sizes around those of its vectors.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include "packing.hpp"
#include "transformer.hpp"

namespace {

using h3n::Activation;
using h3n::LayerKernels;
using h3n::Packed;

int failures = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    ++failures;
}

std::vector<float> numbers(std::size_t count) {
    static std::mt19937 random(1);
    std::normal_distribution<float> normal;
    std::vector<float> made(count);
    for (float& one : made) one = normal(random);
    return made;
}

// The layer from its definition, one number after the other, with the very steps that the kernels take.
std::vector<float> plain(const h3n::Int8& layer, std::vector<float> x, std::size_t rows) {
    std::vector<float> out(rows * layer.outputs);
    for (std::size_t r = 0; r < rows; ++r) {
        float* row = x.data() + r * layer.inputs;
        const std::size_t stretch = layer.inputs / h3n::TURN;
        for (std::size_t apart = 1; layer.turned && apart < h3n::TURN; apart *= 2)
            for (std::size_t k = 0; k < layer.inputs; ++k)
                if ((k / stretch & apart) == 0) {
                    const float one = row[k], other = row[k + apart * stretch];
                    row[k] = one + other;
                    row[k + apart * stretch] = one - other;
                }
        const float low = *std::min_element(row, row + layer.inputs);
        const float range = *std::max_element(row, row + layer.inputs) - low;
        const float step = range > 1e-30F ? range / 255.0F : 1.0F, inverse = 1.0F / step;
        for (std::size_t n = 0; n < layer.outputs; ++n) {
            const std::int8_t* weights = layer.weights + n / h3n::PANEL * h3n::PANEL * layer.depth;
            std::int32_t sum = 0;
            for (std::size_t k = 0; k < layer.inputs; ++k) {
                const auto value = static_cast<std::int32_t>((row[k] - low) * inverse + 0.5F);
                sum += value * weights[(k / h3n::QUAD * h3n::PANEL + n % h3n::PANEL) * h3n::QUAD + k % h3n::QUAD];
            }
            const float product = static_cast<float>(sum) * (layer.scales[n] * step);
            out[r * layer.outputs + n] = product + (layer.totals[n] * low + layer.bias[n]);
        }
    }
    return out;
}

// What a kernel makes of some rows, which must be what the definition makes of them.
std::vector<float> checked_run(const LayerKernels& kernels, const h3n::Int8& layer, const std::vector<float>& x) {
    const std::size_t rows = x.size() / layer.inputs;
    std::vector<float> out(rows * layer.outputs);
    float* room = h3n::room_for<float>(h3n::rounding_numbers(layer.depth));
    run_linear(kernels, layer, {x.data(), layer.inputs}, rows, {out.data(), layer.outputs}, Activation::none,
               h3n::rounded_room(layer.depth, room));
    expect(out == plain(layer, x, rows), std::string(kernels.target) + ": a linear layer differs from the plain one");
    return out;
}

void check_linear(const LayerKernels& kernels, std::size_t rows, std::size_t inputs, std::size_t outputs) {
    const auto weight = numbers(outputs * inputs), bias = numbers(outputs), x = numbers(rows * inputs);
    const Packed packed(weight.data(), outputs, inputs, bias.data());
    const std::vector<float> out = checked_run(kernels, packed.layer, x);
    double error = 0.0, size = 0.0;
    for (std::size_t r = 0; r < rows; ++r)
        for (std::size_t n = 0; n < outputs; ++n) {
            double wanted = bias[n];
            for (std::size_t k = 0; k < inputs; ++k) wanted += double(x[r * inputs + k]) * weight[n * inputs + k];
            error += std::abs(out[r * outputs + n] - wanted);
            size += std::abs(wanted);
        }
    // A single sum may be nearly zero, but its rounding error goes with how large such sums are.
    const double usual = std::sqrt(static_cast<double>(inputs)) * static_cast<double>(rows * outputs);
    expect(error <= 0.03 * (size + usual), std::string(kernels.target) + ": a linear layer is far off");
}

// How many quads of all panels are said to fit the one beside them. They must: no inputs make 16 bits too few. And every
// quad is in every order once.
std::size_t checked_order(const h3n::Int8& layer) {
    const std::size_t quads = layer.depth / h3n::QUAD;
    std::size_t fitting = 0;
    for (std::size_t panel = 0; panel < layer.width / h3n::PANEL; ++panel) {
        const std::uint32_t* order = layer.order + panel * quads;
        std::vector<std::uint32_t> sorted(order, order + quads);
        std::sort(sorted.begin(), sorted.end());
        for (std::size_t quad = 0; quad < quads; ++quad) expect(sorted[quad] == quad, "a quad is not in the order once");
        expect(layer.fitting[panel] <= quads && layer.fitting[panel] % 2 == 0, "quads that fit do not come in pairs");
        fitting += layer.fitting[panel];
        for (std::size_t at = 0; at < layer.fitting[panel]; at += 2)
            for (std::size_t k = 0; k < h3n::PANEL * h3n::QUAD; k += h3n::PAIR) {
                int above = 0, below = 0;
                for (std::size_t n = 0; n < 2 * h3n::PAIR; ++n) {
                    const std::int8_t* weights = layer.weights + panel * h3n::PANEL * layer.depth;
                    const int weight = weights[order[at + n / h3n::PAIR] * h3n::QUAD * h3n::PANEL + k + n % h3n::PAIR];
                    (weight > 0 ? above : below) += 255 * weight;
                }
                expect(above <= 32767 && below >= -32768, "two quads that are said to fit do not");
            }
    }
    return fitting;
}

// Weights and inputs at their limits, where sums in too few bits would be cut off.
void check_limits(const LayerKernels& kernels, std::size_t inputs, std::size_t outputs) {
    struct Case {
        const char* name;
        float (*weight)(std::size_t output, std::size_t input);
        bool fits, fits_not;  // whether some quads fit each other, and whether some do not
    };
    const Case cases[] = {
        {"none", [](std::size_t, std::size_t) { return 0.0F; }, true, false},
        {"all the largest", [](std::size_t, std::size_t) { return 1.0F; }, false, true},
        {"all the least", [](std::size_t, std::size_t) { return -1.0F; }, false, true},
        {"one of a pair", [](std::size_t, std::size_t k) { return k % 2 == 0 ? 1.0F : 0.0F; }, false, true},
        {"one against the other", [](std::size_t, std::size_t k) { return k % 2 == 0 ? 1.0F : -1.0F; }, false, true},
        {"exactly enough", [](std::size_t, std::size_t k) { return k == 0 ? 1.0F : k == 1 ? 0.0F : 0.25F; }, true, true},
        {"one output of a panel", [](std::size_t n, std::size_t) { return n % 16 == 0 ? 1.0F : 0.0F; }, false, true},
        {"signs by quads", [](std::size_t, std::size_t k) { return k / 4 % 2 == 0 ? 1.0F : -1.0F; }, true, false},
    };
    std::vector<float> x;
    for (std::size_t row = 0; row < 7; ++row)
        for (std::size_t k = 0; k < inputs; ++k) {
            const std::size_t bits[] = {1, 0, k, k / 2, k / 4, k == 0, k + 1 == inputs};
            x.push_back(bits[row] % 2 == 0 ? -1.0F : 1.0F);
        }
    for (const Case& one : cases) {
        std::vector<float> weight;
        for (std::size_t n = 0; n < outputs; ++n)
            for (std::size_t k = 0; k < inputs; ++k) weight.push_back(one.weight(n, k));
        const Packed packed(weight.data(), outputs, inputs, nullptr);
        checked_run(kernels, packed.layer, x);
        const std::size_t fitting = checked_order(packed.layer);
        const std::size_t used = (outputs + h3n::PANEL - 1) / h3n::PANEL, quads = packed.layer.depth / h3n::QUAD;
        const std::size_t unused = (packed.layer.width / h3n::PANEL - used) * (quads / 2 * 2);  // zeros, which always fit
        if (packed.layer.turned || quads < 4) continue;  // turned weights are others
        const std::string what = std::string(one.name) + " of " + std::to_string(inputs) + " inputs";
        expect((fitting > unused) == one.fits, what + ": quads fit, or fit not, against what is known of them");
        if (!one.fits_not) expect(fitting == (unused + used * (quads / 2 * 2)), what + ": quads that fit are left over");
        if (one.fits_not) expect(fitting < unused + used * quads, what + ": all quads fit");
    }
}

void check_transformer(const LayerKernels& kernels, std::size_t count, std::size_t width, std::size_t inside,
                       std::size_t inner, const std::vector<std::int64_t>& lengths) {
    const auto layer = [](std::size_t outputs, std::size_t inputs) {
        return Packed(numbers(outputs * inputs).data(), outputs, inputs, nullptr);
    };
    const Packed roles = layer(3 * inside, width), joined = layer(width, inside);
    const Packed first = layer(inner, width), second = layer(width, inner);
    const auto weight = numbers(count * width), bias = numbers(count * width);
    h3n::TransformerLayer made;
    made.parts.assign(count, {roles.layer, joined.layer, first.layer, second.layer});
    made.norm = made.outer_norm = {weight.data(), bias.data(), 1e-5F};
    made.heads = 2;
    made.activation = Activation::gelu;
    expect(made.fits(), "the layer fits itself");
    std::size_t rows = 0;
    for (const std::int64_t length : lengths) rows += static_cast<std::size_t>(length);
    const auto given = numbers(rows * count * width);
    auto x = given, plainly = given;
    h3n::run(made, *h3n::supported_layer_kernels().back(), {plainly.data(), count * width}, lengths.data(), lengths.size());
    h3n::run(made, kernels, {x.data(), count * width}, lengths.data(), lengths.size());
    bool finite = true;
    for (const float value : x) finite = finite && std::isfinite(value);
    expect(finite, std::string(kernels.target) + ": a transformer layer gives no numbers");
    expect(x == plainly, std::string(kernels.target) + ": a transformer layer differs from that of the baseline");
}

void check_spans(const LayerKernels& kernels, std::size_t count, std::size_t width, std::size_t outputs) {
    const auto posts = numbers(2 * count * width), pairs = numbers(2 * count * count);
    const auto bias = numbers(width), scale = numbers(width), shift = numbers(width);
    const Packed labels(numbers(outputs * width).data(), outputs, width, nullptr);
    const h3n::Spans spans{posts.data(), pairs.data(), count, width, bias.data(), {scale.data(), shift.data(), 1e-5F},
                           labels.layer};
    std::vector<h3n::Span> cells;
    for (std::size_t sentence = 0; sentence < 2; ++sentence)
        for (std::size_t end = 1; end < count; ++end) cells.push_back({sentence, 0, end});
    std::vector<float> out(cells.size() * outputs), room(h3n::BLOCK * width);
    float* numbers_room = h3n::room_for<float>(h3n::rounding_numbers(labels.layer.depth));
    kernels.score_spans(spans, cells.data(), cells.size(), {out.data(), outputs},
                        h3n::rounded_room(labels.layer.depth, numbers_room), room.data());
    for (std::size_t left_out : {std::size_t{0}, outputs / 2, outputs}) {
        const std::vector<float> row(out.begin(), out.begin() + static_cast<std::ptrdiff_t>(outputs));
        const std::size_t found = kernels.best(row.data(), outputs, left_out);
        bool best = outputs == 1 || found != left_out;
        for (std::size_t n = 0; n < outputs; ++n) best = best && (n == left_out || row[n] <= row[found]);
        expect(best, std::string(kernels.target) + ": the best label is not the best");
    }
}

// Sizes and numbers by chance, infinities and what is not a number among them: whatever comes out, nothing else is touched.
void try_odd_numbers(const LayerKernels& kernels) {
    std::mt19937 random(2);
    const float odd[] = {std::nanf(""), INFINITY, -INFINITY, 3e38F, -3e38F, 1e-40F, 0.0F};
    const auto below = [&](std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random); };
    for (std::size_t round = 0; round < 150; ++round) {
        const std::size_t rows = below(20), inputs = 1 + below(100), outputs = 1 + below(140);
        auto weight = numbers(outputs * inputs), x = numbers(rows * inputs);
        const auto bias = numbers(outputs);
        for (std::size_t changes = below(6); changes > 0 && rows > 0; --changes) x[below(x.size())] = odd[below(7)];
        const Packed packed(weight.data(), outputs, inputs, bias.data());
        std::vector<float> out(rows * outputs);
        float* room = h3n::room_for<float>(h3n::rounding_numbers(packed.layer.depth));
        run_linear(kernels, packed.layer, {x.data(), inputs}, rows, {out.data(), outputs}, Activation::gelu,
                   h3n::rounded_room(packed.layer.depth, room));
        const std::size_t found = rows > 0 ? kernels.best(out.data(), outputs, below(outputs + 1)) : 0;
        expect(found < outputs, std::string(kernels.target) + ": the best label is none");
    }
}

}  // namespace

int main() {
    for (const LayerKernels* kernels : h3n::supported_layer_kernels()) {
        std::printf("%s\n", kernels->target);
        for (const std::size_t inputs : {1, 3, 4, 15, 17, 32, 40, 96, 288})
            for (const std::size_t outputs : {1, 15, 64, 65, 130})
                for (const std::size_t rows : {0, 1, 5, 6, 7, 97}) check_linear(*kernels, rows, inputs, outputs);
        for (const std::size_t inputs : {1, 2, 4, 8, 30, 32, 34, 100, 384})
            for (const std::size_t outputs : {1, 16, 70}) check_limits(*kernels, inputs, outputs);
        check_transformer(*kernels, 1, 32, 32, 70, {5, 0, 1, 17, 140, 3});
        check_transformer(*kernels, 2, 10, 6, 9, {33, 2});
        for (const std::size_t width : {1, 7, 32, 50})
            for (const std::size_t outputs : {1, 3, 16, 75}) check_spans(*kernels, 20, width, outputs);
        try_odd_numbers(*kernels);
    }
    std::printf("%d failures\n", failures);
    return failures == 0 ? 0 : 1;
}
