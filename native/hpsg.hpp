// The best joint tree, exact (paper, equation 3), and all of them: O(n^4) time by a chart of vectors, O(n^3) memory.
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
//
// Over another semiring than max and plus every tree must be reached once. So an unlabelled span on the left of a split,
// which grows to the right, has no dependents on the left of its head: the sum over k > h, `rightward`, is kept apart.
#pragma once

#include "cky.hpp"
#include "eisner.hpp"

namespace h3n::H3N_TARGET {

namespace hpsg_parts {

constexpr std::size_t TILE = 4;
constexpr std::size_t SPANS = TILE * TILE;
constexpr std::size_t TURNS = 4;   // blocks of ends that take turns at a block of starts
constexpr std::size_t SHORT = 32;  // heads so few that putting the outside ones off gains nothing

template <class S>
constexpr std::size_t SUMS = S::REGISTERS / 2;  // how many are kept in registers at a time

template <class S>
struct Chart {
    using Value = typename S::Value;
    static constexpr std::size_t W = S::WIDTH;
    std::size_t n, fenceposts, width, vectors;
    Value* cells;
    Value* arc_from;  // arc_from[h][m] = arc[h][m], padded with zero
    Value* arc_to;    // arc_to[m][h] = arc[h][m], alike
    // W neighbouring heads of a span. They come twice: chart(i, v, j), by start, and chart(j, v, i), by end. For
    // a given start or end and given heads all spans lie side by side, which is the order `split` goes through them.
    // What no split can ask for is not there: by start heads left of the span, by end heads right of it.
    Value* operator()(std::size_t a, std::size_t vector, std::size_t b) const {
        return cells + ((a * vectors + vector) * fenceposts + b) * W;
    }
    Value at(std::size_t a, std::size_t b, std::size_t head) const { return (*this)(a, head / W, b)[head % W]; }
};

inline std::ptrdiff_t offset(std::size_t a, std::size_t b) {
    return static_cast<std::ptrdiff_t>(a) - static_cast<std::ptrdiff_t>(b);
}

// inner += chart(i, k) times chart(k, j) over from <= k < to, for the heads inside (i, j), in whole vectors; `rightward`
// gets those with k > h.
template <class S>
inline void split(const Chart<S>& chart, std::size_t i, std::size_t j, std::size_t from, std::size_t to,
                  typename S::Value* inner, typename S::Value* rightward) {
    constexpr std::size_t W = S::WIDTH;
    if (from >= to) return;
    for (std::size_t v = i / W; v * W < j; ++v) {
        const auto *left = chart(i, v, 0), *right = chart(j, v, 0);
        auto sum = S::load(inner + v * W);
        if constexpr (S::IDEMPOTENT) {
            for (std::size_t k = from * W; k < to * W; k += W)
                sum = S::plus_times(sum, S::load(left + k), S::load(right + k));
        } else {
            auto beyond = S::load(rightward + v * W);
            for (std::size_t k = from; k < to; ++k) {
                const auto product = S::times(S::load(left + k * W), S::load(right + k * W));
                sum = S::plus(sum, product);
                beyond = S::plus(beyond, S::between(0, offset(k, v * W), product, S::all(S::ZERO)));
            }
            S::store(rightward + v * W, beyond);
        }
        S::store(inner + v * W, sum);
    }
}

// The same for all spans of a tile at once, over the splits between the block of starts and the block of ends. Ends
// past the last fencepost are taken for the last one; nobody looks at what comes of them.
template <class S>
inline void split_tile(const Chart<S>& chart, std::size_t start, std::size_t end, typename S::Value* inner,
                       typename S::Value* rightward) {
    constexpr std::size_t W = S::WIDTH, COLUMNS = SUMS<S> / TILE / (S::IDEMPOTENT ? 1 : 2);
    using Value = typename S::Value;
    using Vec = typename S::Vec;
    const std::size_t last = chart.n, first = start + TILE;
    for (std::size_t v = start / W; v * W < end + TILE - 1 && v < chart.vectors; ++v)
        for (std::size_t column = 0; column < TILE; column += COLUMNS) {
            const Value *left[TILE], *right[COLUMNS];
            Vec sum[TILE][COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r) left[r] = chart(start + r, v, 0);
            for (std::size_t c = 0; c < COLUMNS; ++c) {
                const std::size_t j = end + column + c;
                right[c] = chart(j < last ? j : last, v, 0);
            }
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c) sum[r][c] = S::all(S::ZERO);
            const auto add_up = [&](std::size_t from, std::size_t to) {
                for (std::size_t k = from * W; k < to * W; k += W) {
                    Vec ends[COLUMNS];
                    for (std::size_t c = 0; c < COLUMNS; ++c) ends[c] = S::load(right[c] + k);
                    for (std::size_t r = 0; r < TILE; ++r) {
                        const Vec starts = S::load(left[r] + k);
                        for (std::size_t c = 0; c < COLUMNS; ++c) sum[r][c] = S::plus_times(sum[r][c], starts, ends[c]);
                    }
                }
            };
            const auto at = [&](std::size_t r, std::size_t c) { return (r * TILE + column + c) * chart.width + v * W; };
            if constexpr (S::IDEMPOTENT) {
                add_up(first, end);
            } else {
                // Splits up to `low` are left of all these heads, those from `high` on are right of them.
                const std::size_t low = v * W + 1 < first ? first : v * W + 1 < end ? v * W + 1 : end;
                const std::size_t high = v * W + W < low ? low : v * W + W < end ? v * W + W : end;
                add_up(high, end);
                Vec before[TILE][COLUMNS];
                for (std::size_t r = 0; r < TILE; ++r)
                    for (std::size_t c = 0; c < COLUMNS; ++c) before[r][c] = S::all(S::ZERO);
                for (std::size_t k = low; k < high; ++k) {
                    Vec ends[COLUMNS], ends_before[COLUMNS];
                    for (std::size_t c = 0; c < COLUMNS; ++c) {
                        const Vec all = S::load(right[c] + k * W), none = S::all(S::ZERO);
                        ends[c] = S::between(0, offset(k, v * W), all, none);
                        ends_before[c] = S::between(0, offset(k, v * W), none, all);
                    }
                    for (std::size_t r = 0; r < TILE; ++r) {
                        const Vec starts = S::load(left[r] + k * W);
                        for (std::size_t c = 0; c < COLUMNS; ++c) {
                            sum[r][c] = S::plus_times(sum[r][c], starts, ends[c]);
                            before[r][c] = S::plus_times(before[r][c], starts, ends_before[c]);
                        }
                    }
                }
                for (std::size_t r = 0; r < TILE; ++r)
                    for (std::size_t c = 0; c < COLUMNS; ++c) {
                        S::store(rightward + at(r, c), sum[r][c]);
                        sum[r][c] = S::plus(sum[r][c], before[r][c]);
                    }
                add_up(first, low);
            }
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c) S::store(inner + at(r, c), sum[r][c]);
        }
}

