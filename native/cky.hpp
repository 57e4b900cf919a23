// The best constituency tree (paper, section III-D): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// best(i, j) = open(i, j) + max over k of best(i, k) + best(k, j); the whole sentence takes `full`.
// Scores are kept by end for all spans and by start for those at work, so that both operands of a split are contiguous.
inline bool cky(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    const std::size_t n = sentence.words, width = padded(n + 1);
    float* by_start = workspace.take<float>(STARTS * width);  // by_start[i % STARTS][k] = best(i, k)
    float* by_end = workspace.take<float>((n + 1) * width);   // by_end[j][k] = best(k, j)
    fill(by_end, (n + 1) * width, NEVER);
    const auto begin = [=](std::size_t, std::size_t) { fill(by_start, STARTS * width, NEVER); };
    for_spans(workspace, 1, n, begin, [=](std::size_t i, std::size_t j) {
        float *row = by_start + i % STARTS * width, *column = by_end + j * width;
        const float inner = j == i + 1 ? 0.0F : best_sum(row, column, i + 1, j);
        row[j] = column[i] = inner + (j - i == n ? sentence.full : sentence.open)[i][j];
    });
    if (by_end[n * width] == NEVER) return false;
    if (charts != nullptr) *charts = {by_end, nullptr, nullptr, nullptr, width, 1};

    unfold(sentence, workspace, tree, NO_HEAD, [=](std::size_t i, std::size_t j, std::size_t) {
        const auto score = [=](std::size_t k) { return by_end[k * width + i] + by_end[j * width + k]; };
        return Split{first_best(i + 1, j, score).at, NO_HEAD};
    });
    return true;
}

}  // namespace h3n::H3N_TARGET
