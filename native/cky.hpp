// The best constituency tree: O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// best(i, j) = open(i, j) + max over k of best(i, k) + best(k, j); the whole sentence takes `full`.
// Scores are kept by end for all spans and by start for those at work, so that both operands of a split are contiguous.
inline bool cky(const Sentence& sentence, Workspace& workspace, Tree& tree) {
    const std::size_t n = sentence.words, width = padded(n + 1);
    float* by_start = workspace.take<float>(STARTS * width);  // by_start[i % STARTS][k] = best(i, k)
    float* by_end = workspace.take<float>((n + 1) * width);   // by_end[j][k] = best(k, j)
    fill(by_end, (n + 1) * width, NEVER);
    const auto begin = [=](std::size_t, std::size_t) { fill(by_start, STARTS * width, NEVER); };
    for_spans(1, n, begin, [=](std::size_t i, std::size_t j) {
        float *row = by_start + i % STARTS * width, *column = by_end + j * width;
        const float inner = j == i + 1 ? 0.0F : best_sum(row, column, i + 1, j);
        row[j] = column[i] = inner + (j - i == n ? sentence.full : sentence.open)[i][j];
    });
    const float top = by_end[n * width];
    if (top == NEVER) return false;

    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    stack[depth++] = {0, static_cast<std::int32_t>(n), NO_HEAD, true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end;
        tree.add(i, j, is_labelled(sentence, i, j, span.dependent), NO_HEAD);
        if (j == i + 1) continue;
        std::size_t split = i + 1;
        float best = NEVER;
        for (std::size_t k = i + 1; k < j; ++k) {
            const float score = by_end[k * width + i] + by_end[j * width + k];
            if (score > best) best = score, split = k;
        }
        const auto k = static_cast<std::int32_t>(split);
        stack[depth++] = {k, span.end, NO_HEAD, false};
        stack[depth++] = {span.start, k, NO_HEAD, false};
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
