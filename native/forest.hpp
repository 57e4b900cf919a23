// More than the best tree: the k best, probabilities, samples.
//
// A tree is what its reader sees: spans with labels and heads, and governors. Unlabelled spans only binarize, and a flat
// phrase can be binarized in many ways. Here it is in one way alone: from the head child outwards, all dependents on the
// right first, then those on the left. So every tree has one derivation. A span without a label is worth 0 (or barred).
//
// Probabilities and samples come from the decoder's own recurrence, over sums: see semiring.hpp. The k best trees come
// from the chart of the search itself: a step of the best tree is replaced by the next best one where that costs least,
// and only what somebody asks for is looked at.
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
    std::size_t limit = std::size_t{1} << 30;  // bytes of the charts
};

struct Answer {
    Status status = Status::fine;
    std::vector<Result> trees;    // the k best
    std::vector<Result> samples;
    double log_partition = 0.0, entropy = 0.0;
    std::vector<float> spans;     // (n+1) x (n+1): the probability of a label there
    std::vector<float> arcs;      // (n+1) x n: of each governor, the root in the last row
    std::vector<std::int32_t> head_cells;  // rows (start, end, head), those of LEAST_HEAD or more
    std::vector<float> head_values;        // the probability of each
};

// The answers for one sentence; `mst` knows probabilities alone.
Answer explore(const Sentence& sentence, const Decoder& decoder, const Question& question, Workspace& workspace);

}  // namespace h3n
