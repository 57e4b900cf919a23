// The best joint tree, exact: O(n^4) time by a chart of vectors, O(n^3) memory.
//
// chart(i, j)[h], for every word h, is the best score of span (i, j) as seen from head h. For h inside: the best
// subtree of (i, j) headed by h, labelled or not. For h outside: the best subtree that h may govern, that is, the
// maximum over the words m inside of a labelled subtree headed by m (one word: labelled or not) plus arc[h][m]. Then
//     inner(i, j)[h] = max over i < k < j of chart(i, k)[h] + chart(k, j)[h]      for h inside
// whichever side of the split h is on: CKY over vectors. The n^2 pairs of heads per split are gone because the maximum
// over the dependent's head m was taken once per span and governor, not once per split.
//
// Both steps are products of matrices with max for plus and plus for times, and are blocked as such: TILE x TILE spans
// at a time share what they load and keep their maxima in registers.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

namespace hpsg_parts {

constexpr std::size_t TILE = 4;
constexpr std::size_t TILE_COLUMNS = REGISTERS >= 32 ? 4 : 2;  // the part of a tile whose maxima fit the registers
constexpr std::size_t VECTORS = REGISTERS >= 32 ? 4 : 2;       // the same for `govern`, whose rows are up to TILE spans

struct Chart {
    std::size_t n, fenceposts, width;
    float* cells;         // (n+1) x (n+1) rows of `width`: above the diagonal [i][j], by start; below [j][i], by end
    const float* arc_to;  // arc_to[m][h] = arc[h][m], padded with NEVER
    // The row of a span comes twice, so that for a given start all ends lie together and the other way round.
    float* operator()(std::size_t a, std::size_t b) const { return cells + (a * fenceposts + b) * width; }
};

// inner = max(inner, chart(i, k) + chart(k, j)) over from <= k < to, for the heads inside (i, j), in whole vectors.
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

// The same for all spans of a tile at once, over the splits that lie between its starts and its ends. Starts and ends
// past the last fencepost are taken for the last one; nobody looks at what comes of them.
inline void split_tile(const Chart& chart, std::size_t start, std::size_t end, float* inner) {
    const std::size_t from = start + TILE, to = end, last = chart.n, width = chart.width;
    const std::size_t stop = end + TILE - 1 < last ? end + TILE - 1 : last;
    for (std::size_t h = aligned(start, WIDTH); h < stop; h += WIDTH)
        for (std::size_t half = 0; half < TILE; half += TILE_COLUMNS) {
            const float *left[TILE], *right[TILE_COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r) left[r] = chart(start + r, from) + h;
            for (std::size_t c = 0; c < TILE_COLUMNS; ++c) {
                const std::size_t j = end + half + c;
                right[c] = chart(j < last ? j : last, from) + h;
            }
            vec best[TILE][TILE_COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < TILE_COLUMNS; ++c) best[r][c] = broadcast(NEVER);
            for (std::size_t k = 0; k < (to - from) * width; k += width) {
                vec ends[TILE_COLUMNS];
                for (std::size_t c = 0; c < TILE_COLUMNS; ++c) ends[c] = load(right[c] + k);
                for (std::size_t r = 0; r < TILE; ++r) {
                    const vec starts = load(left[r] + k);
                    for (std::size_t c = 0; c < TILE_COLUMNS; ++c) best[r][c] = max(best[r][c], add(starts, ends[c]));
                }
            }
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < TILE_COLUMNS; ++c)
                    store(inner + (r * TILE + half + c) * width + h, best[r][c]);
        }
}

struct Span {
    std::size_t i, j;
    const float* inner;
    float open, complete;  // what its label adds as head side and as dependent
};

