// The best projective dependency tree with one root word (Eisner 1996), and all of them: O(n^3) time, O(n^2) memory.
#pragma once

#include "weights.hpp"

namespace h3n::H3N_TARGET {

// Words i .. j, both included. base(i, j): i and j not yet joined; rightward(i, j): all descend from i;
// leftward(i, j): all descend from j.
//     base(i, j)      = max over i <= k < j of rightward(i, k) + leftward(k+1, j)
//     rightward(i, j) = max over i < k <= j of base(i, k) + arc[i][k] + rightward(k, j)
//     leftward(i, j)  = max over i <= k < j of leftward(i, k) + base(k, j) + arc[j][k]
template <class S>
struct EisnerChart {
    using Value = typename S::Value;
    std::size_t width;
    Value *joined;         // joined[i][k] = base(i, k) + arc[i][k]
    Value *joined_end;     // joined_end[j][k] = base(k, j) + arc[j][k]
    Value *rightward_end;  // rightward_end[j][k] = rightward(k, j)
    Value *leftward_end;   // leftward_end[j][k] = leftward(k+1, j), k >= -1,
    Value *leftward_from;  // so leftward_from[j][i] = leftward(i, j)
    Value *rightward;      // rightward[i][k] = rightward(i, k), for the starts that are kept
    Value *leftward;       // leftward(i, k) alike
};

template <class S>
inline EisnerChart<S> make_eisner(std::size_t n, std::size_t starts, Workspace& workspace) {
    using Value = typename S::Value;
    const std::size_t width = padded(n + 1) + PADDING, size = n * width;
    EisnerChart<S> chart{width, workspace.take<Value>(size), workspace.take<Value>(size), workspace.take<Value>(size),
                         workspace.take<Value>(size) + PADDING, nullptr, workspace.take<Value>(starts * width),
                         workspace.take<Value>(starts * width)};
    chart.leftward_from = chart.leftward_end - 1;
    Value* all[] = {chart.joined, chart.joined_end, chart.rightward_end, chart.leftward_end - PADDING};
    for (Value* one : all) clear<S>(one, size);
    return chart;
}

// For each word "+" is the semiring's product and "max" its sum. Every tree is reached in one way.
template <class S>
inline EisnerChart<S> fill_eisner(const SentenceOf<typename S::Value>& sentence, Workspace& workspace) {
    using Value = typename S::Value;
    constexpr bool ALL = !S::IDEMPOTENT;  // starts are kept
    const std::size_t n = sentence.words, starts = ALL ? n : STARTS;
    const EisnerChart<S> chart = make_eisner<S>(n, starts, workspace);
    const std::size_t width = chart.width;
    for (std::size_t i = 0; i < n; ++i)
        chart.rightward_end[i * width + i] = chart.leftward_from[i * width + i] = S::ONE;
    if (ALL) {
        clear<S>(chart.rightward, n * width);
        clear<S>(chart.leftward, n * width);
        for (std::size_t i = 0; i < n; ++i) chart.rightward[i * width + i] = chart.leftward[i * width + i] = S::ONE;
    }
    const auto begin = [=](std::size_t first, std::size_t after) {
        if (ALL) return;
        clear<S>(chart.rightward, STARTS * width);
        clear<S>(chart.leftward, STARTS * width);
        for (std::size_t i = first; i < after; ++i) {
            const std::size_t itself = i % STARTS * width + i;
            chart.rightward[itself] = chart.leftward[itself] = S::ONE;
        }
    };
    const MatrixOf<Value> arc = sentence.arc;
    for_spans(workspace, 1, n - 1, begin, [=](std::size_t i, std::size_t j) {
        const std::size_t row = (ALL ? i : i % STARTS) * width, column = j * width;
        const Value between = dot<S>(chart.rightward + row, chart.leftward_end + column, i, j);
        const Value from_left = S::multiply(between, arc[i][j]), from_right = S::multiply(between, arc[j][i]);
        // The arc between i and j themselves is the split next to an empty side; it is not in the rows yet.
        const Value right = S::sum(from_left, dot<S>(chart.joined + i * width, chart.rightward_end + column, i + 1, j));
        const Value left = S::sum(from_right, dot<S>(chart.leftward + row, chart.joined_end + column, i + 1, j));
        chart.joined[i * width + j] = from_left;
        chart.joined_end[column + i] = from_right;
        chart.rightward[row + j] = chart.rightward_end[column + i] = right;
        chart.leftward[row + j] = chart.leftward_from[column + i] = left;
    });
    return chart;
}

inline bool eisner(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts* found) {
    const std::size_t n = sentence.words;
    const EisnerChart<MaxPlus> chart = fill_eisner<MaxPlus>(sentence, workspace);
    const float *joined = chart.joined, *joined_end = chart.joined_end, *rightward_end = chart.rightward_end,
                *leftward_end = chart.leftward_end, *leftward_from = chart.leftward_from;
    const std::size_t width = chart.width;
    const Best root = first_best(0, n, [=](std::size_t r) {
        return leftward_from[r * width] + rightward_end[(n - 1) * width + r] + sentence.root[r];
    });
    if (root.score == NEVER) return false;
    if (found != nullptr) *found = {joined, rightward_end, leftward_from, nullptr, width, 1, joined_end};

    enum Kind : std::int32_t { BASE, RIGHTWARD, LEFTWARD };
    struct Item {
        std::int32_t kind;
        std::size_t i, j;
    };
    Item* stack = workspace.take<Item>(2 * n + 4);
    std::size_t depth = 0;
    tree.governors[root.at] = ROOT;
    stack[depth++] = {LEFTWARD, 0, root.at};
    stack[depth++] = {RIGHTWARD, root.at, n - 1};
    while (depth > 0) {
        const Item item = stack[--depth];
        const std::size_t i = item.i, j = item.j;
        if (i == j) continue;
        if (item.kind == BASE) {
            const auto score = [=](std::size_t k) { return rightward_end[k * width + i] + leftward_end[j * width + k]; };
            const std::size_t k = first_best(i, j, score).at;
            stack[depth++] = {RIGHTWARD, i, k};
            stack[depth++] = {LEFTWARD, k + 1, j};
        } else if (item.kind == RIGHTWARD) {
            const auto score = [=](std::size_t k) { return joined[i * width + k] + rightward_end[j * width + k]; };
            const std::size_t k = first_best(i + 1, j + 1, score).at;
            tree.governors[k] = static_cast<std::int32_t>(i);
            stack[depth++] = {BASE, i, k};
            stack[depth++] = {RIGHTWARD, k, j};
        } else {
            const auto score = [=](std::size_t k) { return leftward_from[k * width + i] + joined_end[j * width + k]; };
            const std::size_t k = first_best(i, j, score).at;
            tree.governors[k] = static_cast<std::int32_t>(j);
            stack[depth++] = {LEFTWARD, i, k};
            stack[depth++] = {BASE, k, j};
        }
    }
    return true;
}

struct Eisner {
    static constexpr unsigned NEEDS = ARCS;
    static std::size_t heads(std::size_t) { return 0; }

