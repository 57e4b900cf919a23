// What owns the memory that `Int8` points into, and which kernels there are.
#pragma once

#include <vector>

#include "layers.hpp"

namespace h3n {

// The kernels this machine can run, best first.
const std::vector<const LayerKernels*>& supported_layer_kernels();

class Packed {
  public:
    // `weight` is (outputs, inputs), of finite numbers; `bias` may be null. The order of quads takes time to find.
    Packed(const float* weight, std::size_t outputs, std::size_t inputs, const float* bias, bool in_order = true);
    Packed(const Packed&) = delete;
    Packed& operator=(const Packed&) = delete;

    Int8 layer;

  private:
    void round_weights(const float* weight);
    void order_quads();

    // Where a line of the caches begins, the weights of a panel for a quad begin: no load takes two lines.
    struct alignas(PANEL * QUAD) Line {
        std::int8_t weights[PANEL * QUAD];
    };
    std::vector<Line> lines_;
    std::vector<std::uint32_t> order_, fitting_;
    std::vector<std::int32_t> sums_;
    std::vector<float> scales_, totals_, bias_;
};

// Memory for one call, kept for the next one of the same thread.
template <class Value>
Value* room_for(std::size_t count) {
    thread_local std::vector<Value> kept;
    if (kept.size() < count) kept.resize(count);
    return kept.data();
}

// Room for rounding rows; of `numbers` it takes rounding_numbers(depth).
inline std::size_t rounding_numbers(std::size_t depth) { return 2 * BLOCK + depth; }
inline Rounded rounded_room(std::size_t depth, float* numbers) {
    return {room_for<std::uint8_t>(BLOCK * depth), numbers, numbers + BLOCK, numbers + 2 * BLOCK};
}

}  // namespace h3n