// A span of the tile at work; `inner` and `rightward` are zero outside the span.
template <class S>
struct Span {
    using Value = typename S::Value;
    std::size_t i, j;
    const Value *inner, *rightward;
    Value open, complete;  // what its label adds as head side and as dependent
    Value full, empty;     // the parts of open, if both count

    // The heads inside it, on the left of a split and on the right of one.
    typename S::Vec on_right(std::size_t low) const { return S::times(S::load(inner + low), S::all(open)); }
    typename S::Vec on_left(std::size_t low) const {
        if constexpr (S::IDEMPOTENT)
            return on_right(low);
        else
            return S::plus_times(S::times(S::load(inner + low), S::all(full)), S::load(rightward + low), S::all(empty));
    }
};

// Fills the chart with the spans as seen from heads outside them: COUNT spans and VECTORS vectors of heads at a time.
// The words of all spans lie between `first` and `last`. Heads inside a span get what belongs there.
template <class S, std::size_t COUNT, std::size_t VECTORS>
inline void govern(const Chart<S>& chart, const Span<S>* spans, std::size_t vector, std::size_t first, std::size_t last) {
    constexpr std::size_t W = S::WIDTH;
    using Vec = typename S::Vec;
    Vec sum[COUNT][VECTORS];
    for (std::size_t s = 0; s < COUNT; ++s)
        for (std::size_t v = 0; v < VECTORS; ++v) sum[s][v] = S::all(S::ZERO);
    const auto* arcs = chart.arc_to + first * chart.width + vector * W;
    for (std::size_t m = first; m < last; ++m, arcs += chart.width) {
        Vec arc[VECTORS];
        for (std::size_t v = 0; v < VECTORS; ++v) arc[v] = S::load(arcs + v * W);
        for (std::size_t s = 0; s < COUNT; ++s) {
            const Vec score = S::all(spans[s].inner[m]);
            for (std::size_t v = 0; v < VECTORS; ++v) sum[s][v] = S::plus_times(sum[s][v], score, arc[v]);
        }
    }
    for (std::size_t s = 0; s < COUNT; ++s)
        for (std::size_t v = 0; v < VECTORS; ++v) {
            const Span<S>& span = spans[s];
            const std::size_t low = (vector + v) * W;
            const std::ptrdiff_t from = offset(span.i, low), to = offset(span.j, low);
            const Vec governed = S::times(sum[s][v], S::all(span.complete));
            const Vec right = S::between(from, to, span.on_right(low), governed);
            const Vec left = S::IDEMPOTENT ? right : S::between(from, to, span.on_left(low), governed);
            if (low + W > span.i) S::store(chart(span.i, vector + v, span.j), left);
            if (low < span.j) S::store(chart(span.j, vector + v, span.i), right);
        }
}

