// The best projective dependency tree with one root word (Eisner 1996): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// Words i .. j, both included. base(i, j): i and j not yet joined; rightward(i, j): all descend from i;
// leftward(i, j): all descend from j.
//     base(i, j)      = max over i <= k < j of rightward(i, k) + leftward(k+1, j)
//     rightward(i, j) = max over i < k <= j of base(i, k) + arc[i][k] + rightward(k, j)
//     leftward(i, j)  = max over i <= k < j of leftward(i, k) + base(k, j) + arc[j][k]
inline bool eisner(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* found) {
    const std::size_t n = sentence.words, width = padded(n + 1) + PADDING, size = n * width;
    const Matrix arc = sentence.arc;
    float* joined = workspace.take<float>(size);         // joined[i][k] = base(i, k) + arc[i][k]
    float* joined_end = workspace.take<float>(size);     // joined_end[j][k] = base(k, j) + arc[j][k]
    float* rightward_end = workspace.take<float>(size);  // rightward_end[j][k] = rightward(k, j)
    float* leftward_end = workspace.take<float>(size) + PADDING;  // leftward_end[j][k] = leftward(k+1, j), k >= -1,
    float* leftward_from = leftward_end - 1;                      // so leftward_from[j][i] = leftward(i, j)
    float* rightward = workspace.take<float>(STARTS * width);  // rightward[i % STARTS][k] = rightward(i, k)
    float* leftward = workspace.take<float>(STARTS * width);   // leftward(i, k) alike
    float* charts[] = {joined, joined_end, rightward_end, leftward_end - PADDING};
    for (float* chart : charts) fill(chart, size, NEVER);
    for (std::size_t i = 0; i < n; ++i) rightward_end[i * width + i] = leftward_from[i * width + i] = 0.0F;

    const auto begin = [=](std::size_t first, std::size_t after) {
        fill(rightward, STARTS * width, NEVER);
        fill(leftward, STARTS * width, NEVER);
        for (std::size_t i = first; i < after; ++i) {
            const std::size_t itself = i % STARTS * width + i;
            rightward[itself] = leftward[itself] = 0.0F;
        }
    };
    for_spans(workspace, 1, n - 1, begin, [=](std::size_t i, std::size_t j) {
        const std::size_t row = i % STARTS * width, column = j * width;
        const float between = best_sum(rightward + row, leftward_end + column, i, j);
        const float from_left = between + arc[i][j], from_right = between + arc[j][i];
        // The arc between i and j themselves is the split next to an empty side; it is not in the rows yet.
        const float right = greater(from_left, best_sum(joined + i * width, rightward_end + column, i + 1, j));
        const float left = greater(from_right, best_sum(leftward + row, joined_end + column, i + 1, j));
        joined[i * width + j] = from_left;
        joined_end[column + i] = from_right;
        rightward[row + j] = rightward_end[column + i] = right;
        leftward[row + j] = leftward_from[column + i] = left;
    });

    const Best root = first_best(0, n, [=](std::size_t r) {
        return leftward_from[r * width] + rightward_end[(n - 1) * width + r] + sentence.root[r];
    });
    if (root.score == NEVER) return false;
    if (found != nullptr) *found = {joined, rightward_end, leftward_from, nullptr, width, 1};

    enum Kind : std::int32_t { BASE, RIGHTWARD, LEFTWARD };
    struct Item {
        std::int32_t kind;
        std::size_t i, j;
    };
    Item* stack = workspace.take<Item>(2 * n + 4);
    std::size_t depth = 0;
    tree.governors[root.at] = ROOT;
    stack[depth++] = {LEFTWARD, 0, root.at};
    stack[depth++] = {RIGHTWARD, root.at, n - 1};
    while (depth > 0) {
        const Item item = stack[--depth];
        const std::size_t i = item.i, j = item.j;
        if (i == j) continue;
        if (item.kind == BASE) {
            const auto score = [=](std::size_t k) { return rightward_end[k * width + i] + leftward_end[j * width + k]; };
            const std::size_t k = first_best(i, j, score).at;
            stack[depth++] = {RIGHTWARD, i, k};
            stack[depth++] = {LEFTWARD, k + 1, j};
        } else if (item.kind == RIGHTWARD) {
            const auto score = [=](std::size_t k) { return joined[i * width + k] + rightward_end[j * width + k]; };
            const std::size_t k = first_best(i + 1, j + 1, score).at;
            tree.governors[k] = static_cast<std::int32_t>(i);
            stack[depth++] = {BASE, i, k};
            stack[depth++] = {RIGHTWARD, k, j};
        } else {
            const auto score = [=](std::size_t k) { return leftward_from[k * width + i] + joined_end[j * width + k]; };
            const std::size_t k = first_best(i, j, score).at;
            tree.governors[k] = static_cast<std::int32_t>(j);
            stack[depth++] = {LEFTWARD, i, k};
            stack[depth++] = {BASE, k, j};
        }
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
