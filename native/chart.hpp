// What the chart decoders share: rows that are empty so far, the best split of a span, the order in which spans are
// worked on, and the way down from the best tree.
#pragma once

#include "sentence.hpp"
#include "simd.hpp"

namespace h3n::H3N_TARGET {

inline void fill(float* row, std::size_t count, float value) {
    const vec all = broadcast(value);
    for (std::size_t k = 0; k < count; k += WIDTH) store(row + k, all);
}

inline float greater(float a, float b) { return a > b ? a : b; }

// The maximum over first <= k < last of left[k] + right[k]. Rows are padded; the loop runs over whole vectors, so
// outside the range at least one of the two operands must be NEVER and neither may be NaN.
inline float best_sum(const float* left, const float* right, std::size_t first, std::size_t last) {
    std::size_t k = aligned(first, WIDTH);
    vec best = add(load(left + k), load(right + k));
    for (k += WIDTH; k + WIDTH < last; k += 2 * WIDTH) {
        const vec one = add(load(left + k), load(right + k));
        const vec two = add(load(left + k + WIDTH), load(right + k + WIDTH));
        best = max(best, max(one, two));
    }
    if (k < last) best = max(best, add(load(left + k), load(right + k)));
    return reduce_max(best);
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