template <class S, std::size_t VECTORS>
inline void govern_all(const Chart<S>& chart, const Span<S>* spans, std::size_t count, std::size_t vector,
                       std::size_t first, std::size_t last) {
    constexpr std::size_t COUNT = SUMS<S> / VECTORS;
    for (; count >= COUNT; count -= COUNT, spans += COUNT) govern<S, COUNT, VECTORS>(chart, spans, vector, first, last);
    for (; count > 0; --count, ++spans) govern<S, 1, VECTORS>(chart, spans, vector, first, last);
}

// The vectors from `vector` up to `after`, as many at a time as there are registers for.
template <class S>
inline void govern_range(const Chart<S>& chart, const Span<S>* spans, std::size_t count, std::size_t vector,
                         std::size_t after, std::size_t first, std::size_t last) {
    constexpr std::size_t MOST = SUMS<S> / TILE;
    for (; vector + MOST <= after; vector += MOST) govern_all<S, MOST>(chart, spans, count, vector, first, last);
    for (; vector + 2 <= after; vector += 2) govern_all<S, 2>(chart, spans, count, vector, first, last);
    if (vector < after) govern_all<S, 1>(chart, spans, count, vector, first, last);
}

// Fills chart(i, j) for the heads inside, and for those heads outside that another span of the tile will ask for:
// from the first start to i and from j to the last end.
template <class S>
inline void enter(const Chart<S>& chart, const Span<S>& span, std::size_t first, std::size_t last) {
    constexpr std::size_t W = S::WIDTH;
    for (std::size_t v = first / W; v * W < span.j; ++v) {
        S::store(chart(span.i, v, span.j), span.on_left(v * W));
        S::store(chart(span.j, v, span.i), span.on_right(v * W));
    }
    const auto seen_from = [&](std::size_t h) {
        return S::multiply(dot<S>(span.inner, chart.arc_from + h * chart.width, span.i, span.j), span.complete);
    };
    for (std::size_t h = first; h < span.i; ++h) chart(span.j, h / W, span.i)[h % W] = seen_from(h);
    for (std::size_t h = span.j; h < last; ++h) chart(span.i, h / W, span.j)[h % W] = seen_from(h);
}

