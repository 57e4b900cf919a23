// The best joint tree in which each span's head is its word of highest head score, the last such word on a tie
// (paper, Algorithm 1): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// row[k] = complete[k] + arc[head[k]]: what the spans that share a start or an end are worth to a new governor. Whole
// vectors; where there is no span yet, complete is NEVER and head is any word but the governor.
inline void rewrite(float* row, const float* complete, const float* arc, const std::int32_t* head, std::size_t first,
                    std::size_t last) {
    for (std::size_t k = aligned(first, WIDTH); k < last; k += WIDTH)
        store(row + k, add(load(complete + k), gather(arc, head + k)));
}

inline void fill_heads(std::int32_t* row, std::size_t count, std::size_t word) {
    for (std::size_t k = 0; k < count; ++k) row[k] = static_cast<std::int32_t>(word);
}

// With H the head of (i, j), a split k <= H pairs the dependent (i, k) with the head side (k, j), a split k > H the
// head side (i, k) with the dependent (k, j):
//     inner(i, j) = max( max over k <= H of complete(i, k) + arc[H][head(i, k)] + open_best(k, j),
//                        max over k >  H of open_best(i, k) + complete(k, j) + arc[H][head(k, j)] )
// H does not depend on k, and it seldom changes from (i, j-1) or (i+1, j) to (i, j): only if j-1 or i is the new head.
// So the dependents' terms are kept ready in rows, `left[i]` and `right[j]`, rewritten when H changes, and the split is
// the loop of `cky`: left[i][k] is the first term of the sum for k <= H and open_best(i, k) beyond, right[j][k] is
// open_best(k, j) for k <= H and the second term beyond.
inline bool h3n(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    const std::size_t n = sentence.words, width = padded(n + 1), size = (n + 1) * width;
    const float* rank = sentence.head;
    float* inner = workspace.take<float>(size);                               // inner[i][j]
    float* right = workspace.take<float>(size);                               // right[j][k]
    float* complete_end = workspace.take<float>(size);                        // complete_end[j][k] = complete(k, j)
    std::int32_t* head_end = workspace.take<std::int32_t>(size);              // head_end[j][k] = head(k, j)
    float* left = workspace.take<float>(STARTS * width);                      // left[i % STARTS][k]
    float* complete = workspace.take<float>(STARTS * width);                  // complete(i, k), by start alike
    std::int32_t* head = workspace.take<std::int32_t>(STARTS * width);        // head(i, k)
    fill(right, size, NEVER);
    fill(complete_end, size, NEVER);
    // Where there is no span yet: a word that never governs the spans of its row, since the arc from a word to itself
    // may be NaN.
    for (std::size_t j = 1; j <= n; ++j) fill_heads(head_end + j * width, width, j - 1);

    const auto begin = [=](std::size_t first, std::size_t after) {
        fill(left, STARTS * width, NEVER);
        fill(complete, STARTS * width, NEVER);
        for (std::size_t i = first; i < after; ++i) fill_heads(head + i % STARTS * width, width, i);
    };
    for_spans(workspace, 1, n, begin, [=](std::size_t i, std::size_t j) {
        const std::size_t row = i % STARTS * width, column = j * width;
        float best = 0.0F, whole = sentence.open[i][j];
        std::size_t top = i;
        if (j > i + 1) {
            const std::size_t before = head[row + j - 1];
            top = rank[j - 1] >= rank[before] ? j - 1 : before;
            if (top == j - 1) rewrite(left + row, complete + row, sentence.arc[top], head + row, i + 1, j);
            if (top == i) rewrite(right + column, complete_end + column, sentence.arc[top], head_end + column, i + 1, j);
            best = best_sum(left + row, right + column, i + 1, j);
            whole = sentence.full[i][j];
        }
        inner[i * width + j] = best;
        left[row + j] = right[column + i] = best + sentence.open[i][j];
        complete[row + j] = complete_end[column + i] = best + whole;
        head[row + j] = head_end[column + i] = static_cast<std::int32_t>(top);
    });
    const std::int32_t root = head_end[n * width];
    if (inner[n] + sentence.full[0][n] + sentence.root[root] == NEVER) return false;
    if (charts != nullptr) *charts = {inner, nullptr, nullptr, head_end, width, 1};

    unfold(sentence, workspace, tree, root, [=](std::size_t i, std::size_t j, std::size_t top) {
        const float* arc = sentence.arc[top];
        const auto open = [=](std::size_t a, std::size_t b) { return inner[a * width + b] + sentence.open[a][b]; };
        const auto governed = [=](std::size_t a, std::size_t b) {
            return complete_end[b * width + a] + arc[head_end[b * width + a]];
        };
        const auto score = [=](std::size_t k) {
            return k <= top ? governed(i, k) + open(k, j) : open(i, k) + governed(k, j);
        };
        const std::size_t k = first_best(i + 1, j, score).at;
        return Split{k, k <= top ? head_end[k * width + i] : head_end[j * width + k]};
    });
    return true;
}

}  // namespace h3n::H3N_TARGET
