// What the chart decoders share: rows that are empty so far, the best split of a span, the order in which spans are
// worked on, and the way down from the best tree.
#pragma once

#include "semiring.hpp"

namespace h3n::H3N_TARGET {

template <class Value>
inline void fill(Value* row, std::size_t count, Value value) {
    for (std::size_t k = 0; k < count; ++k) row[k] = value;
}

// The same with zeros, for whole vectors of a chart.
template <class S>
inline void clear(typename S::Value* row, std::size_t count) {
    const auto zero = S::all(S::ZERO);
    for (std::size_t k = 0; k < count; k += S::WIDTH) S::store(row + k, zero);
}

// The sum over first <= k < last of left[k] times right[k], in the semiring. Rows are padded; the loop runs over whole
// vectors, so outside the range at least one of the two operands must be zero and neither may be NaN.
template <class S>
inline typename S::Value dot(const typename S::Value* left, const typename S::Value* right, std::size_t first,
                             std::size_t last) {
    constexpr std::size_t W = S::WIDTH;
    std::size_t k = aligned(first, W);
    auto sum = S::times(S::load(left + k), S::load(right + k));
    for (k += W; k + W < last; k += 2 * W) {
        const auto one = S::times(S::load(left + k), S::load(right + k));
        const auto two = S::times(S::load(left + k + W), S::load(right + k + W));
        sum = S::plus(sum, S::plus(one, two));
    }
    if (k < last) sum = S::plus(sum, S::times(S::load(left + k), S::load(right + k)));
    return S::reduce(sum);
}

// The same in two parts, first <= k < middle and middle <= k < last.
template <class S>
struct Parts {
    typename S::Value low, high;
};
template <class S>
inline Parts<S> dot_parts(const typename S::Value* left, const typename S::Value* right, std::size_t first,
                          std::size_t middle, std::size_t last) {
    constexpr std::size_t W = S::WIDTH;
    const auto zero = S::all(S::ZERO);
    auto low = zero, high = zero;
    for (std::size_t k = aligned(first, W); k < last; k += W) {
        const auto product = S::times(S::load(left + k), S::load(right + k));
        if (k + W <= middle) {
            low = S::plus(low, product);
        } else if (k >= middle) {
            high = S::plus(high, product);
        } else {
            low = S::plus(low, S::between(0, static_cast<std::ptrdiff_t>(middle - k), product, zero));
            high = S::plus(high, S::between(static_cast<std::ptrdiff_t>(middle - k), W, product, zero));
        }
    }
    return {S::reduce(low), S::reduce(high)};
}

// The way back from a sum to its operands: what lies outside the sum, times the other operand, lies outside each. It is
// `low` for k < middle and `high` from there on. What is written beyond the range nobody may read.
template <class S>
inline void spread(typename S::Value low, typename S::Value high, std::size_t first, std::size_t middle, std::size_t last,
                   const typename S::Value* left, const typename S::Value* right, typename S::Value* outside_left,
                   typename S::Value* outside_right) {
    constexpr std::size_t W = S::WIDTH;
    const auto lows = S::all(low), highs = S::all(high);
    for (std::size_t k = aligned(first, W); k < last; k += W) {
        const auto mine = S::between(0, static_cast<std::ptrdiff_t>(middle) - static_cast<std::ptrdiff_t>(k), lows, highs);
        S::store(outside_left + k, S::plus_times(S::load(outside_left + k), mine, S::load(right + k)));
        S::store(outside_right + k, S::plus_times(S::load(outside_right + k), mine, S::load(left + k)));
    }
}

template <class S>
inline void spread(typename S::Value all, std::size_t first, std::size_t last, const typename S::Value* left,
                   const typename S::Value* right, typename S::Value* outside_left, typename S::Value* outside_right) {
    constexpr std::size_t W = S::WIDTH;
    const auto mine = S::all(all);
    for (std::size_t k = aligned(first, W); k < last; k += W) {
        S::store(outside_left + k, S::plus_times(S::load(outside_left + k), mine, S::load(right + k)));
        S::store(outside_right + k, S::plus_times(S::load(outside_right + k), mine, S::load(left + k)));
    }
}

template <class S>
inline typename S::Value largest_of(const typename S::Value* row, std::size_t count) {
    auto most = S::load(row);
    for (std::size_t k = S::WIDTH; k < count; k += S::WIDTH) most = S::larger(most, S::load(row + k));
    return S::largest(most);
}

// Starts that are worked on together: enough to hide the time from one span's sum to the next one that needs it.
constexpr std::size_t STARTS = 8;

// Calls cell(i, j) for all i + shortest <= j <= last, each after the spans inside it: the last starts first, and among
// STARTS neighbouring ones by length. So consecutive calls do not wait for each other, as they would from one end to
// the next, and what they read and write lies close together, as it would not if all went by length. Before each group
// of starts begin(first, after) is called; what is kept by start need only be kept for one group.
// The steps add up to n^3, as in Decoder::cost.
template <class Begin, class Cell>
inline void for_spans(Workspace& workspace, std::size_t shortest, std::size_t last, Begin begin, Cell cell) {
    if (last < shortest) return;
    const std::size_t starts = last - shortest + 1;
    for (std::size_t group = (starts + STARTS - 1) / STARTS; group-- > 0;) {
        const std::size_t first = group * STARTS, after = first + STARTS < starts ? first + STARTS : starts;
        const auto longest = static_cast<double>(last - first);
        workspace.spend(3 * STARTS * longest * longest);
        begin(first, after);
        for (std::size_t length = shortest; first + length <= last; ++length) {
            const std::size_t end = after + length <= last + 1 ? after : last + 1 - length;
            for (std::size_t i = first; i < end; ++i) cell(i, i + length);
        }
    }
}

// The same spans in the opposite order: each after those around it.
template <class Cell>
inline void for_spans_down(Workspace& workspace, std::size_t shortest, std::size_t last, Cell cell) {
    if (last < shortest) return;
    const std::size_t starts = last - shortest + 1;
    for (std::size_t first = 0; first < starts; first += STARTS) {
        const std::size_t after = first + STARTS < starts ? first + STARTS : starts;
        const auto longest = static_cast<double>(last - first);
        workspace.spend(6 * STARTS * longest * longest);
        for (std::size_t length = last - first; length >= shortest; --length) {
            const std::size_t end = after + length <= last + 1 ? after : last + 1 - length;
            for (std::size_t i = first; i < end; ++i) cell(i, i + length);
        }
    }
}

struct Best {
    float score;
    std::size_t at;
};

// The highest score(k) over first <= k < last and the first k that has it; `first` if there is none above NEVER.
template <class Score>
inline Best first_best(std::size_t first, std::size_t last, Score score) {
    Best best{NEVER, first};
    for (std::size_t k = first; k < last; ++k) {
        const float value = score(k);
        if (value > best.score) best = {value, k};
    }
    return best;
}

// Where a span of the best tree is split, and the head of its dependent side: the side without the head of the span.
struct Split {
    std::size_t at;
    std::int32_t dependent;  // NO_HEAD if the decoder finds no arcs
};

// Whether a span of the best tree carries a label: the dependent side must, if it is more than one word; otherwise the
// better of label and no label decides, and a tie goes to the label.
inline bool is_labelled(const Sentence& sentence, std::size_t start, std::size_t end, bool must) {
    return must || sentence.full[start][end] >= sentence.open[start][end];
}

// Writes the best tree from the top down; `divide(i, j, head)` says how the span (i, j) with this head is split. What
// comes out is a tree whatever divide answers, as long as i < split < j and the dependent is on the side without the head.
template <class Divide>
inline void unfold(const Sentence& sentence, Workspace& workspace, Tree& tree, std::int32_t root, Divide divide) {
    struct Pending {
        std::int32_t start, end, head;
        bool dependent;  // the head of its parent lies outside it
    };
    const std::size_t n = sentence.words;
    const bool joint = root != NO_HEAD;
    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    if (joint) tree.governors[root] = ROOT;
    stack[depth++] = {0, static_cast<std::int32_t>(n), root, true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end;
        tree.add(i, j, is_labelled(sentence, i, j, span.dependent && (j > i + 1 || n == 1)), span.head);
        if (j == i + 1) continue;
        const Split split = divide(i, j, static_cast<std::size_t>(span.head));
        const auto k = static_cast<std::int32_t>(split.at);
        const bool left = span.head < k;  // the head side
        if (joint) tree.governors[split.dependent] = span.head;
        stack[depth++] = {k, span.end, left ? split.dependent : span.head, joint && left};
        stack[depth++] = {span.start, k, left ? span.head : split.dependent, joint && !left};
    }
}

}  // namespace h3n::H3N_TARGET
