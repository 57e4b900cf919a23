// The best dependency tree, crossing arcs allowed, with one root word (Chu-Liu/Edmonds): O(n^2) time and memory.
//
// Cycles are contracted as a path of best incoming arcs grows (Tarjan 1977); one row of incoming arcs per contracted
// node is merged into another in O(n), so all contractions together cost O(n^2).
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

namespace mst_parts {

// Everything the contraction needs. Nodes 0 .. n-1 are the words, n .. 2n-2 the contracted cycles. A node's incoming
// arcs are row[node] of `weight` and `enters`; a contracted node takes over the row of one of its parts.
struct Forest {
    std::size_t n;
    double* weight;           // weight[row][u]: best arc from word u (u == n: from the root) into the node, less what
                              // the nodes inside it have already chosen
    std::int32_t* enters;     // enters[row][u]: the word at which that arc arrives
    std::int32_t* row;        // per node
    std::int32_t* parent;     // per node: the contracted node it became part of, or -1
    std::int32_t* source;     // per node: the word (or n) its chosen arc comes from
    std::int32_t* target;     // per node: the word its chosen arc arrives at
    double* chosen;           // per node: the weight of the chosen arc
    std::int32_t* node_of;    // per word: the outermost node it is in
    std::int32_t* next_word;  // words of one outermost node, as a ring
    std::size_t columns() const { return n + 1; }
};

// What a root arc must cost so that no tree gains by having a second one. In double, so that it swallows nothing.
inline double root_penalty(const Sentence& sentence, Workspace& workspace) {
    const std::size_t n = sentence.words;
    double total = 1.0;
    for (std::size_t m = 0; m < n; ++m) {
        workspace.spend(20.0 * static_cast<double>(n));
        float low = std::numeric_limits<float>::infinity(), high = NEVER;
        const auto see = [&](float score) {
            if (score == NEVER) return;
            if (score < low) low = score;
            if (score > high) high = score;
        };
        see(sentence.root[m]);
        for (std::size_t h = 0; h < n; ++h)
            if (h != m) see(sentence.arc[h][m]);
        if (high > low) total += static_cast<double>(high) - low;
    }
    return total;
}

inline Forest make_forest(const Sentence& sentence, Workspace& workspace) {
    const std::size_t n = sentence.words;
    Forest forest{n,
                  workspace.take<double>(n * (n + 1)),
                  workspace.take<std::int32_t>(n * (n + 1)),
                  workspace.take<std::int32_t>(2 * n),
                  workspace.take<std::int32_t>(2 * n),
                  workspace.take<std::int32_t>(2 * n),
                  workspace.take<std::int32_t>(2 * n),
                  workspace.take<double>(2 * n),
                  workspace.take<std::int32_t>(n),
                  workspace.take<std::int32_t>(n)};
    const double penalty = root_penalty(sentence, workspace);
    for (std::size_t m = 0; m < n; ++m) {
        const auto word = static_cast<std::int32_t>(m);
        for (std::size_t h = 0; h < n; ++h) {
            forest.weight[m * (n + 1) + h] = h == m ? NEVER : sentence.arc[h][m];
            forest.enters[m * (n + 1) + h] = word;
        }
        forest.weight[m * (n + 1) + n] = sentence.root[m] - penalty;
        forest.enters[m * (n + 1) + n] = word;
        forest.row[m] = forest.node_of[m] = forest.next_word[m] = word;
        forest.parent[m] = -1;
    }
    return forest;
}

// Chooses the node's best incoming arc; false if it has none. Ties: the governor of lowest number, the root last.
inline bool choose(const Forest& forest, std::int32_t node) {
    const double* weight = forest.weight + forest.row[node] * forest.columns();
    std::size_t best = 0;
    for (std::size_t u = 1; u < forest.columns(); ++u)
        if (weight[u] > weight[best]) best = u;
    if (weight[best] == NEVER) return false;
    forest.source[node] = static_cast<std::int32_t>(best);
    forest.target[node] = forest.enters[forest.row[node] * forest.columns() + best];
    forest.chosen[node] = weight[best];
    return true;
}

// Merges the nodes of a cycle into `whole`: each arc into the cycle is worth what it adds over the arc it replaces.
inline void contract(const Forest& forest, const std::int32_t* cycle, std::size_t length, std::int32_t whole) {
    const std::size_t columns = forest.columns();
    const std::int32_t kept = forest.row[cycle[0]];
    double* weight = forest.weight + kept * columns;
    std::int32_t* enters = forest.enters + kept * columns;
    for (std::size_t u = 0; u < columns; ++u) weight[u] -= forest.chosen[cycle[0]];
    for (std::size_t c = 1; c < length; ++c) {
        const double* other = forest.weight + forest.row[cycle[c]] * columns;
        const std::int32_t* other_enters = forest.enters + forest.row[cycle[c]] * columns;
        const double less = forest.chosen[cycle[c]];
        for (std::size_t u = 0; u < columns; ++u) {
            const double score = other[u] - less;
            const bool better = score > weight[u];
            weight[u] = better ? score : weight[u];
            enters[u] = better ? other_enters[u] : enters[u];
        }
    }
    forest.row[whole] = kept;
    forest.parent[whole] = -1;
    for (std::size_t c = 0; c < length; ++c) forest.parent[cycle[c]] = whole;
}

}  // namespace mst_parts

