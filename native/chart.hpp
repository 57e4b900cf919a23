// The two steps every cubic chart decoder shares: a row that is empty so far, and the best split of a span.
#pragma once

#include "sentence.hpp"
#include "simd.hpp"

namespace h3n::H3N_TARGET {

inline void fill(float* row, std::size_t count, float value) {
    const vec all = broadcast(value);
    for (std::size_t k = 0; k < count; k += WIDTH) store(row + k, all);
}

// The maximum over first <= k < last of left[k] + right[k]. Rows are padded; the loop runs over whole vectors, so
// outside the range at least one of the two operands must be NEVER and neither may be NaN.
inline float best_sum(const float* left, const float* right, std::size_t first, std::size_t last) {
    vec best = broadcast(NEVER);
    for (std::size_t k = aligned(first, WIDTH); k < last; k += WIDTH)
        best = max(best, add(load(left + k), load(right + k)));
    return reduce_max(best);
}

// A span on its way down from the best tree; `dependent` if its parent's head lies outside it.
struct Pending {
    std::int32_t start, end, head;
    bool dependent;
};

// Whether a span of the best tree carries a label: the dependent side must, if it is more than one word; otherwise the
// better of label and no label decides, and a tie goes to the label.
inline bool is_labelled(const Sentence& sentence, std::size_t start, std::size_t end, bool must) {
    return must || sentence.full[start][end] >= sentence.open[start][end];
}

}  // namespace h3n::H3N_TARGET
