// The best joint tree, exact (paper, equation 3): O(n^4) time by a chart of vectors, O(n^3) memory.
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
constexpr std::size_t SPANS = TILE * TILE;
constexpr std::size_t TURNS = 4;   // blocks of ends that take turns at a block of starts
constexpr std::size_t SHORT = 32;  // heads so few that putting the outside ones off gains nothing
constexpr std::size_t MAXIMA = REGISTERS / 2;  // how many are kept in registers at a time

struct Chart {
    std::size_t n, fenceposts, width, vectors;
    float* cells;
    float* arc_from;  // arc_from[h][m] = arc[h][m], padded with NEVER
    float* arc_to;    // arc_to[m][h] = arc[h][m], alike
    // WIDTH neighbouring heads of a span. They come twice: chart(i, v, j), by start, and chart(j, v, i), by end. For
    // a given start or end and given heads all spans lie side by side, which is the order `split` goes through them.
    // What no split can ask for is not there: by start heads left of the span, by end heads right of it.
    float* operator()(std::size_t a, std::size_t vector, std::size_t b) const {
        return cells + ((a * vectors + vector) * fenceposts + b) * WIDTH;
    }
    float at(std::size_t a, std::size_t b, std::size_t head) const {
        return (*this)(a, head / WIDTH, b)[head % WIDTH];
    }
};

// inner = max(inner, chart(i, k) + chart(k, j)) over from <= k < to, for the heads inside (i, j), in whole vectors.
inline void split(const Chart& chart, std::size_t i, std::size_t j, std::size_t from, std::size_t to, float* inner) {
    if (from >= to) return;
    for (std::size_t v = i / WIDTH; v * WIDTH < j; ++v) {
        const float *left = chart(i, v, 0), *right = chart(j, v, 0);
        vec best = load(inner + v * WIDTH);
        for (std::size_t k = from * WIDTH; k < to * WIDTH; k += WIDTH)
            best = max(best, add(load(left + k), load(right + k)));
        store(inner + v * WIDTH, best);
    }
}

// The same for all spans of a tile at once, over the splits between the block of starts and the block of ends. Ends
// past the last fencepost are taken for the last one; nobody looks at what comes of them.
inline void split_tile(const Chart& chart, std::size_t start, std::size_t end, float* inner) {
    constexpr std::size_t COLUMNS = MAXIMA / TILE;
    const std::size_t last = chart.n, first = (start + TILE) * WIDTH;
    for (std::size_t v = start / WIDTH; v * WIDTH < end + TILE - 1 && v < chart.vectors; ++v)
        for (std::size_t column = 0; column < TILE; column += COLUMNS) {
            const float *left[TILE], *right[COLUMNS];
            vec best[TILE][COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r) left[r] = chart(start + r, v, 0);
            for (std::size_t c = 0; c < COLUMNS; ++c) {
                const std::size_t j = end + column + c;
                right[c] = chart(j < last ? j : last, v, 0);
            }
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c) best[r][c] = broadcast(NEVER);
            for (std::size_t k = first; k < end * WIDTH; k += WIDTH) {
                vec ends[COLUMNS];
                for (std::size_t c = 0; c < COLUMNS; ++c) ends[c] = load(right[c] + k);
                for (std::size_t r = 0; r < TILE; ++r) {
                    const vec starts = load(left[r] + k);
                    for (std::size_t c = 0; c < COLUMNS; ++c) best[r][c] = max(best[r][c], add(starts, ends[c]));
                }
            }
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c)
                    store(inner + (r * TILE + column + c) * chart.width + v * WIDTH, best[r][c]);
        }
}

// A span of the tile at work; `inner` is NEVER outside the span.
struct Span {
    std::size_t i, j;
    const float* inner;
    float open, complete;  // what its label adds as head side and as dependent
};

