// The best joint tree, exact: O(n^4) time by a chart of vectors, O(n^3) memory.
//
// chart(i, j)[h], for every word h, is the best score of span (i, j) as seen from head h. For h inside: the best
// subtree of (i, j) headed by h, labelled or not. For h outside: the best subtree that h may govern, that is, the
// maximum over the words m inside of a labelled subtree headed by m (one word: labelled or not) plus arc[h][m]. Then
//     inner(i, j)[h] = max over i < k < j of chart(i, k)[h] + chart(k, j)[h]      for h inside
// whichever side of the split h is on: CKY over vectors. The n^2 pairs of heads per split are gone because the maximum
// over the dependent's head m was taken once per span and governor, not once per split.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

namespace hpsg_parts {

struct Chart {
    std::size_t n, fenceposts, width;
    float* cells;        // (n+1) x (n+1) rows of `width`: above the diagonal [i][j], by start; below [j][i], by end.
    const float* arc_to; // arc_to[m][h] = arc[h][m], padded with NEVER
    // The same row of a span comes twice, so that for a given start all ends lie together and the other way round.
    float* operator()(std::size_t a, std::size_t b) const { return cells + (a * fenceposts + b) * width; }
};

// inner(i, j)[h] for all h from `first` to `last`, whole vectors.
inline void split(const Chart& chart, std::size_t i, std::size_t j, std::size_t from, std::size_t to, float* inner) {
    for (std::size_t h = aligned(i, WIDTH); h < j; h += WIDTH) {
        vec best = load(inner + h);
        const float* left = chart(i, from) + h;
        const float* right = chart(j, from) + h;
        for (std::size_t k = from; k < to; ++k, left += chart.width, right += chart.width)
            best = max(best, add(load(left), load(right)));
        store(inner + h, best);
    }
}

// Fills both copies of chart(i, j) from inner(i, j), for more than one word.
inline void finish(const Chart& chart, std::size_t i, std::size_t j, const float* inner, float open, float full) {
    float* row = chart(i, j);
    for (std::size_t h = 0; h < chart.width; h += WIDTH) {
        vec best = broadcast(NEVER);
        if (h < i || h + WIDTH > j)
            for (std::size_t m = i; m < j; ++m)
                best = max(best, add(broadcast(inner[m]), load(chart.arc_to + m * chart.width + h)));
        store(row + h, add(best, broadcast(full)));
    }
    for (std::size_t h = i; h < j; ++h) row[h] = inner[h] + open;
    float* copy = chart(j, i);
    for (std::size_t h = 0; h < chart.width; h += WIDTH) store(copy + h, load(row + h));
}

}  // namespace hpsg_parts

inline bool hpsg(const Sentence& sentence, Workspace& workspace, Tree& tree) {
    using namespace hpsg_parts;
    const std::size_t n = sentence.words, width = padded(n);
    float* arc_to = workspace.take<float>(n * width);
    for (std::size_t m = 0; m < n; ++m) {
        for (std::size_t h = 0; h < n; ++h) arc_to[m * width + h] = h == m ? NEVER : sentence.arc[h][m];
        for (std::size_t h = n; h < width; ++h) arc_to[m * width + h] = NEVER;
    }
    const Chart chart{n, n + 1, width, workspace.take<float>((n + 1) * (n + 1) * width), arc_to};
    float* inner = workspace.take<float>(width);

    for (std::size_t j = 1; j <= n; ++j)
        for (std::size_t i = j; i-- > 0;) {
            const float open = sentence.open[i][j];
            fill(inner, width, NEVER);
            if (j == i + 1)
                inner[i] = 0.0F;
            else
                split(chart, i, j, i + 1, j, inner);
            finish(chart, i, j, inner, open, j == i + 1 ? open : sentence.full[i][j]);
        }

    const auto redo = [&](std::size_t i, std::size_t j) {
        fill(inner, width, NEVER);
        if (j == i + 1)
            inner[i] = 0.0F;
        else
            split(chart, i, j, i + 1, j, inner);
    };
    redo(0, n);
    std::int32_t root = 0;
    float top = NEVER;
    for (std::size_t h = 0; h < n; ++h) {
        const float score = inner[h] + sentence.full[0][n] + sentence.root[h];
        if (score > top) top = score, root = static_cast<std::int32_t>(h);
    }
    if (top == NEVER) return false;

    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    tree.governors[root] = ROOT;
    stack[depth++] = {0, static_cast<std::int32_t>(n), root, true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end, head = span.head;
        tree.add(i, j, is_labelled(sentence, i, j, span.dependent && (j > i + 1 || n == 1)), span.head);
        if (j == i + 1) continue;
        std::size_t best_k = i + 1;
        float best = NEVER;
        for (std::size_t k = i + 1; k < j; ++k) {
            const float score = chart(i, k)[head] + chart(j, k)[head];
            if (score > best) best = score, best_k = k;
        }
        const bool left = head < best_k;  // the head side
        const std::size_t first = left ? best_k : i, last = left ? j : best_k;
        redo(first, last);
        std::size_t dependent = first;
        best = NEVER;
        for (std::size_t m = first; m < last; ++m) {
            const float score = inner[m] + sentence.arc[head][m];
            if (score > best) best = score, dependent = m;
        }
        const auto k = static_cast<std::int32_t>(best_k), m = static_cast<std::int32_t>(dependent);
        tree.governors[m] = span.head;
        stack[depth++] = {k, span.end, left ? m : span.head, left};
        stack[depth++] = {span.start, k, left ? span.head : m, !left};
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
