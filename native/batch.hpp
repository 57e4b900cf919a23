// Many sentences at once, on several threads, with the kernels that suit this machine.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "sentence.hpp"

namespace h3n {

// The targets this machine can run, best first.
const std::vector<const Target*>& supported_targets();

enum class Status : std::int32_t {
    fine = 0,
    no_tree = 1,     // no parse has a finite score
    not_number = 2,  // NaN or +inf among the scores
    below_full = 3,  // open < full somewhere
};

struct Result {
    Status status = Status::fine;
    double score = 0.0;  // summed over the tree in double
    std::vector<Node> nodes;
    std::vector<std::int32_t> governors;
};

// Called by the calling thread, now and then and at the end, with sentences that are finished, each once. With several
// threads something can be made of their results while the others are at work.
using Listener = std::function<void(const std::vector<Result>& results, const std::size_t* sentences, std::size_t count)>;

// One result per sentence, in order, the same whatever the number of threads. `decoders` has one per sentence.
std::vector<Result> decode_batch(const std::vector<Sentence>& sentences, const std::vector<const Decoder*>& decoders,
                                 std::size_t threads, const Listener& listener = {});

}  // namespace h3n
