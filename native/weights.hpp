// From scores to weights, that is e to the power of the score, and from there to probabilities: inside sums by the
// decoder's own recurrence, then the way back through it.
//
// A tree's weight has no place in a float unless it is counted from something close. `scale` counts from the best tree:
// the score of each of its nodes is taken off at the fencepost that splits it, half on either side, the score of each of
// its arcs at the dependent. Every tree has one node per inner fencepost and one arc per word, so all lose the same; in
// the best one all sums are then about 1, and so they are, give or take some powers, in every tree that counts. Where
// very many trees count, their number grows by some factor with each word: `growth` is its logarithm, taken off as well.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

// Numbers too small for a float are taken for 0: working on the remains of their digits is slow on many processors.
class FlushToZero {
  public:
#if defined(__SSE2__) || defined(_M_X64)
    FlushToZero() : before_(_mm_getcsr()) { _mm_setcsr(before_ | 0x8040U); }
    ~FlushToZero() { _mm_setcsr(before_); }
    FlushToZero(const FlushToZero&) = delete;
    FlushToZero& operator=(const FlushToZero&) = delete;

  private:
    unsigned before_;
#endif
};

// e to the power of x, to the last bit or two; 0 below -87, infinite above 88. In plain steps, so that a loop of it becomes vectors.
inline float exponential(float x) {
    const float within = x < -87.0F ? -87.0F : x > 88.0F ? 88.0F : x;
    constexpr float MAGIC = 12582912.0F;  // adding it leaves no room for a fraction
    const float shifted = within * 1.44269504F + MAGIC, times = shifted - MAGIC;
    const float rest = (within - times * 0.693359375F) + times * 2.12194440e-4F;  // ln 2 in two parts
    const float series =
        (((((rest * (1.0F / 720) + 1.0F / 120) * rest + 1.0F / 24) * rest + 1.0F / 6) * rest + 0.5F) * rest + 1.0F) * rest + 1.0F;
    const std::int32_t exponent = (static_cast<std::int32_t>(times) + 127) * (1 << 23);
    float power;
    __builtin_memcpy(&power, &exponent, sizeof power);
    return x < -87.0F ? 0.0F : x > 88.0F ? -NEVER : series * power;
}

// row[k] becomes exponential(row[k] - less[k]), in whole blocks: no loop has a tail.
inline void exponentials(float* row, const float* less, std::size_t width) {
    for (std::size_t block = 0; block < width; block += PADDING)
        for (std::size_t k = block; k < block + PADDING; ++k) row[k] = exponential(row[k] - less[k]);
}

// What no label is worth: 0 or NEVER. Where the sentence does not tell, `open` does, unless a label is worth more.
inline float empty_of(const Sentence& s, std::size_t i, std::size_t j) {
    if (s.empty.data != nullptr) return s.empty[i][j];
    const float full = s.full[i][j], open = s.open[i][j];
    return open > full ? open : full >= 0.0F ? 0.0F : NEVER;
}