// Fills the chart with the spans as seen from heads outside them: COUNT spans and VECTORS vectors of heads at a time.
// The words of all spans lie between `first` and `last`. Heads inside a span get what belongs there.
template <std::size_t COUNT, std::size_t VECTORS>
inline void govern(const Chart& chart, const Span* spans, std::size_t vector, std::size_t first, std::size_t last) {
    vec best[COUNT][VECTORS];
    for (std::size_t s = 0; s < COUNT; ++s)
        for (std::size_t v = 0; v < VECTORS; ++v) best[s][v] = broadcast(NEVER);
    const float* arcs = chart.arc_to + first * chart.width + vector * WIDTH;
    for (std::size_t m = first; m < last; ++m, arcs += chart.width) {
        vec arc[VECTORS];
        for (std::size_t v = 0; v < VECTORS; ++v) arc[v] = load(arcs + v * WIDTH);
        for (std::size_t s = 0; s < COUNT; ++s) {
            const vec score = broadcast(spans[s].inner[m]);
            for (std::size_t v = 0; v < VECTORS; ++v) best[s][v] = max(best[s][v], add(score, arc[v]));
        }
    }
    for (std::size_t s = 0; s < COUNT; ++s)
        for (std::size_t v = 0; v < VECTORS; ++v) {
            const Span& span = spans[s];
            const std::size_t low = (vector + v) * WIDTH;
            const vec row = between(static_cast<std::ptrdiff_t>(span.i) - static_cast<std::ptrdiff_t>(low),
                                    static_cast<std::ptrdiff_t>(span.j) - static_cast<std::ptrdiff_t>(low),
                                    add(load(span.inner + low), broadcast(span.open)),
                                    add(best[s][v], broadcast(span.complete)));
            if (low + WIDTH > span.i) store(chart(span.i, vector + v, span.j), row);
            if (low < span.j) store(chart(span.j, vector + v, span.i), row);
        }
}

template <std::size_t VECTORS>
inline void govern_all(const Chart& chart, const Span* spans, std::size_t count, std::size_t vector,
                       std::size_t first, std::size_t last) {
    constexpr std::size_t COUNT = MAXIMA / VECTORS;
    for (; count >= COUNT; count -= COUNT, spans += COUNT) govern<COUNT, VECTORS>(chart, spans, vector, first, last);
    for (; count > 0; --count, ++spans) govern<1, VECTORS>(chart, spans, vector, first, last);
}

// The vectors from `vector` up to `after`, as many at a time as there are registers for.
inline void govern_range(const Chart& chart, const Span* spans, std::size_t count, std::size_t vector,
                         std::size_t after, std::size_t first, std::size_t last) {
    constexpr std::size_t MOST = MAXIMA / TILE;
    for (; vector + MOST <= after; vector += MOST) govern_all<MOST>(chart, spans, count, vector, first, last);
    for (; vector + 2 <= after; vector += 2) govern_all<2>(chart, spans, count, vector, first, last);
    if (vector < after) govern_all<1>(chart, spans, count, vector, first, last);
}

// Fills chart(i, j) for the heads inside, and for those heads outside that another span of the tile will ask for:
// from the first start to i and from j to the last end.
inline void enter(const Chart& chart, const Span& span, std::size_t first, std::size_t last) {
    for (std::size_t v = first / WIDTH; v * WIDTH < span.j; ++v) {
        const vec row = add(load(span.inner + v * WIDTH), broadcast(span.open));
        store(chart(span.i, v, span.j), row);
        store(chart(span.j, v, span.i), row);
    }
    const auto seen_from = [&](std::size_t h) {
        return best_sum(span.inner, chart.arc_from + h * chart.width, span.i, span.j) + span.complete;
    };
    for (std::size_t h = first; h < span.i; ++h) chart(span.j, h / WIDTH, span.i)[h % WIDTH] = seen_from(h);
    for (std::size_t h = span.j; h < last; ++h) chart(span.i, h / WIDTH, span.j)[h % WIDTH] = seen_from(h);
}