// Fills both copies of chart(i, j) from inner(i, j) for COUNT spans whose words overlap but for a few at either end:
// all are taken over the words from the first start to the last end, where inner is NEVER outside the span itself.
template <std::size_t COUNT>
inline void govern(const Chart& chart, const Span* spans) {
    const std::size_t first = spans[0].i, last = spans[COUNT - 1].j, width = chart.width;
    const std::size_t inside = spans[COUNT - 1].i, until = spans[0].j;  // the words that all spans share
    for (std::size_t h = 0; h < width;) {
        if (h >= inside && h + WIDTH <= until) {  // no governor here is outside any of the spans
            for (std::size_t s = 0; s < COUNT; ++s) {
                const vec row = add(load(spans[s].inner + h), broadcast(spans[s].open));
                store(chart(spans[s].i, spans[s].j) + h, row);
                store(chart(spans[s].j, spans[s].i) + h, row);
            }
            h += WIDTH;
            continue;
        }
        const std::size_t vectors = h + VECTORS * WIDTH <= width && !(h + VECTORS * WIDTH > inside && h < inside) ? VECTORS : 1;
        vec best[COUNT][VECTORS];
        for (std::size_t s = 0; s < COUNT; ++s)
            for (std::size_t v = 0; v < VECTORS; ++v) best[s][v] = broadcast(NEVER);
        const float* arcs = chart.arc_to + first * width + h;
        if (vectors == VECTORS) {
            for (std::size_t m = first; m < last; ++m, arcs += width)
                for (std::size_t s = 0; s < COUNT; ++s) {
                    const vec score = broadcast(spans[s].inner[m]);
                    for (std::size_t v = 0; v < VECTORS; ++v)
                        best[s][v] = max(best[s][v], add(score, load(arcs + v * WIDTH)));
                }
        } else {
            for (std::size_t m = first; m < last; ++m, arcs += width) {
                const vec arc = load(arcs);
                for (std::size_t s = 0; s < COUNT; ++s)
                    best[s][0] = max(best[s][0], add(broadcast(spans[s].inner[m]), arc));
            }
        }
        for (std::size_t s = 0; s < COUNT; ++s)
            for (std::size_t v = 0; v < vectors; ++v) {
                const auto at = static_cast<std::ptrdiff_t>(h + v * WIDTH);
                const vec row = between(static_cast<std::ptrdiff_t>(spans[s].i) - at,
                                        static_cast<std::ptrdiff_t>(spans[s].j) - at,
                                        add(load(spans[s].inner + at), broadcast(spans[s].open)),
                                        add(best[s][v], broadcast(spans[s].complete)));
                store(chart(spans[s].i, spans[s].j) + at, row);
                store(chart(spans[s].j, spans[s].i) + at, row);
            }
        h += vectors * WIDTH;
    }
}

inline void govern(const Chart& chart, const Span* spans, std::size_t count) {
    switch (count) {
        case 1: return govern<1>(chart, spans);
        case 2: return govern<2>(chart, spans);
        case 3: return govern<3>(chart, spans);
        default: return govern<4>(chart, spans);
    }
}

// Fills the chart for all spans whose start and end lie in two blocks of TILE fenceposts. `inner` holds a row per span.
inline void fill_tile(const Chart& chart, const Sentence& sentence, std::size_t start, std::size_t end, float* inner) {
    const std::size_t last = chart.n, width = chart.width;
    fill(inner, TILE * TILE * width, NEVER);
    if (start + TILE < end) split_tile(chart, start, end, inner);
    // Left are the splits inside the two blocks. Spans of one length do not need each other.
    const std::size_t top = end + TILE - 1 < last ? end + TILE - 1 : last;
    for (std::size_t length = end > start ? end - start - (TILE - 1) : 1; length <= top - start; ++length) {
        Span spans[TILE];
        std::size_t count = 0;
        for (std::size_t r = 0; r < TILE; ++r) {
            const std::size_t i = start + r, j = i + length;
            if (j < end || j > top) continue;
            float* row = inner + (r * TILE + (j - end)) * width;
            const float open = sentence.open[i][j];
            float complete = open;
            if (length == 1) {
                row[i] = 0.0F;
            } else {
                complete = sentence.full[i][j];
                const std::size_t middle = start + TILE < j ? start + TILE : j;
                split(chart, i, j, i + 1, middle, row);
                if (end > start) split(chart, i, j, end > middle ? end : middle, j, row);
            }
            for (std::size_t h = aligned(start, WIDTH); h < i; ++h) row[h] = NEVER;
            for (std::size_t h = j; h < padded(top) && h < width; ++h) row[h] = NEVER;
            spans[count++] = {i, j, row, open, complete};
        }
        if (count > 0) govern(chart, spans, count);
    }
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
    float* inner = workspace.take<float>(TILE * TILE * width);
    for (std::size_t end = 0; end <= n; end += TILE)
        for (std::size_t start = end + TILE; start >= TILE;) {
            start -= TILE;
            fill_tile(chart, sentence, start, end, inner);
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
