// The best joint tree in which each span's head is its word of highest head score, the last such word on a tie
// (paper, Algorithm 1), and all such trees: O(n^3) time, O(n^2) memory.
#pragma once

#include "weights.hpp"

namespace h3n::H3N_TARGET {

// row[k] = complete[k] times arc[head[k]]: what the spans that share a start or an end are worth to a new governor. Whole
// vectors; where there is no span yet, complete is zero and head is any word but the governor.
inline void rewrite(float* row, const float* complete, const float* arc, const std::int32_t* head, std::size_t first,
                    std::size_t last, MaxPlus) {
    for (std::size_t k = aligned(first, WIDTH); k < last; k += WIDTH)
        store(row + k, add(load(complete + k), gather(arc, head + k)));
}
inline void rewrite(float* row, const float* complete, const float* arc, const std::int32_t* head, std::size_t first,
                    std::size_t last, SumProduct) {
    for (std::size_t k = aligned(first, WIDTH); k < last; k += WIDTH)
        store(row + k, multiply(load(complete + k), gather(arc, head + k)));
}
inline void rewrite(double* row, const double* complete, const double* arc, const std::int32_t* head, std::size_t first,
                    std::size_t last, LogSum) {
    for (std::size_t k = first; k < last; ++k) row[k] = complete[k] + arc[head[k]];
}

inline void fill_heads(std::int32_t* row, std::size_t count, std::size_t word) {
    for (std::size_t k = 0; k < count; ++k) row[k] = static_cast<std::int32_t>(word);
}

// By start for the starts that are kept, by end for all.
template <class S>
struct GivenChart {
    using Value = typename S::Value;
    std::size_t width;
    Value* inner;                      // inner[i][j]
    Value *left, *right;               // left[i][k], right[j][k]: see below
    Value *complete, *complete_end;    // complete[i][k] = complete(i, k), complete_end[j][k] = complete(k, j)
    Value *rightward, *any_end;        // the head side on the left and on the right: kept with all starts
    std::int32_t *head, *head_end;     // alike
};

// With H the head of (i, j), a split k <= H pairs the dependent (i, k) with the head side (k, j), a split k > H the
// head side (i, k) with the dependent (k, j):
//     inner(i, j) = max( max over k <= H of complete(i, k) + arc[H][head(i, k)] + any(k, j),
//                        max over k >  H of rightward(i, k) + complete(k, j) + arc[H][head(k, j)] )
// or whatever is max and plus in the semiring. `any` and `rightward` are inner with a label or without; to reach every
// tree once, `rightward` without a label has no dependents on the left of its head.
// H does not depend on k, and it seldom changes from (i, j-1) or (i+1, j) to (i, j): only if j-1 or i is the new head.
// So the dependents' terms are kept ready in rows, `left[i]` and `right[j]`, rewritten when H changes, and the split is
// the loop of `cky`: left[i][k] is the first term of the sum for k <= H and rightward(i, k) beyond, right[j][k] is
// any(k, j) for k <= H and the second term beyond.
template <class S>
inline GivenChart<S> fill_h3n(const SentenceOf<typename S::Value>& sentence, Workspace& workspace) {
    using Value = typename S::Value;
    constexpr bool ALL = !S::IDEMPOTENT;  // starts are kept
    const std::size_t n = sentence.words, width = padded(n + 1), size = (n + 1) * width, starts = (ALL ? n : STARTS) * width;
    const float* rank = sentence.head;
    const GivenChart<S> chart{width,
                              workspace.take<Value>(size),
                              workspace.take<Value>(starts),
                              workspace.take<Value>(size),
                              workspace.take<Value>(starts),
                              workspace.take<Value>(size),
                              ALL ? workspace.take<Value>(size) : nullptr,
                              ALL ? workspace.take<Value>(size) : nullptr,
                              workspace.take<std::int32_t>(starts),
                              workspace.take<std::int32_t>(size)};
    clear<S>(chart.right, size);
    clear<S>(chart.complete_end, size);
    // Where there is no span yet: a word that never governs the spans of its row, since the arc from a word to itself
    // may be NaN.
    for (std::size_t j = 1; j <= n; ++j) fill_heads(chart.head_end + j * width, width, j - 1);
    const auto begin = [=](std::size_t first, std::size_t after) {
        const std::size_t from = ALL ? first * width : 0, count = (ALL ? after - first : STARTS) * width;
        clear<S>(chart.left + from, count);
        clear<S>(chart.complete + from, count);
        for (std::size_t i = first; i < after; ++i) fill_heads(chart.head + (ALL ? i : i % STARTS) * width, width, i);
    };
    for_spans(workspace, 1, n, begin, [=](std::size_t i, std::size_t j) {
        const std::size_t row = (ALL ? i : i % STARTS) * width, column = j * width;
        Value best = S::ONE, rightward = S::ONE, whole = sentence.open[i][j];
        std::size_t top = i;
        if (j > i + 1) {
            const std::size_t before = chart.head[row + j - 1];
            top = rank[j - 1] >= rank[before] ? j - 1 : before;
            if (top == j - 1)
                rewrite(chart.left + row, chart.complete + row, sentence.arc[top], chart.head + row, i + 1, j, S{});
            if (top == i)
                rewrite(chart.right + column, chart.complete_end + column, sentence.arc[top], chart.head_end + column, i + 1, j, S{});
            if constexpr (ALL) {
                const Parts<S> parts = dot_parts<S>(chart.left + row, chart.right + column, i + 1, top + 1, j);
                rightward = parts.high;
                best = S::sum(parts.low, parts.high);
            } else {
                best = dot<S>(chart.left + row, chart.right + column, i + 1, j);
            }
            whole = sentence.full[i][j];
        }
        const Value any = S::multiply(best, sentence.open[i][j]);
        chart.inner[i * width + j] = best;
        chart.left[row + j] = chart.right[column + i] = any;
        chart.complete[row + j] = chart.complete_end[column + i] = S::multiply(best, whole);
        chart.head[row + j] = chart.head_end[column + i] = static_cast<std::int32_t>(top);
        if constexpr (ALL) {
            chart.left[row + j] = chart.rightward[row + j] =
                S::sum(S::multiply(best, sentence.full[i][j]), S::multiply(rightward, sentence.empty[i][j]));
            chart.any_end[column + i] = any;
        }
    });
    return chart;
}

inline bool h3n(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    const std::size_t n = sentence.words;
    const GivenChart<MaxPlus> chart = fill_h3n<MaxPlus>(sentence, workspace);
    const float *inner = chart.inner, *complete_end = chart.complete_end;
    const std::int32_t* head_end = chart.head_end;
    const std::size_t width = chart.width;
    const std::int32_t root = head_end[n * width];
    if (inner[n] + sentence.full[0][n] + sentence.root[root] == NEVER) return false;
    if (charts != nullptr) *charts = {inner, nullptr, nullptr, head_end, width, 1, nullptr};

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

struct Given {
    static constexpr unsigned NEEDS = SPANS | ARCS;
    static std::size_t heads(std::size_t n) { return n * (n + 1) / 2; }

    static bool count_from(const Sentence& sentence, Workspace& workspace, Tree& tree) {
        return h3n(sentence, workspace, tree, nullptr);
    }

    // The way back goes through the rows as `fill_h3n` had them: those of a governor until it changes. What lies outside
    // the dependents' terms is collected meanwhile, and shared out among spans and arcs then.
    template <class S>
    static bool shares(const SentenceOf<typename S::Value>& sentence, Workspace& workspace, Shares& shares) {
        using Value = typename S::Value;
        const std::size_t n = sentence.words;
        const GivenChart<S> chart = fill_h3n<S>(sentence, workspace);
        const std::size_t width = chart.width, size = (n + 1) * width;
        const auto root = static_cast<std::size_t>(chart.head_end[n * width]);
        const Value top = S::multiply(sentence.full[0][n], sentence.root[root]);
        const Value total = S::multiply(chart.inner[n], top);
        if (!S::usable(total)) return false;
        shares.log_partition = S::logarithm(total);
        if (shares.total_only) return true;

        // What lies outside each entry of the chart, in the same places, and outside the arcs.
        Value* zeros = workspace.take<Value>(7 * size);
        clear<S>(zeros, 7 * size);
        Value *left = zeros, *right = zeros + size, *complete = zeros + 2 * size, *complete_end = zeros + 3 * size,
              *rightward = zeros + 4 * size, *any_end = zeros + 5 * size, *arc = zeros + 6 * size;
        auto* row_head = workspace.take<std::int32_t>(n + 1);
        auto* column_head = workspace.take<std::int32_t>(n + 1);
        for (std::size_t i = 0; i <= n; ++i) row_head[i] = column_head[i] = NO_HEAD;
        // Of the terms first <= k < last in a row of dependents that this word governed.
        // Neighbouring spans of a row often have one head.
        const auto share_out = [=, &sentence](Value* terms, const Value* values, Value* outside_values, const std::int32_t* heads,
                                              std::size_t governor, std::size_t first, std::size_t last) {
            const Value* weights = sentence.arc[governor];
            for (std::size_t k = first; k < last; ++k)
                outside_values[k] = S::sum(outside_values[k], S::multiply(terms[k], weights[heads[k]]));
            Value* to = arc + governor * width;
            for (std::size_t k = first; k < last;) {
                const std::int32_t m = heads[k];
                Value sum = to[m];
                for (; k < last && heads[k] == m; ++k) sum = S::sum(sum, S::multiply(terms[k], values[k]));
                to[m] = sum;
            }
            for (std::size_t k = first; k < last; ++k) terms[k] = S::ZERO;
        };
        const auto collect = [](Value* terms, Value* outside_values, std::size_t first, std::size_t last) {
            for (std::size_t k = first; k < last; ++k) {
                outside_values[k] = S::sum(outside_values[k], terms[k]);
                terms[k] = S::ZERO;
            }
        };
        Value most = S::ZERO;
        for_spans_down(workspace, 1, n, [=, &sentence, &shares, &most](std::size_t i, std::size_t j) {
            const std::size_t row = i * width, column = j * width;
            const std::int32_t head = chart.head_end[column + i];
            const auto h = static_cast<std::size_t>(head);
            if (row_head[i] != head) {
                if (row_head[i] != NO_HEAD) {
                    const auto old = static_cast<std::size_t>(row_head[i]);
                    share_out(left + row, chart.complete + row, complete + row, chart.head + row, old, i + 1, old + 1);
                    collect(left + row, rightward + row, old + 1, j + 1);
                }
                row_head[i] = head;
                if (j > i + 1) {
                    rewrite(chart.left + row, chart.complete + row, sentence.arc[h], chart.head + row, i + 1, h + 1, S{});
                    for (std::size_t k = h + 1; k < j; ++k) chart.left[row + k] = chart.rightward[row + k];
                }
            }
            if (column_head[j] != head) {
                if (column_head[j] != NO_HEAD) {
                    const auto old = static_cast<std::size_t>(column_head[j]);
                    share_out(right + column, chart.complete_end + column, complete_end + column, chart.head_end + column, old,
                              old + 1, j);
                    collect(right + column, any_end + column, i, old + 1);
                }
                column_head[j] = head;
                if (j > i + 1) {
                    rewrite(chart.right + column, chart.complete_end + column, sentence.arc[h], chart.head_end + column, h + 1, j, S{});
                    for (std::size_t k = i; k <= h; ++k) chart.right[column + k] = chart.any_end[column + k];
                }
            }
            const Value as_left = S::sum(rightward[row + j], left[row + j]), as_right = S::sum(any_end[column + i], right[column + i]);
            const Value governed = S::sum(complete[row + j], complete_end[column + i]);
            const Value full = sentence.full[i][j], open = sentence.open[i][j], inner = chart.inner[i * width + j];
            Value mine = S::multiply(S::sum(as_left, governed), full);
            Value share = S::sum(S::sum(as_left, as_right), governed);
            most = S::larger_of(most, share);
            if (j - i == n) share = S::multiply(sentence.root[h], S::inverse(total));
            const float labelled = S::share(S::multiply(S::multiply(inner, full), share));
            shares.spans[i * (n + 1) + j] = labelled;
            if (labelled >= LEAST_HEAD) shares.add_head(i, j, h, labelled);
            if (j == i + 1) return;
            mine = j - i == n ? S::multiply(share, full) : S::sum(mine, S::multiply(as_right, open));
            const Value on_right = S::sum(mine, j - i == n ? S::ZERO : S::multiply(as_left, sentence.empty[i][j]));
            most = S::larger_of(most, on_right);
            spread<S>(mine, on_right, i + 1, h + 1, j, chart.left + row, chart.right + column, left + row, right + column);
        });
        if (!S::in_range(most)) return false;
        for (std::size_t h = 0; h < n; ++h)
            for (std::size_t m = 0; m < n; ++m)
                if (m != h) shares.arcs[h * n + m] = S::share(S::multiply(arc[h * width + m], sentence.arc[h][m]));
        shares.arcs[n * n + root] = 1.0F;

        struct View {
            const SentenceOf<Value>& sentence;
            const GivenChart<S>& chart;
            Value inner(std::size_t i, std::size_t j, std::size_t h) const {
                return chart.head_end[j * chart.width + i] == static_cast<std::int32_t>(h) ? chart.inner[i * chart.width + j] : S::ZERO;
            }
            Value split(std::size_t i, std::size_t k, std::size_t j, std::size_t h) const {
                const std::size_t first = h < k ? k : i, last = h < k ? j : k, at = last * chart.width + first;
                const Value governed = S::multiply(chart.complete_end[at], sentence.arc[h][chart.head_end[at]]);
                return S::multiply(governed, h < k ? chart.rightward[i * chart.width + k] : chart.any_end[j * chart.width + k]);
            }
        };
        sample_spans<S, true>(sentence, workspace, shares, View{sentence, chart});
        return true;
    }
};

}  // namespace h3n::H3N_TARGET