// The weights of a sentence, counted from the tree. `steepest` is the most that one step may add: a label times an arc.
inline SentenceOf<float> scale(const Sentence& s, const Tree& tree, unsigned needs, float growth, Workspace& workspace,
                               float& steepest) {
    float most_label = 1.0F, most_arc = 1.0F;
    const std::size_t n = s.words, width = padded(n + 1);
    SentenceOf<float> made;
    made.words = n;
    made.head = s.head;
    if (needs & SPANS) {
        float* at_post = workspace.take<float>(n + 1);  // half the score of the node that is split there
        float* at_word = workspace.take<float>(n);
        float *full = workspace.take<float>((n + 1) * width), *open = workspace.take<float>((n + 1) * width),
              *empty = workspace.take<float>((n + 1) * width);
        at_post[0] = at_post[n] = 0.0F;
        for (std::size_t k = 0; k < tree.node_count; ++k) {
            const Node& node = tree.nodes[k];
            const float score = (node.labelled ? s.full : s.open)[node.start][node.end];
            if (node.end == node.start + 1)
                at_word[node.start] = score;
            else
                at_post[tree.nodes[k + 1].end] = 0.5F * score;  // the left child comes next
        }
        float *scores = workspace.take<float>(width), *given = workspace.take<float>(width),
              *nothing = workspace.take<float>(width);
        fill(nothing, width, 0.0F);
        fill(scores, width, NEVER);
        fill(given, width, NEVER);
        const bool told = s.empty.data != nullptr;
        for (std::size_t i = 0; i < n; ++i) {
            float *fulls = full + i * width, *opens = open + i * width, *empties = empty + i * width;
            const std::size_t bytes = (n - i) * sizeof(float);
            __builtin_memcpy(scores + i + 1, s.full[i] + i + 1, bytes);
            __builtin_memcpy(given + i + 1, (told ? s.empty : s.open)[i] + i + 1, bytes);
            __builtin_memcpy(fulls, scores, width * sizeof(float));
            exponentials(fulls, nothing, width);
            // No label is there if it is above the best label, or told, and not barred; or where the best label hides it.
            for (std::size_t block = 0; block < width; block += PADDING)
                for (std::size_t k = block; k < block + PADDING; ++k) {
                    const int shows = static_cast<int>(given[k] > scores[k]) | static_cast<int>(told);
                    const int there = (shows & static_cast<int>(given[k] > NEVER)) | (~shows & static_cast<int>(scores[k] >= 0.0F));
                    empties[k] = static_cast<float>(there);
                    opens[k] = fulls[k] + empties[k];
                }
            const std::size_t from = aligned(i + 1, PADDING);
            most_label = SumProduct::larger_of(most_label, largest_of<SumProduct>(fulls + from, width - from));
            const float less = at_word[i] + at_post[i] + at_post[i + 1] + (needs & ARCS ? 0.0F : growth);
            fulls[i + 1] = exponential(s.full[i][i + 1] - less);
            empties[i + 1] = exponential(empty_of(s, i, i + 1) - less);
            opens[i + 1] = fulls[i + 1] + empties[i + 1];
        }
        made.full = {full, width};
        made.open = {open, width};
        made.empty = {empty, width};
    }
    if (needs & ARCS) {
        float *arc = workspace.take<float>(n * width), *root = workspace.take<float>(width),
              *less = workspace.take<float>(width);
        fill(less, width, 0.0F);
        for (std::size_t m = 0; m < n; ++m)
            less[m] = growth + (tree.governors[m] == ROOT ? s.root[m] : s.arc[tree.governors[m]][m]);
        for (std::size_t h = 0; h < n; ++h) {
            float* to = arc + h * width;
            __builtin_memcpy(to, s.arc[h], n * sizeof(float));
            fill(to + n, width - n, NEVER);
            exponentials(to, less, width);
            to[h] = 0.0F;
            most_arc = SumProduct::larger_of(most_arc, largest_of<SumProduct>(to, width));
        }
        __builtin_memcpy(root, s.root, n * sizeof(float));
        fill(root + n, width - n, NEVER);
        exponentials(root, less, width);
        made.arc = {arc, width};
        made.root = root;
    }
    steepest = most_label * most_arc;
    return made;
}

// The scores themselves, for LogSum.
inline SentenceOf<double> logarithms(const Sentence& s, unsigned needs, Workspace& workspace) {
    const std::size_t n = s.words, width = padded(n + 1);
    SentenceOf<double> made;
    made.words = n;
    made.head = s.head;
    if (needs & SPANS) {
        double *full = workspace.take<double>((n + 1) * width), *open = workspace.take<double>((n + 1) * width),
               *empty = workspace.take<double>((n + 1) * width);
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j <= n; ++j) {
                full[i * width + j] = s.full[i][j];
                empty[i * width + j] = empty_of(s, i, j);
                open[i * width + j] = LogSum::sum(full[i * width + j], empty[i * width + j]);
            }
        made.full = {full, width};
        made.open = {open, width};
        made.empty = {empty, width};
    }
    if (needs & ARCS) {
        double *arc = workspace.take<double>(n * width), *root = workspace.take<double>(width);
        for (std::size_t m = 0; m < n; ++m) {
            root[m] = s.root[m];
            for (std::size_t h = 0; h < n; ++h) arc[h * width + m] = h == m ? NEVER : s.arc[h][m];
        }
        made.arc = {arc, width};
        made.root = root;
    }
    return made;
}

