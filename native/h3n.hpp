// The best joint tree in which each span's head is its word of highest head score, the last such word on a tie
// (paper, Algorithm 1): O(n^3) time, O(n^2) memory.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// row[k] = complete[k] + arc[head[k]]: what the spans that share a start or an end are worth to a new governor. Whole
// vectors; where there is no span yet, complete is NEVER and head is any word.
inline void rewrite(float* row, const float* complete, const float* arc, const std::int32_t* head, std::size_t first,
                    std::size_t last) {
    for (std::size_t k = aligned(first, WIDTH); k < last; k += WIDTH)
        store(row + k, add(load(complete + k), gather(arc, head + k)));
}

// With H the head of (i, j), a split k <= H pairs the dependent (i, k) with the head side (k, j), a split k > H the
// head side (i, k) with the dependent (k, j):
//     inner(i, j) = max( max over k <= H of complete(i, k) + arc[H][head(i, k)] + open_best(k, j),
//                        max over k >  H of open_best(i, k) + complete(k, j) + arc[H][head(k, j)] )
// H does not depend on k, and it seldom changes from (i, j-1) or (i+1, j) to (i, j): only if j-1 or i is the new head.
// So the dependents' terms are kept ready in rows, `left[i]` and `right[j]`, rewritten when H changes, and the split is
// the loop of `cky`: left[i][k] is the first term of the sum for k <= H and open_best(i, k) beyond, right[j][k] is
// open_best(k, j) for k <= H and the second term beyond.
inline bool h3n(const Sentence& sentence, Workspace& workspace, Tree& tree) {
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
    for (std::size_t cell = 0; cell < size; ++cell) head_end[cell] = 0;

    const auto begin = [=](std::size_t, std::size_t) {
        fill(left, STARTS * width, NEVER);
        fill(complete, STARTS * width, NEVER);
        for (std::size_t cell = 0; cell < STARTS * width; ++cell) head[cell] = 0;
    };
    for_spans(1, n, begin, [=](std::size_t i, std::size_t j) {
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
    const auto root = static_cast<std::size_t>(head_end[n * width]);
    if (inner[n] + sentence.full[0][n] + sentence.root[root] == NEVER) return false;

    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    tree.governors[root] = ROOT;
    stack[depth++] = {0, static_cast<std::int32_t>(n), static_cast<std::int32_t>(root), true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end, top = span.head;
        const bool must = span.dependent && (j > i + 1 || n == 1);
        tree.add(i, j, is_labelled(sentence, i, j, must), span.head);
        if (j == i + 1) continue;
        const auto open = [&](std::size_t a, std::size_t b) { return inner[a * width + b] + sentence.open[a][b]; };
        const float* arc = sentence.arc[top];
        std::size_t split = i + 1;
        float best = NEVER;
        for (std::size_t k = i + 1; k < j; ++k) {
            const float score =
                k <= top ? complete_end[k * width + i] + arc[head_end[k * width + i]] + open(k, j)
                         : open(i, k) + (complete_end[j * width + k] + arc[head_end[j * width + k]]);
            if (score > best) best = score, split = k;
        }
        const auto k = static_cast<std::int32_t>(split);
        const bool from_left = split > top;  // the head side is the left one
        const std::int32_t dependent = from_left ? head_end[j * width + split] : head_end[split * width + i];
        tree.governors[dependent] = span.head;
        stack[depth++] = {k, span.end, from_left ? dependent : span.head, from_left};
        stack[depth++] = {span.start, k, from_left ? span.head : dependent, !from_left};
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