inline bool mst(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts*) {
    using namespace mst_parts;
    const std::size_t n = sentence.words;
    const Forest forest = make_forest(sentence, workspace);
    enum State : std::int32_t { UNSEEN, ON_PATH, DONE };
    std::int32_t* state = workspace.take<std::int32_t>(2 * n);
    std::int32_t* path = workspace.take<std::int32_t>(2 * n);
    for (std::size_t node = 0; node < 2 * n; ++node) state[node] = UNSEEN;
    auto nodes = static_cast<std::int32_t>(n);

    for (std::size_t start = 0; start < n; ++start) {
        if (state[forest.node_of[start]] != UNSEEN) continue;
        workspace.spend(20.0 * static_cast<double>(n));
        std::size_t length = 0;
        path[length++] = forest.node_of[start];
        state[path[0]] = ON_PATH;
        for (;;) {
            const std::int32_t node = path[length - 1];
            if (!choose(forest, node)) return false;
            const auto source = static_cast<std::size_t>(forest.source[node]);
            if (source == n || state[forest.node_of[source]] == DONE) break;
            const std::int32_t before = forest.node_of[source];
            if (state[before] == UNSEEN) {
                path[length++] = before;
                state[before] = ON_PATH;
                continue;
            }
            std::size_t from = length;
            while (path[--from] != before) {
            }
            // Of two nodes or more, whatever the scores are: a node's arcs from its own words are NEVER, even among NaN.
            const std::int32_t whole = nodes++;
            contract(forest, path + from, length - from, whole);
            // One ring of all the words inside, and no arc from any of them.
            double* weight = forest.weight + forest.row[whole] * forest.columns();
            const std::int32_t ring = forest.target[path[from]];
            for (std::size_t c = from; c < length; ++c) {
                const std::int32_t first = forest.target[path[c]];
                if (c > from) {
                    const std::int32_t swapped = forest.next_word[ring];
                    forest.next_word[ring] = forest.next_word[first];
                    forest.next_word[first] = swapped;
                }
            }
            std::int32_t word = ring;
            do {
                forest.node_of[word] = whole;
                weight[word] = NEVER;
                word = forest.next_word[word];
            } while (word != ring);
            length = from;
            path[length++] = whole;
            state[whole] = ON_PATH;
        }
        for (std::size_t p = 0; p < length; ++p) state[path[p]] = DONE;
    }

    // From the outermost nodes inwards: the arc that enters a contracted node replaces, in each node on its way down to
    // the word it arrives at, the arc chosen there. Parents have higher numbers than their parts.
    std::int32_t* replaced = state;
    for (std::int32_t node = 0; node < nodes; ++node) replaced[node] = 0;
    std::size_t roots = 0;
    for (std::int32_t node = nodes; node-- > 0;) {
        if (replaced[node]) continue;
        const std::int32_t word = forest.target[node];
        const bool root = forest.source[node] == static_cast<std::int32_t>(n);
        tree.governors[word] = root ? ROOT : forest.source[node];
        roots += root ? 1 : 0;
        for (std::int32_t part = word; part != node; part = forest.parent[part]) replaced[part] = 1;
    }
    return roots == 1;
}

}  // namespace h3n::H3N_TARGET