// The growth, from parts of the tree as if each were a sentence of its own, whatever its root word: its largest spans,
// or the words below a word, that are neither very short nor very long.
template <class Method>
inline double growth_of(const SentenceOf<float>& weights, const Tree& tree, Workspace& workspace) {
    constexpr std::size_t SHORTEST = 8, LONGEST = 48;
    const std::size_t n = weights.words;
    float* roots = workspace.take<float>(LONGEST);
    fill(roots, LONGEST, 1.0F);
    double total = 0.0;
    std::size_t words = 0, done = 0;  // words before `done` have been looked at
    const auto look_at = [&](std::size_t first, std::size_t last) {
        if (first < done || last - first < SHORTEST || last - first > LONGEST) return;
        done = last;
        const auto cut = [=](const MatrixOf<float>& all) {
            return all.data == nullptr ? all : MatrixOf<float>{all.data + first * (all.stride + 1), all.stride};
        };
        SentenceOf<float> part;
        part.words = last - first;
        part.full = cut(weights.full);
        part.open = cut(weights.open);
        part.empty = cut(weights.empty);
        part.arc = cut(weights.arc);
        part.root = roots;
        part.head = weights.head == nullptr ? nullptr : weights.head + first;
        Shares some;
        some.total_only = true;
        if (!Method::template shares<SumProduct>(part, workspace, some)) return;
        total += some.log_partition;
        words += last - first;
    };
    if (Method::NEEDS & SPANS) {  // outer ones come first
        for (std::size_t k = 0; k < tree.node_count; ++k) look_at(tree.nodes[k].start, tree.nodes[k].end);
    } else {
        auto* first = workspace.take<std::size_t>(2 * n);
        auto* last = first + n;
        for (std::size_t m = 0; m < n; ++m) first[m] = last[m] = m;
        for (std::size_t m = 0; m < n; ++m)
            for (std::int32_t above = tree.governors[m]; above != ROOT; above = tree.governors[above]) {
                if (m < first[above]) first[above] = m;
                if (m > last[above]) last[above] = m;
            }
        for (std::size_t length = LONGEST; length >= SHORTEST; length /= 2) {
            done = 0;
            for (std::size_t m = 0; m < n; ++m)
                if (last[m] + 1 - first[m] > length / 2) look_at(first[m], last[m] + 1);
        }
    }
    return words == 0 ? 0.0 : total / static_cast<double>(words);
}

// The fast way; then, if a number runs out of range, with the growth taken off; and if that does not help by logarithms.
template <class Method>
inline bool weigh(const Sentence& sentence, Workspace& workspace, Tree& tree, Shares& shares) {
    constexpr std::size_t LONG = 64;  // so many words that there is growth for sure
    // Where steps are no steeper than this, no sum is lost below the least float unless what lies outside it, or outside
    // a sum around it, is seen to be above LARGEST_SHARE: the square root of that is what the two sides of a split add.
    constexpr float STEEPEST = 1e13F;
    const std::size_t n = sentence.words;
    if (!Method::count_from(sentence, workspace, tree)) return false;
    if ((Method::NEEDS & SPANS) && (Method::NEEDS & ARCS))
        shares.heads = workspace.take<Shares::Head>(Method::heads(n));
    {
        [[maybe_unused]] const FlushToZero flush;
        for (int grows = n > LONG ? 1 : 0; grows < 2; ++grows) {
            float growth = 0.0F, steepest;
            SentenceOf<float> weights = scale(sentence, tree, Method::NEEDS, 0.0F, workspace, steepest);
            if (!(steepest < STEEPEST)) break;
            if (grows) {
                growth = static_cast<float>(growth_of<Method>(weights, tree, workspace));
                weights = scale(sentence, tree, Method::NEEDS, growth, workspace, steepest);
            }
            shares.head_count = 0;
            if (!Method::template shares<SumProduct>(weights, workspace, shares)) continue;
            shares.log_partition += static_cast<double>(growth) * static_cast<double>(n);  // what `scale` took off
            for (std::size_t k = 0; k < tree.node_count; ++k) {
                const Node& node = tree.nodes[k];
                shares.log_partition += (node.labelled ? sentence.full : sentence.open)[node.start][node.end];
            }
            if (Method::NEEDS & ARCS)
                for (std::size_t m = 0; m < n; ++m)
                    shares.log_partition += tree.governors[m] == ROOT ? sentence.root[m] : sentence.arc[tree.governors[m]][m];
            return true;
        }
    }
    shares.head_count = 0;
    if (Method::NEEDS & SPANS) fill(shares.spans, (n + 1) * (n + 1), 0.0F);
    if (Method::NEEDS & ARCS) fill(shares.arcs, (n + 1) * n, 0.0F);
    return Method::template shares<LogSum>(logarithms(sentence, Method::NEEDS, workspace), workspace, shares);
}

// ---- samples ----

