// A whole layer of a transformer, made of the kernels.
#pragma once

#include <vector>

#include "layers.hpp"

namespace h3n {

// Attention, then two linear layers, each step added to its input and normed. A row has one or more parts of equal
// width, side by side, which meet only in the scores of attention and in the norms.
struct TransformerLayer {
    struct Part {
        Int8 roles;  // queries, keys and values, one after the other
        Int8 joined, inner, outer;
    };
    std::vector<Part> parts;
    Norm norm, outer_norm;
    std::size_t heads = 1;
    Activation activation = Activation::none;
    const float* by_distance = nullptr;  // as in Heads
    std::size_t reach = 0;

    std::size_t width() const { return parts.size() * parts.front().roles.inputs; }
    bool fits() const;  // whether the sizes agree with each other
};

// Run the layer on the rows of all sentences, in place.
void run(const TransformerLayer& layer, const LayerKernels& kernels, Table<float> x, const std::int64_t* lengths,
         std::size_t sentences);

}  // namespace h3n
