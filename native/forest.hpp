// More than the best tree: the k best, probabilities, samples.
//
// A decoder fills its chart with maxima, fast. From the top of the chart down, `grow` lists every step of every tree
// that is at most `reach` below the best: nodes and edges of a forest. What the chart holds are bounds from above, so no
// such tree is lost. All else goes over the forest, whichever decoder it came from, once per semiring: maxima, sums
// of probabilities, lists of the k best.
//
// A tree is what its reader sees: spans with labels and heads, and governors. Unlabelled spans only binarize, and a flat
// phrase can be binarized in many ways. Here it is in one way alone: from the head child outwards, all dependents on the
// right first, then those on the left. So every tree has one derivation. A span without a label is worth 0 (or barred).
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "batch.hpp"

namespace h3n {

struct Question {
    std::size_t best = 0;     // how many trees, the best first
    std::size_t samples = 0;  // how many drawn at random
    std::uint64_t seed = 0;
    bool marginals = false;
    std::size_t limit = std::size_t{1} << 30;  // bytes of the forest
};

struct Answer {
    Status status = Status::fine;
    std::vector<Result> trees;    // the k best
    std::vector<Result> samples;
    double log_partition = 0.0, entropy = 0.0;
    std::vector<float> spans;     // (n+1) x (n+1): the probability of a label there
    std::vector<float> arcs;      // (n+1) x n: of each governor, the root in the last row
    std::vector<std::int32_t> head_cells;  // rows (start, end, head)
    std::vector<float> head_values;        // the probability of each
};

// The answers for one sentence by `cky`, `eisner`, `hpsg` or `h3n`.
Answer explore(const Sentence& sentence, const Decoder& decoder, const Question& question, Workspace& workspace);

// The distribution is exact but for trees that have e^-REACH of the probability of the best one, or less.
constexpr double REACH = 40.0;

}  // namespace h3n