    static bool count_from(const Sentence& sentence, Workspace& workspace, Tree& tree) {
        return eisner(sentence, workspace, tree, nullptr);
    }

    template <class S>
    static bool shares(const SentenceOf<typename S::Value>& sentence, Workspace& workspace, Shares& shares) {
        using Value = typename S::Value;
        const std::size_t n = sentence.words;
        const EisnerChart<S> chart = fill_eisner<S>(sentence, workspace);
        const std::size_t width = chart.width, last = (n - 1) * width;
        const auto with_root = [=](std::size_t r) {
            const Value sides = S::multiply(chart.leftward_from[r * width], chart.rightward_end[last + r]);
            return S::multiply(sides, sentence.root[r]);
        };
        Value total = S::ZERO;
        for (std::size_t r = 0; r < n; ++r) total = S::sum(total, with_root(r));
        if (!S::usable(total)) return false;
        shares.log_partition = S::logarithm(total);
        if (shares.total_only) return true;

        // What lies outside each entry of the chart, in the same places.
        const EisnerChart<S> outside = make_eisner<S>(n, n, workspace);
        clear<S>(outside.rightward, n * width);
        clear<S>(outside.leftward, n * width);
        float* arcs = shares.arcs;
        for (std::size_t r = 0; r < n; ++r) {
            const Value share = S::multiply(sentence.root[r], S::inverse(total));
            const std::size_t left = r * width, right = last + r;
            outside.leftward_from[left] = S::sum(outside.leftward_from[left], S::multiply(share, chart.rightward_end[right]));
            outside.rightward_end[right] = S::sum(outside.rightward_end[right], S::multiply(share, chart.leftward_from[left]));
            arcs[n * n + r] = S::share(S::multiply(with_root(r), S::inverse(total)));
        }
        Value most = S::ZERO;
        for_spans_down(workspace, 1, n - 1, [=, &most](std::size_t i, std::size_t j) {
            const std::size_t row = i * width, column = j * width;
            const Value right = S::sum(outside.rightward[row + j], outside.rightward_end[column + i]);
            const Value left = S::sum(outside.leftward[row + j], outside.leftward_from[column + i]);
            // Read before the vectors below run over them.
            const Value from_left = S::sum(right, outside.joined[row + j]);
            const Value from_right = S::sum(left, outside.joined_end[column + i]);
            spread<S>(right, i + 1, j, chart.joined + row, chart.rightward_end + column, outside.joined + row,
                      outside.rightward_end + column);
            spread<S>(left, i + 1, j, chart.leftward + row, chart.joined_end + column, outside.leftward + row,
                      outside.joined_end + column);
            arcs[i * n + j] = S::share(S::multiply(from_left, chart.joined[row + j]));
            arcs[j * n + i] = S::share(S::multiply(from_right, chart.joined_end[column + i]));
            const Value between = S::sum(S::multiply(from_left, sentence.arc[i][j]), S::multiply(from_right, sentence.arc[j][i]));
            spread<S>(between, i, j, chart.rightward + row, chart.leftward_end + column, outside.rightward + row,
                      outside.leftward_end + column);
            most = S::larger_of(most, S::larger_of(S::larger_of(from_left, from_right), between));
        });
        if (!S::in_range(most)) return false;
        sample<S>(sentence, chart, workspace, shares, with_root);
        return true;
    }

