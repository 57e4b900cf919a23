// The best projective dependency tree with one root word (Eisner 1996): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// Words i .. j, both included. base(i, j): i and j not yet joined; rightward(i, j): all descend from i;
// leftward(i, j): all descend from j.
//     base(i, j)      = max over i <= k < j of rightward(i, k) + leftward(k+1, j)
//     rightward(i, j) = max over i < k <= j of base(i, k) + arc[i][k] + rightward(k, j)
//     leftward(i, j)  = max over i <= k < j of leftward(i, k) + base(k, j) + arc[j][k]
inline bool eisner(const Sentence& sentence, Workspace& workspace, Tree& tree) {
    const std::size_t n = sentence.words, width = padded(n + 1);
    const Matrix arc = sentence.arc;
    float* base = workspace.take<float>(n * width);           // base[i][j]
    float* leftward = workspace.take<float>(n * width);       // leftward[i][j]
    float* leftward_end = workspace.take<float>(n * width);   // leftward_end[j][k] = leftward(k+1, j)
    float* rightward_end = workspace.take<float>(n * width);  // rightward_end[j][k] = rightward(k, j)
    float* joined_end = workspace.take<float>(n * width);     // joined_end[j][k] = base(k, j) + arc[j][k]
    float* rightward = workspace.take<float>(width);          // rightward[k] = rightward(i, k)
    float* joined = workspace.take<float>(width);             // joined[k] = base(i, k) + arc[i][k]
    fill(leftward, n * width, NEVER);
    fill(leftward_end, n * width, NEVER);
    fill(rightward_end, n * width, NEVER);
    fill(joined_end, n * width, NEVER);

    for (std::size_t i = n; i-- > 0;) {
        float* leftward_i = leftward + i * width;
        fill(rightward, width, NEVER);
        fill(joined, width, NEVER);
        rightward[i] = leftward_i[i] = rightward_end[i * width + i] = 0.0F;
        if (i > 0) leftward_end[i * width + i - 1] = 0.0F;
        for (std::size_t j = i + 1; j < n; ++j) {
            const std::size_t end = j * width;
            const float between = best_sum(rightward, leftward_end + end, i, j);
            base[i * width + j] = between;
            joined[j] = between + arc[i][j];
            joined_end[end + i] = between + arc[j][i];
            rightward[j] = rightward_end[end + i] = best_sum(joined, rightward_end + end, i + 1, j + 1);
            leftward_i[j] = best_sum(leftward_i, joined_end + end, i, j);
            if (i > 0) leftward_end[end + i - 1] = leftward_i[j];
        }
    }

    std::size_t root = 0;
    float top = NEVER;
    for (std::size_t r = 0; r < n; ++r) {
        const float score = leftward[r] + rightward_end[(n - 1) * width + r] + sentence.root[r];
        if (score > top) top = score, root = r;
    }
    if (top == NEVER) return false;

    enum Kind : std::int32_t { BASE, RIGHTWARD, LEFTWARD };
    struct Item {
        std::int32_t kind;
        std::size_t i, j;
    };
    Item* stack = workspace.take<Item>(2 * n + 2);
    std::size_t depth = 0;
    tree.governors[root] = ROOT;
    stack[depth++] = {LEFTWARD, 0, root};
    stack[depth++] = {RIGHTWARD, root, n - 1};
    while (depth > 0) {
        const Item item = stack[--depth];
        const std::size_t i = item.i, j = item.j;
        if (i == j) continue;
        std::size_t split = i;
        float best = NEVER;
        const auto better = [&](float score, std::size_t k) {
            if (score > best) best = score, split = k;
        };
        if (item.kind == BASE) {
            for (std::size_t k = i; k < j; ++k) better(rightward_end[k * width + i] + leftward_end[j * width + k], k);
            stack[depth++] = {RIGHTWARD, i, split};
            stack[depth++] = {LEFTWARD, split + 1, j};
        } else if (item.kind == RIGHTWARD) {
            split = j;
            for (std::size_t k = i + 1; k <= j; ++k)
                better(base[i * width + k] + arc[i][k] + rightward_end[j * width + k], k);
            tree.governors[split] = static_cast<std::int32_t>(i);
            stack[depth++] = {BASE, i, split};
            stack[depth++] = {RIGHTWARD, split, j};
        } else {
            for (std::size_t k = i; k < j; ++k) better(leftward[i * width + k] + joined_end[j * width + k], k);
            tree.governors[split] = static_cast<std::int32_t>(j);
            stack[depth++] = {LEFTWARD, i, split};
            stack[depth++] = {BASE, split, j};
        }
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