// SplitMix64 (Steele, Lea and Flood 2014): the same numbers on every machine.
inline double next_random(std::uint64_t& state) {
    std::uint64_t z = state += 0x9E3779B97F4A7C15U;
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9U;
    z = (z ^ z >> 27) * 0x94D049BB133111EBU;
    return static_cast<double>((z ^ z >> 31) >> 11) * 0x1p-53;
}

// One of first <= k < last by the weights; `weights` has room for all.
template <class S, class Weight>
inline std::size_t draw(std::uint64_t& state, std::size_t first, std::size_t last, typename S::Value* weights, Weight weight) {
    typename S::Value total = S::ZERO;
    for (std::size_t k = first; k < last; ++k) total = S::sum(total, weights[k - first] = weight(k));
    double left = next_random(state);
    std::size_t chosen = first;
    for (std::size_t k = first; k < last; ++k) {
        const double share = S::share(S::multiply(weights[k - first], S::inverse(total)));
        if (!(share > 0.0)) continue;
        chosen = k;  // what rounding leaves over goes to the last one possible
        left -= share;
        if (left < 0.0) break;
    }
    return chosen;
}

// Draws trees of spans from the top down. `view` tells the inside sums: inner(i, j, h) and split(i, k, j, h). Without
// arcs there is one head for all, right of everything: a tree without heads grows to the left alone.
template <class S, bool ARCS_TOO, class View>
inline void sample_spans(const SentenceOf<typename S::Value>& s, Workspace& workspace, Shares& shares, const View& view) {
    enum Mode : std::int32_t { LABELLED, ANY, RIGHT_OPEN };
    struct Pending {
        std::size_t i, j, h;
        Mode mode;
    };
    const std::size_t n = s.words;
    if (shares.samples == 0) return;
    Pending* stack = workspace.take<Pending>(n + 1);
    auto* weights = workspace.take<typename S::Value>(n + 2);
    Tree tree{workspace.take<Node>(2 * n), 0, workspace.take<std::int32_t>(n)};
    for (std::size_t count = 0; count < shares.samples; ++count) {
        workspace.spend(static_cast<double>(40 * n * n));
        tree.node_count = 0;
        std::size_t depth = 0, root = n;
        // Which word heads a span that this word governs.
        const auto head_of = [&](std::size_t i, std::size_t j, std::size_t h) {
            const std::size_t m = draw<S>(shares.random, i, j, weights, [&](std::size_t word) {
                return S::multiply(view.inner(i, j, word), h == n ? s.root[word] : s.arc[h][word]);
            });
            tree.governors[m] = h == n ? ROOT : static_cast<std::int32_t>(h);
            return m;
        };
        if (ARCS_TOO) root = head_of(0, n, n);
        stack[depth++] = {0, n, root, LABELLED};
        while (depth > 0) {
            const auto [i, j, h, mode] = stack[--depth];
            const bool word = j == i + 1;
            bool labelled = mode == LABELLED;
            const auto split = [&, i = i, j = j, h = h](std::size_t k) { return view.split(i, k, j, h); };
            // With no label a span that may grow to the right alone has no dependents on the left of its head.
            const std::size_t right_only = mode == RIGHT_OPEN ? h + 1 : i + 1;
            if (!labelled) {
                typename S::Value without = S::ONE;
                if (!word) {
                    without = S::ZERO;
                    for (std::size_t k = right_only; k < j; ++k) without = S::sum(without, split(k));
                }
                const typename S::Value choices[] = {S::multiply(s.full[i][j], view.inner(i, j, h)),
                                                     S::multiply(s.empty[i][j], without)};
                labelled = draw<S>(shares.random, 0, 2, weights, [&](std::size_t k) { return choices[k]; }) == 0;
            }
            if (labelled) tree.add(i, j, true, ARCS_TOO ? static_cast<std::int32_t>(h) : NO_HEAD);
            if (word) continue;
            const std::size_t k = draw<S>(shares.random, labelled ? i + 1 : right_only, j, weights, split);
            const std::size_t first = h < k ? k : i, last = h < k ? j : k;  // the dependent
            const std::size_t m = ARCS_TOO ? head_of(first, last, h) : h;
            const Pending dependent{first, last, m, last == first + 1 ? ANY : LABELLED};
            if (h < k) {
                stack[depth++] = dependent;
                stack[depth++] = {i, k, h, k == i + 1 ? ANY : RIGHT_OPEN};
            } else {
                stack[depth++] = {k, j, h, ANY};
                stack[depth++] = dependent;
            }
        }
        shares.receive(shares.receiver, tree);
    }
}

}  // namespace h3n::H3N_TARGET