// Fills the chart for all spans whose start and end lie in two blocks of TILE fenceposts; `inner` has a row for each, and
// so has `rightward` if it is asked for.
template <class S>
inline void fill_tile(const Chart<S>& chart, const SentenceOf<typename S::Value>& sentence, std::size_t start,
                      std::size_t end, typename S::Value* inner, typename S::Value* rightward) {
    using Value = typename S::Value;
    constexpr std::size_t W = S::WIDTH;
    const std::size_t width = chart.width;
    const std::size_t top = end + TILE - 1 < chart.n ? end + TILE - 1 : chart.n;  // the last end
    const std::size_t low = aligned(start, W), high = aligned(top + W - 1, W);
    for (std::size_t s = 0; s < SPANS; ++s) {
        clear<S>(inner + s * width + low, high - low);
        if (!S::IDEMPOTENT) clear<S>(rightward + s * width + low, high - low);
    }
    if (start + TILE < end) split_tile(chart, start, end, inner, rightward);

    // Left are the splits inside the two blocks; they need the other spans of the tile.
    Span<S> spans[SPANS];
    std::size_t count = 0;
    for (std::size_t i = start + TILE; i-- > start;)
        for (std::size_t j = i < end ? end : i + 1; j <= top; ++j) {
            const std::size_t at = ((i - start) * TILE + (j - end)) * width;
            Value *row = inner + at, *right = S::IDEMPOTENT ? nullptr : rightward + at;
            if (j == i + 1) {
                row[i] = S::ONE;
                if (!S::IDEMPOTENT) right[i] = S::ONE;
            } else {
                const std::size_t middle = start + TILE < j ? start + TILE : j;
                split(chart, i, j, i + 1, middle, row, right);
                split(chart, i, j, end > middle ? end : middle, j, row, right);
                for (std::size_t h = low; h < i; ++h) row[h] = S::ZERO;
                for (std::size_t h = j; h < high; ++h) row[h] = S::ZERO;
                if (!S::IDEMPOTENT) {
                    for (std::size_t h = low; h < i; ++h) right[h] = S::ZERO;
                    for (std::size_t h = j; h < high; ++h) right[h] = S::ZERO;
                }
            }
            const Value open = sentence.open[i][j], full = sentence.full[i][j];
            spans[count] = {i, j, row, right, open, j == i + 1 ? open : full, full, S::ZERO};
            if (!S::IDEMPOTENT) spans[count].empty = sentence.empty[i][j];
            if (chart.width <= SHORT)
                govern_range(chart, spans, 1, 0, chart.vectors, i, j);
            else
                enter(chart, spans[count++], start, top);
        }
    if (chart.width <= SHORT) return;
    // All other heads at once: those up to the last start and from the first end on.
    const std::size_t left = (start + TILE - 1 + W - 1) / W, right = end / W;
    if (right <= left) {
        govern_range(chart, spans, count, 0, chart.vectors, start, top);
    } else {
        govern_range(chart, spans, count, 0, left, start, top);
        govern_range(chart, spans, count, right, chart.vectors, start, top);
    }
}

template <class S>
inline Chart<S> make_chart(const SentenceOf<typename S::Value>& sentence, Workspace& workspace) {
    using Value = typename S::Value;
    const std::size_t n = sentence.words, width = padded(n), vectors = width / S::WIDTH;
    const Chart<S> chart{n, n + 1, width, vectors, workspace.take<Value>((n + 1) * (n + 1) * width),
                         workspace.take<Value>(n * width), workspace.take<Value>(n * width)};
    clear<S>(chart.arc_from, n * width);
    clear<S>(chart.arc_to, n * width);
    for (std::size_t h = 0; h < n; ++h)
        for (std::size_t m = 0; m < n; ++m)
            if (h != m) chart.arc_from[h * width + m] = chart.arc_to[m * width + h] = sentence.arc[h][m];
    return chart;
}

// Calls tile(start, end) for all tiles, each after those inside it. Several blocks of ends take turns at each block of
// starts, which is then still in the cache.
template <class Tile>
inline void for_tiles(std::size_t n, Workspace& workspace, Tile tile) {
    for (std::size_t ends = 0; ends <= n; ends += TURNS * TILE)
        for (std::size_t block = (ends + TURNS * TILE) / TILE; block-- > 0;)
            for (std::size_t end = ends; end < ends + TURNS * TILE && end <= n; end += TILE) {
                if (block * TILE > end) continue;
                workspace.spend(static_cast<double>(SPANS * n * n));
                tile(block * TILE, end);
            }
}

// The same in the opposite order.
template <class Tile>
inline void for_tiles_down(std::size_t n, Workspace& workspace, Tile tile) {
    for (std::size_t ends = n / (TURNS * TILE) * (TURNS * TILE) + TURNS * TILE; ends > 0;) {
        ends -= TURNS * TILE;
        for (std::size_t block = 0; block < (ends + TURNS * TILE) / TILE; ++block)
            for (std::size_t turn = TURNS; turn-- > 0;) {
                const std::size_t end = ends + turn * TILE;
                if (end > n || block * TILE > end) continue;
                workspace.spend(static_cast<double>(2 * SPANS * n * n));
                tile(block * TILE, end);
            }
    }
}

}  // namespace hpsg_parts

