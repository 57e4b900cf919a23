// The best joint tree in which each span's head is its word of highest head score, the last such word on a tie
// (paper, Algorithm 1): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// With H the head of (i, j), a split k <= H pairs the dependent (i, k) with the head side (k, j), a split k > H the
// head side (i, k) with the dependent (k, j):
//     inner(i, j) = max( max over k <= H of complete(i, k) + arc[H][head(i, k)] + open_best(k, j),
//                        max over k >  H of open_best(i, k) + complete(k, j) + arc[H][head(k, j)] )
// H does not depend on k, and it seldom changes from (i, j) to (i, j+1) or to (i-1, j). So the dependents' terms are
// kept ready in the two rows `left` and `right[j]`, rewritten when H changes, and the split is the loop of `cky`.
inline bool h3n(const Sentence& sentence, Workspace& workspace, Tree& tree) {
    const std::size_t n = sentence.words, width = padded(n + 1);
    const float* rank = sentence.head;
    float* inner = workspace.take<float>((n + 1) * width);              // inner[i][j]
    float* right = workspace.take<float>((n + 1) * width);              // right[j][k], k > i
    float* complete_end = workspace.take<float>((n + 1) * width);       // complete_end[j][k] = complete(k, j)
    std::int32_t* head_end = workspace.take<std::int32_t>((n + 1) * width);  // head_end[j][k] = head(k, j)
    float* left = workspace.take<float>(width);                         // left[k], k < j
    float* complete = workspace.take<float>(width);                     // complete[k] = complete(i, k)
    std::int32_t* heads = workspace.take<std::int32_t>(width);          // heads[k] = head(i, k)
    fill(right, (n + 1) * width, NEVER);

    for (std::size_t i = n; i-- > 0;) {
        fill(left, width, NEVER);
        std::size_t head = i;
        for (std::size_t j = i + 1; j <= n; ++j) {
            float* right_j = right + j * width;
            float* complete_j = complete_end + j * width;
            std::int32_t* head_j = head_end + j * width;
            if (rank[j - 1] >= rank[head] && j - 1 != head) {
                head = j - 1;
                const float* arc = sentence.arc[head];
                for (std::size_t k = i + 1; k < j; ++k) left[k] = complete[k] + arc[heads[k]];
            }
            float best = 0.0F;
            if (j > i + 1) {
                if (head == i) {
                    const float* arc = sentence.arc[head];
                    for (std::size_t k = i + 1; k < j; ++k) right_j[k] = complete_j[k] + arc[head_j[k]];
                }
                best = best_sum(left, right_j, i + 1, j);
            }
            const float open = best + sentence.open[i][j];
            inner[i * width + j] = best;
            left[j] = open;
            right_j[i] = open;
            complete[j] = complete_j[i] = j == i + 1 ? open : best + sentence.full[i][j];
            heads[j] = head_j[i] = static_cast<std::int32_t>(head);
        }
    }
    const auto root = static_cast<std::size_t>(head_end[n * width]);
    if (inner[n] + sentence.full[0][n] + sentence.root[root] == NEVER) return false;

    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    tree.governors[root] = ROOT;
    stack[depth++] = {0, static_cast<std::int32_t>(n), static_cast<std::int32_t>(root), true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end, head = span.head;
        const bool must = span.dependent && (j > i + 1 || n == 1);
        tree.add(i, j, is_labelled(sentence, i, j, must), span.head);
        if (j == i + 1) continue;
        const auto open = [&](std::size_t a, std::size_t b) { return inner[a * width + b] + sentence.open[a][b]; };
        const float* arc = sentence.arc[head];
        std::size_t split = i + 1;
        float best = NEVER;
        for (std::size_t k = i + 1; k < j; ++k) {
            const float score =
                k <= head ? complete_end[k * width + i] + arc[head_end[k * width + i]] + open(k, j)
                          : open(i, k) + (complete_end[j * width + k] + arc[head_end[j * width + k]]);
            if (score > best) best = score, split = k;
        }
        const auto k = static_cast<std::int32_t>(split);
        const bool from_left = split > head;  // the head side is the left one
        const std::int32_t dependent = from_left ? head_end[j * width + split] : head_end[split * width + i];
        tree.governors[dependent] = span.head;
        stack[depth++] = {k, span.end, from_left ? dependent : span.head, from_left};
        stack[depth++] = {span.start, k, from_left ? span.head : dependent, !from_left};
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
