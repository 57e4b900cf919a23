// The best constituency tree (paper, section III-D), and all of them: O(n^3) time, O(n^2) memory.
#pragma once

#include "weights.hpp"

namespace h3n::H3N_TARGET {

template <class S>
struct CkyChart {
    std::size_t width;
    typename S::Value *by_start, *by_end, *inner;
};

// any(i, j) = open(i, j) times the sum over k of left(i, k) times any(k, j); the whole sentence takes `full`. To reach
// every tree once, the left child has a label or is one word; for a maximum it may be `any` as well.
// Values are kept by end for all spans and by start for those at work, so that both operands of a split are contiguous.
template <class S>
inline CkyChart<S> fill_cky(const SentenceOf<typename S::Value>& sentence, Workspace& workspace) {
    using Value = typename S::Value;
    constexpr bool ALL = !S::IDEMPOTENT;  // starts are kept
    const std::size_t n = sentence.words, width = padded(n + 1), rows = ALL ? n : STARTS;
    Value* by_start = workspace.take<Value>(rows * width);   // by_start[i][k] = left(i, k)
    Value* by_end = workspace.take<Value>((n + 1) * width);  // by_end[j][k] = any(k, j)
    Value* inner = ALL ? workspace.take<Value>(n * width) : nullptr;
    clear<S>(by_end, (n + 1) * width);
    if (ALL) clear<S>(by_start, rows * width);
    const auto begin = [=](std::size_t, std::size_t) {
        if (!ALL) clear<S>(by_start, rows * width);
    };
    for_spans(workspace, 1, n, begin, [=](std::size_t i, std::size_t j) {
        Value *row = by_start + (ALL ? i : i % STARTS) * width, *column = by_end + j * width;
        const Value sum = j == i + 1 ? S::ONE : dot<S>(row, column, i + 1, j);
        const Value any = S::multiply(sum, (j - i == n ? sentence.full : sentence.open)[i][j]);
        column[i] = any;
        row[j] = !ALL || j == i + 1 ? any : S::multiply(sum, sentence.full[i][j]);
        if (ALL) inner[i * width + j] = sum;
    });
    return {width, by_start, by_end, inner};
}

inline bool cky(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* charts) {
    const std::size_t n = sentence.words;
    const CkyChart<MaxPlus> chart = fill_cky<MaxPlus>(sentence, workspace);
    const float* by_end = chart.by_end;
    const std::size_t width = chart.width;
    if (by_end[n * width] == NEVER) return false;
    if (charts != nullptr) *charts = {by_end, nullptr, nullptr, nullptr, width, 1, nullptr};

    unfold(sentence, workspace, tree, NO_HEAD, [=](std::size_t i, std::size_t j, std::size_t) {
        const auto score = [=](std::size_t k) { return by_end[k * width + i] + by_end[j * width + k]; };
        return Split{first_best(i + 1, j, score).at, NO_HEAD};
    });
    return true;
}

struct Cky {
    static constexpr unsigned NEEDS = SPANS;
    static std::size_t heads(std::size_t) { return 0; }

    static bool count_from(const Sentence& sentence, Workspace& workspace, Tree& tree) {
        return cky(sentence, workspace, tree, nullptr);
    }

    template <class S>
    static bool shares(const SentenceOf<typename S::Value>& sentence, Workspace& workspace, Shares& shares) {
        using Value = typename S::Value;
        const std::size_t n = sentence.words;
        const CkyChart<S> chart = fill_cky<S>(sentence, workspace);
        const std::size_t width = chart.width;
        const Value total = chart.by_end[n * width];
        if (!S::usable(total)) return false;
        shares.log_partition = S::logarithm(total);
        if (shares.total_only) return true;
        Value* outside_start = workspace.take<Value>((n + 1) * width);
        Value* outside_end = workspace.take<Value>((n + 1) * width);
        clear<S>(outside_start, (n + 1) * width);
        clear<S>(outside_end, (n + 1) * width);
        outside_end[n * width] = S::inverse(total);
        Value most = S::ZERO;
        float* spans = shares.spans;
        for_spans_down(workspace, 1, n, [=, &most](std::size_t i, std::size_t j) {
            const Value start = outside_start[i * width + j], end = outside_end[j * width + i];
            const Value inner = chart.inner[i * width + j], full = sentence.full[i][j];
            most = S::larger_of(most, S::sum(start, end));
            spans[i * (n + 1) + j] = S::share(S::multiply(S::multiply(inner, full), S::sum(start, end)));
            if (j == i + 1) return;
            const Value mine = S::sum(S::multiply(start, full), S::multiply(end, j - i == n ? full : sentence.open[i][j]));
            most = S::larger_of(most, mine);
            spread<S>(mine, i + 1, j, chart.by_start + i * width, chart.by_end + j * width, outside_start + i * width,
                      outside_end + j * width);
        });
        if (!S::in_range(most)) return false;

        struct View {
            const CkyChart<S>& chart;
            Value inner(std::size_t i, std::size_t j, std::size_t) const { return chart.inner[i * chart.width + j]; }
            Value split(std::size_t i, std::size_t k, std::size_t j, std::size_t) const {
                return S::multiply(chart.by_start[i * chart.width + k], chart.by_end[j * chart.width + k]);
            }
        };
        sample_spans<S, false>(sentence, workspace, shares, View{chart});
        return true;
    }
};

}  // namespace h3n::H3N_TARGET