inline bool hpsg(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    using namespace hpsg_parts;
    const Chart<MaxPlus> chart = make_chart<MaxPlus>(sentence, workspace);
    const std::size_t n = sentence.words;
    float* inner = workspace.take<float>(SPANS * chart.width);
    for_tiles(n, workspace, [=](std::size_t start, std::size_t end) { fill_tile(chart, sentence, start, end, inner, nullptr); });

    // No back-pointers were kept: the n-1 splits on the way down are found again.
    const auto find_inner = [=](std::size_t i, std::size_t j) {
        clear<MaxPlus>(inner, chart.width);
        if (j == i + 1)
            inner[i] = 0.0F;
        else
            split(chart, i, j, i + 1, j, inner, nullptr);
    };
    find_inner(0, n);
    const Best root = first_best(0, n, [=](std::size_t h) { return inner[h] + sentence.full[0][n] + sentence.root[h]; });
    if (root.score == NEVER) return false;
    if (charts != nullptr) *charts = {chart.cells, nullptr, nullptr, nullptr, chart.vectors, WIDTH, nullptr};
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

// ---- the way back ----

namespace hpsg_parts {

// What the way back works on. `outside` has what lies outside each entry of the chart, in the same places.
template <class S>
struct Back {
    using Value = typename S::Value;
    Chart<S> chart, outside;
    Value* arcs;         // arcs[h][m]: outside of arc[h][m]
    Value *zeros, *spare;  // what is not in the chart, and where nobody looks
    // For each span of the tile at work, one after the other:
    Value* inner;        // the inside sums, zero outside the span
    Value* all;          // outside of inner, for splits k <= h
    Value* beyond;       // and for splits k > h
    Value* governed;     // outside of the span as seen from heads outside it, times complete; zero inside
};

// From the sums of one span to its splits from <= k < to.
template <class S>
inline void split_back(const Back<S>& back, std::size_t i, std::size_t j, std::size_t from, std::size_t to, const typename S::Value* all,
                       const typename S::Value* beyond) {
    constexpr std::size_t W = S::WIDTH;
    for (std::size_t v = i / W; v * W < j; ++v) {
        const auto low = S::load(all + v * W), high = S::load(beyond + v * W);
        const auto *left = back.chart(i, v, 0), *right = back.chart(j, v, 0);
        auto *outside_left = back.outside(i, v, 0), *outside_right = back.outside(j, v, 0);
        for (std::size_t k = from; k < to; ++k) {
            const auto mine = S::between(0, offset(k, v * W), high, low);
            S::store(outside_left + k * W, S::plus_times(S::load(outside_left + k * W), mine, S::load(right + k * W)));
            S::store(outside_right + k * W, S::plus_times(S::load(outside_right + k * W), mine, S::load(left + k * W)));
        }
    }
}

// The same for all spans of a tile, as in `split_tile`.
template <class S>
inline void split_tile_back(const Back<S>& back, std::size_t start, std::size_t end) {
    constexpr std::size_t W = S::WIDTH, COLUMNS = SUMS<S> / TILE / 2;
    using Value = typename S::Value;
    using Vec = typename S::Vec;
    const std::size_t first = start + TILE, width = back.chart.width;
    for (std::size_t v = start / W; v * W < end + TILE - 1 && v < back.chart.vectors; ++v)
        for (std::size_t column = 0; column < TILE && end + column <= back.chart.n; column += COLUMNS) {
            const Value *left[TILE], *right[COLUMNS];
            Value *outside_left[TILE], *outside_right[COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r) {
                const bool there = v * W + W > start + r;
                left[r] = there ? back.chart(start + r, v, 0) : back.zeros;
                outside_left[r] = there ? back.outside(start + r, v, 0) : back.spare;
            }
            for (std::size_t c = 0; c < COLUMNS; ++c) {
                const std::size_t j = end + column + c;
                const bool there = j <= back.chart.n && v * W < j;
                right[c] = there ? back.chart(j, v, 0) : back.zeros;
                outside_right[c] = there ? back.outside(j, v, 0) : back.spare;
            }
            const auto at = [&](std::size_t r, std::size_t c) { return (r * TILE + column + c) * width + v * W; };
            const auto go = [&](std::size_t from, std::size_t to, auto mine) {
                for (std::size_t k = from; k < to; ++k) {
                    Vec ends[COLUMNS], outside_ends[COLUMNS];
                    for (std::size_t c = 0; c < COLUMNS; ++c) {
                        ends[c] = S::load(right[c] + k * W);
                        outside_ends[c] = S::load(outside_right[c] + k * W);
                    }
                    for (std::size_t r = 0; r < TILE; ++r) {
                        const Vec starts = S::load(left[r] + k * W);
                        Vec outside_start = S::load(outside_left[r] + k * W);
                        for (std::size_t c = 0; c < COLUMNS; ++c) {
                            const Vec here = mine(r, c, k);
                            outside_start = S::plus_times(outside_start, here, ends[c]);
                            outside_ends[c] = S::plus_times(outside_ends[c], here, starts);
                        }
                        S::store(outside_left[r] + k * W, outside_start);
                    }
                    for (std::size_t c = 0; c < COLUMNS; ++c) S::store(outside_right[c] + k * W, outside_ends[c]);
                }
            };
            const std::size_t low = v * W + 1 < first ? first : v * W + 1 < end ? v * W + 1 : end;
            const std::size_t high = v * W + W < low ? low : v * W + W < end ? v * W + W : end;
            Vec here[TILE][COLUMNS];
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c) here[r][c] = S::load(back.all + at(r, c));
            go(first, low, [&](std::size_t r, std::size_t c, std::size_t) { return here[r][c]; });
            go(low, high, [&](std::size_t r, std::size_t c, std::size_t k) {
                return S::between(0, offset(k, v * W), S::load(back.beyond + at(r, c)), here[r][c]);
            });
            for (std::size_t r = 0; r < TILE; ++r)
                for (std::size_t c = 0; c < COLUMNS; ++c) here[r][c] = S::load(back.beyond + at(r, c));
            go(high, end, [&](std::size_t r, std::size_t c, std::size_t) { return here[r][c]; });
        }
}

// arcs[h][m] += governed[h] times inner[m], over all spans of a tile whose words lie between first and last.
template <class S>
inline void arcs_back(const Back<S>& back, std::size_t first, std::size_t last) {
    constexpr std::size_t W = S::WIDTH;
    const std::size_t width = back.chart.width;
    for (std::size_t v = first / W; v * W < last; ++v) {
        typename S::Vec inner[SPANS];
        for (std::size_t s = 0; s < SPANS; ++s) inner[s] = S::load(back.inner + s * width + v * W);
        for (std::size_t h = 0; h < back.chart.n; ++h) {
            auto* to = back.arcs + h * width + v * W;
            auto sum = S::load(to);
            for (std::size_t s = 0; s < SPANS; ++s)
                sum = S::plus_times(sum, S::all(back.governed[s * width + h]), inner[s]);
            S::store(to, sum);
        }
    }
}

}  // namespace hpsg_parts