// Fills the chart for all spans whose start and end lie in two blocks of TILE fenceposts; `inner` has a row for each.
inline void fill_tile(const Chart& chart, const Sentence& sentence, std::size_t start, std::size_t end, float* inner) {
    const std::size_t width = chart.width;
    const std::size_t top = end + TILE - 1 < chart.n ? end + TILE - 1 : chart.n;  // the last end
    const std::size_t low = aligned(start, WIDTH), high = aligned(top + WIDTH - 1, WIDTH);
    for (std::size_t s = 0; s < SPANS; ++s) fill(inner + s * width + low, high - low, NEVER);
    if (start + TILE < end) split_tile(chart, start, end, inner);

    // Left are the splits inside the two blocks; they need the other spans of the tile.
    Span spans[SPANS];
    std::size_t count = 0;
    for (std::size_t i = start + TILE; i-- > start;)
        for (std::size_t j = i < end ? end : i + 1; j <= top; ++j) {
            float* row = inner + ((i - start) * TILE + (j - end)) * width;
            if (j == i + 1) {
                row[i] = 0.0F;
            } else {
                const std::size_t middle = start + TILE < j ? start + TILE : j;
                split(chart, i, j, i + 1, middle, row);
                split(chart, i, j, end > middle ? end : middle, j, row);
                for (std::size_t h = low; h < i; ++h) row[h] = NEVER;
                for (std::size_t h = j; h < high; ++h) row[h] = NEVER;
            }
            const float open = sentence.open[i][j];
            spans[count] = {i, j, row, open, j == i + 1 ? open : sentence.full[i][j]};
            if (chart.width <= SHORT)
                govern_range(chart, spans, 1, 0, chart.vectors, i, j);
            else
                enter(chart, spans[count++], start, top);
        }
    if (chart.width <= SHORT) return;
    // All other heads at once: those up to the last start and from the first end on.
    const std::size_t left = (start + TILE - 1 + WIDTH - 1) / WIDTH, right = end / WIDTH;
    if (right <= left) {
        govern_range(chart, spans, count, 0, chart.vectors, start, top);
    } else {
        govern_range(chart, spans, count, 0, left, start, top);
        govern_range(chart, spans, count, right, chart.vectors, start, top);
    }
}

inline Chart make_chart(const Sentence& sentence, Workspace& workspace) {
    const std::size_t n = sentence.words, width = padded(n), vectors = width / WIDTH;
    const Chart chart{n, n + 1, width, vectors, workspace.take<float>((n + 1) * (n + 1) * width),
                      workspace.take<float>(n * width), workspace.take<float>(n * width)};
    fill(chart.arc_from, n * width, NEVER);
    fill(chart.arc_to, n * width, NEVER);
    for (std::size_t h = 0; h < n; ++h)
        for (std::size_t m = 0; m < n; ++m)
            if (h != m) chart.arc_from[h * width + m] = chart.arc_to[m * width + h] = sentence.arc[h][m];
    return chart;
}

}  // namespace hpsg_parts

inline bool hpsg(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    using namespace hpsg_parts;
    const Chart chart = make_chart(sentence, workspace);
    const std::size_t n = sentence.words;
    float* inner = workspace.take<float>(SPANS * chart.width);
    // Several blocks of ends take turns at each block of starts, which is then still in the cache.
    for (std::size_t ends = 0; ends <= n; ends += TURNS * TILE)
        for (std::size_t block = (ends + TURNS * TILE) / TILE; block-- > 0;)
            for (std::size_t end = ends; end < ends + TURNS * TILE && end <= n; end += TILE) {
                if (block * TILE > end) continue;
                workspace.spend(static_cast<double>(SPANS * n * n));
                fill_tile(chart, sentence, block * TILE, end, inner);
            }

    // No back-pointers were kept: the n-1 splits on the way down are found again.
    const auto find_inner = [=](std::size_t i, std::size_t j) {
        fill(inner, chart.width, NEVER);
        if (j == i + 1)
            inner[i] = 0.0F;
        else
            split(chart, i, j, i + 1, j, inner);
    };
    find_inner(0, n);
    const Best root = first_best(0, n, [=](std::size_t h) { return inner[h] + sentence.full[0][n] + sentence.root[h]; });
    if (root.score == NEVER) return false;
    if (charts != nullptr) *charts = {chart.cells, nullptr, nullptr, nullptr, chart.vectors, WIDTH};
    unfold(sentence, workspace, tree, static_cast<std::int32_t>(root.at), [=](std::size_t i, std::size_t j, std::size_t head) {
        const auto score = [=](std::size_t k) { return chart.at(i, k, head) + chart.at(j, k, head); };
        const std::size_t k = first_best(i + 1, j, score).at;
        const std::size_t first = head < k ? k : i, last = head < k ? j : k;  // the dependent side
        find_inner(first, last);
        const auto governed = [=](std::size_t m) { return inner[m] + sentence.arc[head][m]; };
        return Split{k, static_cast<std::int32_t>(first_best(first, last, governed).at)};
    });
    return true;
}

}  // namespace h3n::H3N_TARGET