    template <class S, class Root>
    static void sample(const SentenceOf<typename S::Value>& sentence, const EisnerChart<S>& chart, Workspace& workspace,
                       Shares& shares, Root with_root) {
        using Value = typename S::Value;
        enum Kind : std::int32_t { BASE, RIGHTWARD, LEFTWARD };
        struct Item {
            Kind kind;
            std::size_t i, j;
        };
        const std::size_t n = sentence.words, width = chart.width;
        if (shares.samples == 0) return;
        Item* stack = workspace.take<Item>(2 * n + 4);
        Value* weights = workspace.take<Value>(n + 1);
        Tree tree{nullptr, 0, workspace.take<std::int32_t>(n)};
        for (std::size_t count = 0; count < shares.samples; ++count) {
            workspace.spend(static_cast<double>(40 * n * n));
            std::size_t depth = 0;
            const std::size_t root = draw<S>(shares.random, 0, n, weights, with_root);
            tree.governors[root] = ROOT;
            stack[depth++] = {RIGHTWARD, root, n - 1};
            stack[depth++] = {LEFTWARD, 0, root};
            while (depth > 0) {
                const auto [kind, i, j] = stack[--depth];
                if (i == j) continue;
                const std::size_t row = i * width, column = j * width;
                const Value* left = kind == BASE ? chart.rightward + row : kind == RIGHTWARD ? chart.joined + row : chart.leftward + row;
                const Value* right = kind == BASE        ? chart.leftward_end + column
                                     : kind == RIGHTWARD ? chart.rightward_end + column
                                                         : chart.joined_end + column;
                const std::size_t step = kind == RIGHTWARD ? 1 : 0;
                const std::size_t k = draw<S>(shares.random, i + step, j + step, weights,
                                              [=](std::size_t at) { return S::multiply(left[at], right[at]); });
                if (kind != BASE) tree.governors[k] = static_cast<std::int32_t>(kind == RIGHTWARD ? i : j);
                stack[depth++] = kind == BASE ? Item{LEFTWARD, k + 1, j} : kind == RIGHTWARD ? Item{RIGHTWARD, k, j} : Item{BASE, k, j};
                stack[depth++] = kind == BASE ? Item{RIGHTWARD, i, k} : kind == RIGHTWARD ? Item{BASE, i, k} : Item{LEFTWARD, i, k};
            }
            shares.receive(shares.receiver, tree);
        }
    }
};

}  // namespace h3n::H3N_TARGET
