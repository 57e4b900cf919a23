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
    too_large = 5,   // the charts have no room: see forest.hpp
    odd_empty = 6,   // a span without a label is worth something: see forest.hpp
    changed = 4,     // the scores are no longer those that were checked, or their sums are too large for a float
};

// What is wrong with the scores a decoder needs, if anything.
Status check(const Sentence& sentence, unsigned needs);

// What a tree is worth, summed in double.
double score_of(const Sentence& sentence, const Tree& tree, bool arcs);

struct Result {
    Status status = Status::fine;
    double score = 0.0;  // summed over the tree in double
    std::vector<Node> nodes;
    std::vector<std::int32_t> governors;
};

// Called by the calling thread, now and then and at the end, with sentences that are finished, each once. With several
// threads something can be made of their results while the others are at work.
using Listener = std::function<void(const std::vector<Result>& results, const std::size_t* sentences, std::size_t count)>;

// Called by the calling thread every LOOK_UP_EVERY milliseconds, however long a sentence takes. What it throws ends the
// batch and comes out of decode_batch.
using LookUp = std::function<void()>;

// One result per sentence, in order, the same whatever the number of threads. `decoders` has one per sentence.
std::vector<Result> decode_batch(const std::vector<Sentence>& sentences, const std::vector<const Decoder*>& decoders,
                                 std::size_t threads, const Listener& listener = {}, const LookUp& look_up = {});

// Head scores that rank every word below its governor, and otherwise by `head`: again and again the best word whose
// governor has a place gets the next one. The first has as many points as there are words, the last has 1; of equal
// words the earlier comes first. `heads` has room for all words.
void rank_by_tree(const std::vector<std::int32_t>& governors, const float* head, float* heads);

}  // namespace h3n