struct Hpsg {
    static constexpr unsigned NEEDS = h3n::SPANS | ARCS;
    static std::size_t heads(std::size_t n) { return n * (n + 1) * (n + 2) / 6; }

    static bool count_from(const Sentence& sentence, Workspace& workspace, Tree& tree) {
        return cky(sentence, workspace, tree, nullptr) && eisner(sentence, workspace, tree, nullptr);
    }

    template <class S>
    static bool shares(const SentenceOf<typename S::Value>& sentence, Workspace& workspace, Shares& shares) {
        using namespace hpsg_parts;
        using Value = typename S::Value;
        using Vec = typename S::Vec;
        constexpr std::size_t W = S::WIDTH;
        const std::size_t n = sentence.words;
        Back<S> back;
        back.chart = make_chart<S>(sentence, workspace);
        const std::size_t width = back.chart.width, vectors = back.chart.vectors;
        back.inner = workspace.take<Value>(4 * SPANS * width);
        back.all = back.inner + SPANS * width;
        back.beyond = back.all + SPANS * width;
        back.governed = back.beyond + SPANS * width;
        for_tiles(n, workspace, [&](std::size_t start, std::size_t end) {
            fill_tile(back.chart, sentence, start, end, back.inner, back.all);
        });
        // The heads of the whole sentence, without its label.
        const Value open = sentence.open[0][n];
        Value* top = workspace.take<Value>(width);
        clear<S>(top, width);
        Value total = S::ZERO;
        for (std::size_t h = 0; h < n; ++h) {
            top[h] = S::multiply(sentence.full[0][n], sentence.root[h]);
            total = S::sum(total, S::multiply(S::multiply(back.chart.at(n, 0, h), S::inverse(open)), top[h]));
        }
        if (!(open > S::ZERO) || !S::usable(total)) return false;
        shares.log_partition = S::logarithm(total);
        if (shares.total_only) return true;
        for (std::size_t h = 0; h < n; ++h) top[h] = S::multiply(top[h], S::inverse(total));

        back.outside = back.chart;
        back.outside.cells = workspace.take<Value>((n + 1) * (n + 1) * width);
        for (std::size_t a = 0; a <= n; ++a)
            for (std::size_t v = 0; v < vectors; ++v) {
                const std::size_t from = v * W < a ? 0 : a, to = v * W + W > a ? n + 1 : a;
                clear<S>(back.outside(a, v, from), (to - from) * W);
            }
        back.arcs = workspace.take<Value>(n * width);
        clear<S>(back.arcs, n * width);
        back.zeros = workspace.take<Value>((n + 1) * W);
        back.spare = workspace.take<Value>((n + 1) * W);
        clear<S>(back.zeros, (n + 1) * W);
        clear<S>(back.spare, (n + 1) * W);
        Value *row = workspace.take<Value>(width), *by_head = workspace.take<Value>(W);
        Vec most = S::all(S::ZERO);
        const Vec zero = S::all(S::ZERO);

        // What lies outside one span: from there to its heads, its label and the splits inside its tile.
        const auto span_back = [&](std::size_t i, std::size_t j, std::size_t start, std::size_t end, std::size_t s) {
            Value *inner = back.inner + s * width, *all = back.all + s * width, *beyond = back.beyond + s * width;
            Value* governed = back.governed + s * width;
            const Value open = sentence.open[i][j], full = sentence.full[i][j];
            const Value complete = j == i + 1 ? open : full;
            const bool whole = j - i == n;
            // Heads outside it, and whether it matters at all.
            Vec relevance = zero;
            for (std::size_t v = 0; v < vectors && !whole; ++v) {
                const std::size_t low = v * W;
                const std::ptrdiff_t from = offset(i, low), to = offset(j, low);
                Vec left = zero, right = zero, mine = zero;
                if (low + W > i) {
                    left = S::between(from, W, S::load(back.outside(i, v, j)), zero);
                    mine = S::times(left, S::load(back.chart(i, v, j)));
                }
                if (low < j) {
                    right = S::between(0, to, S::load(back.outside(j, v, i)), zero);
                    mine = S::plus_times(mine, right, S::load(back.chart(j, v, i)));
                }
                most = S::larger(most, S::larger(left, right));
                relevance = S::plus(relevance, mine);
                const Vec seen = S::between(from, to, zero, S::plus(left, right));
                const Vec times_label = S::times(seen, S::all(complete));
                S::store(row + low, seen);
                S::store(governed + low, times_label);
                most = S::larger(most, times_label);
            }
            if (!whole && !(S::share(S::reduce(relevance)) >= LEAST_SHARE)) {
                clear<S>(governed, width);
                return false;
            }
            const Value inverse = open > S::ZERO ? S::inverse(open) : S::ZERO;
            float labelled = 0.0F;
            for (std::size_t v = i / W; v * W < j; ++v) {
                const std::size_t low = v * W;
                const auto inside = [&](Vec value) { return S::between(offset(i, low), offset(j, low), value, zero); };
                Vec as_dependent = zero, as_left = zero, as_right = zero;
                if (whole) {
                    as_dependent = S::load(top + low);
                } else {
                    const auto* arcs = back.chart.arc_from + low;
                    Vec sums[4] = {zero, zero, zero, zero};  // several, so that none has to wait for the one before
                    const auto add_up = [&](std::size_t first, std::size_t last) {
                        std::size_t h = first;
                        for (; h + 4 <= last; h += 4)
                            for (std::size_t k = 0; k < 4; ++k)
                                sums[k] = S::plus_times(sums[k], S::all(row[h + k]), S::load(arcs + (h + k) * width));
                        for (; h < last; ++h) sums[0] = S::plus_times(sums[0], S::all(row[h]), S::load(arcs + h * width));
                    };
                    add_up(0, i);
                    add_up(j, n);
                    as_dependent = inside(S::plus(S::plus(sums[0], sums[1]), S::plus(sums[2], sums[3])));
                    as_left = inside(S::load(back.outside(i, v, j)));
                    as_right = inside(S::load(back.outside(j, v, i)));
                }
                const Vec sums = inside(S::times(S::load(back.chart(j, v, i)), S::all(inverse)));
                S::store(inner + low, sums);
                const Vec label = S::all(full);
                Vec with_label = S::plus(as_left, as_right);
                Vec mine;
                if (whole) {
                    mine = as_dependent;
                    with_label = as_dependent;
                } else {
                    with_label = S::times(S::plus(with_label, as_dependent), label);
                    mine = S::plus_times(S::times(as_dependent, S::all(complete)), as_left, label);
                    mine = S::plus_times(mine, as_right, S::all(open));
                }
                const Vec on_right = whole ? mine : S::plus_times(mine, as_left, S::all(sentence.empty[i][j]));
                S::store(all + low, mine);
                S::store(beyond + low, on_right);
                most = S::larger(most, on_right);
                with_label = S::times(with_label, sums);
                labelled += S::share(S::reduce(with_label));
                if (!(S::share(S::largest(with_label)) >= LEAST_HEAD)) continue;
                S::store(by_head, with_label);
                for (std::size_t h = low < i ? i : low; h < low + W && h < j; ++h) {
                    const float share = S::share(by_head[h - low]);
                    if (share >= LEAST_HEAD) shares.add_head(i, j, h, share);
                }
            }
            shares.spans[i * (n + 1) + j] = labelled;
            if (j > i + 1) {
                const std::size_t middle = start + TILE < j ? start + TILE : j;
                split_back(back, i, j, i + 1, middle, all, beyond);
                split_back(back, i, j, end > middle ? end : middle, j, all, beyond);
            }
            return true;
        };
        for_tiles_down(n, workspace, [&](std::size_t start, std::size_t end) {
            const std::size_t last = end + TILE - 1 < n ? end + TILE - 1 : n;
            const std::size_t low = aligned(start, W), high = aligned(last + W - 1, W);
            for (std::size_t s = 0; s < 3 * SPANS; ++s) clear<S>(back.inner + s * width + low, high - low);
            clear<S>(back.governed, SPANS * width);
            bool any = false;
            for (std::size_t i = start; i < start + TILE; ++i)
                for (std::size_t j = last + 1; j-- > (i < end ? end : i + 1);)
                    any |= span_back(i, j, start, end, (i - start) * TILE + (j - end));
            if (!any) return;
            if (start + TILE < end) split_tile_back(back, start, end);
            arcs_back(back, start, last);
        });
        if (!S::in_range(S::largest(most))) return false;
        for (std::size_t h = 0; h < n; ++h)
            shares.arcs[n * n + h] = S::share(S::multiply(S::multiply(back.chart.at(n, 0, h), S::inverse(open)), top[h]));
        for (std::size_t h = 0; h < n; ++h)
            for (std::size_t m = 0; m < n; ++m)
                if (m != h) shares.arcs[h * n + m] = S::share(S::multiply(back.arcs[h * width + m], back.chart.arc_from[h * width + m]));

        struct View {
            const SentenceOf<Value>& sentence;
            const Chart<S>& chart;
            Value inner(std::size_t i, std::size_t j, std::size_t h) const {
                return S::multiply(chart.at(j, i, h), S::inverse(sentence.open[i][j]));
            }
            Value split(std::size_t i, std::size_t k, std::size_t j, std::size_t h) const {
                return S::multiply(chart.at(i, k, h), chart.at(j, k, h));
            }
        };
        sample_spans<S, true>(sentence, workspace, shares, View{sentence, back.chart});
        return true;
    }
};

}  // namespace h3n::H3N_TARGET
