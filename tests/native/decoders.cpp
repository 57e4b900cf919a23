// The native decoders without Python, for the sanitizers: inputs lie in heap blocks of exactly their size, so that a
// read past either end is caught, and every kernel this machine can run decodes every length up to a few vectors.
#include <algorithm>
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <memory>
#include <random>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "forest.hpp"

namespace {

using h3n::Decoder;
using h3n::Result;
using h3n::Sentence;
using h3n::Status;
using h3n::Target;

constexpr float INF = std::numeric_limits<float>::infinity();

int failures = 0;

void expect(bool holds, const std::string& what) {
    if (holds) return;
    std::fprintf(stderr, "FAILED: %s\n", what.c_str());
    ++failures;
}

// One sentence that owns its scores.
struct Sample {
    Sentence sentence;
    std::vector<std::unique_ptr<float[]>> owned;

    float* take(std::size_t count, std::mt19937& random, double forbid) {
        owned.emplace_back(new float[count]);
        std::uniform_int_distribution<int> score(-4, 4);
        std::bernoulli_distribution never(forbid);
        for (std::size_t k = 0; k < count; ++k) owned.back()[k] = never(random) ? -INF : static_cast<float>(score(random));
        return owned.back().get();
    }

    // `slack` is how much further apart than they are long the rows lie.
    Sample(std::size_t n, std::mt19937& random, double forbid = 0.0, std::size_t slack = 0) {
        const std::size_t posts = n + 1, stride = posts + slack, size = n * stride + posts;
        float *full = take(size, random, forbid), *open = take(size, random, forbid);
        for (std::size_t k = 0; k < size; ++k) open[k] = full[k] > 0 ? full[k] : 0.0F;
        sentence.words = n;
        sentence.full = {full, stride};
        sentence.open = {open, stride};
        sentence.arc = {take(n * n, random, forbid), n};
        sentence.root = take(n, random, forbid);
        sentence.head = take(n, random, 0.0);
    }
};

const Target& best() { return *h3n::supported_targets().front(); }

const Decoder& named(const std::string& name) {
    for (std::size_t d = 0; d < best().count; ++d)
        if (best().decoders[d].name == name) return best().decoders[d];
    std::fprintf(stderr, "no decoder %s\n", name.c_str());
    std::exit(EXIT_FAILURE);
}

Result decode(const Sentence& sentence, const Decoder& decoder) {
    return h3n::decode_batch({sentence}, {&decoder}, 1).front();
}

bool same(const Result& a, const Result& b) {
    if (a.status != b.status || a.score != b.score || a.governors != b.governors) return false;
    if (a.status != Status::fine) return true;
    if (a.nodes.size() != b.nodes.size()) return false;
    for (std::size_t k = 0; k < a.nodes.size(); ++k) {
        const h3n::Node &x = a.nodes[k], &y = b.nodes[k];
        if (x.start != y.start || x.end != y.end || x.labelled != y.labelled || x.head != y.head) return false;
    }
    return true;
}

void every_kernel_agrees(std::size_t longest) {
    std::mt19937 random(1);
    for (std::size_t n = 0; n <= longest; ++n)
        for (const double forbid : {0.0, 0.1}) {
            const Sample sample(n, random, forbid, n % 3);
            Result exact, given, published;
            for (std::size_t d = 0; d < best().count; ++d) {
                const std::string name = best().decoders[d].name;
                if (name == "hpsg_n5" && n > 33) continue;
                const Result first = decode(sample.sentence, best().decoders[d]);
                for (const Target* target : h3n::supported_targets())
                    expect(same(first, decode(sample.sentence, target->decoders[d])),
                           std::string(target->name) + " differs, decoder " + name + ", words " + std::to_string(n));
                if (name == "hpsg") exact = first;
                if (name == "h3n") given = first;
                if (name == "hpsg_n5") published = first;
                if (forbid == 0.0) expect(first.status == Status::fine, "some tree is there");
            }
            if (n <= 33) expect(exact.status == published.status && exact.score == published.score, "n^4 finds what n^5 finds");
            if (given.status == Status::fine) expect(given.score <= exact.score, "the exact decoder is never beaten");
        }
}

// The k best, probabilities and samples of every target, under the sanitizers; the enumeration is in tests/decode.
void forests_agree_with_the_search() {
    std::mt19937 random(10);
    for (std::size_t n = 0; n <= 18; ++n) {
        const Sample sample(n, random, n % 2 * 0.05, n % 3);
        for (const Target* target : h3n::supported_targets())
            for (std::size_t d = 0; d < target->count; ++d) {
                const Decoder& decoder = target->decoders[d];
                const std::string name = decoder.name;
                if (name == "mst" || name == "hpsg_n5") continue;
                h3n::Workspace workspace;
                const Result best = decode(sample.sentence, decoder);
                const h3n::Answer answer = h3n::explore(sample.sentence, decoder, {4, 3, 7, true}, workspace);
                expect(answer.status == best.status, "a forest wherever there is a tree, " + name);
                if (best.status != Status::fine) continue;
                expect(!answer.trees.empty() && answer.trees.front().score <= best.score, "the best comes first, " + name);
                for (std::size_t k = 1; k < answer.trees.size(); ++k)
                    expect(answer.trees[k].score <= answer.trees[k - 1].score, "in order, " + name);
                expect(answer.samples.size() == 3 && answer.log_partition >= answer.trees.front().score - 1e-9,
                       "the sum is more than its largest part, " + name);
            }
    }
}

void self_loops_are_never_read(std::size_t longest) {
    std::mt19937 random(5);
    for (std::size_t n = 1; n <= longest; n += n < 20 ? 1 : 7) {
        Sample sample(n, random, 0.05);
        std::vector<Result> before;
        const auto decode_all = [&](std::vector<Result>& results) {
            for (const Target* target : h3n::supported_targets())
                for (std::size_t d = 0; d < target->count; ++d)
                    results.push_back(decode(sample.sentence, target->decoders[d]));
        };
        decode_all(before);
        for (const float bad : {std::numeric_limits<float>::quiet_NaN(), INF, -INF}) {
            std::vector<Result> after;
            for (std::size_t m = 0; m < n; ++m) sample.owned[2][m * n + m] = bad;
            decode_all(after);
            for (std::size_t k = 0; k < before.size(); ++k) expect(same(before[k], after[k]), "self-loops");
        }
    }
}

void heads_in_order() {
    std::mt19937 random(2);
    for (const int direction : {-1, 0, 1}) {
        Sample sample(75, random);
        std::vector<float> rank(75);
        for (int k = 0; k < 75; ++k) rank[static_cast<std::size_t>(k)] = static_cast<float>(direction * k);
        sample.sentence.head = rank.data();
        const auto index = static_cast<std::size_t>(&named("h3n") - best().decoders);
        const Result first = decode(sample.sentence, named("h3n"));
        for (const Target* target : h3n::supported_targets())
            expect(same(first, decode(sample.sentence, target->decoders[index])), "heads in order");
        expect(first.governors[direction < 0 ? 0 : 74] == h3n::ROOT, "the root is the highest");
    }
}

void threads_change_nothing() {
    std::mt19937 random(3);
    std::vector<Sample> samples;
    std::vector<Sentence> sentences;
    std::vector<const Decoder*> decoders;
    for (std::size_t k = 0; k < 48; ++k) {
        samples.emplace_back(k * 7 % 90, random);
        sentences.push_back(samples.back().sentence);
        decoders.push_back(&best().decoders[k % 5]);
    }
    const auto one = h3n::decode_batch(sentences, decoders, 1);
    const auto four = h3n::decode_batch(sentences, decoders, 4);
    for (std::size_t k = 0; k < one.size(); ++k) expect(same(one[k], four[k]), "threads");
    expect(h3n::decode_batch({}, {}, 4).empty(), "an empty batch");
}

void bad_scores_are_told() {
    std::mt19937 random(4);
    for (const float bad : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::quiet_NaN(), INF})
        for (std::size_t place = 0; place < 5; ++place) {
            Sample sample(20, random);
            const std::size_t cell[] = {5, 5, 3, 19, 0};
            sample.owned[place][cell[place]] = bad;
            expect(decode(sample.sentence, named("h3n")).status == Status::not_number,
                   "a bad score in array " + std::to_string(place));
        }
    Sample below(20, random);
    below.owned[0][7] = 5.0F;
    below.owned[1][7] = 4.0F;
    expect(decode(below.sentence, named("cky")).status == Status::below_full, "below");
    Sample never(20, random, 1.0);
    for (std::size_t d = 0; d < best().count; ++d)
        expect(decode(never.sentence, best().decoders[d]).status == Status::no_tree, "no tree");
}

// Scores may change after they were checked: kernels are given NaN and infinities that no check has seen.
void changed_scores_give_trees() {
    std::mt19937 random(6);
    std::bernoulli_distribution often(0.4);
    std::uniform_int_distribution<int> kind(0, 4);
    const float bad[] = {std::numeric_limits<float>::quiet_NaN(), INF, -INF, 3e38F, -3e38F};
    for (std::size_t round = 0; round < 300; ++round) {
        const std::size_t n = 1 + round % 40;
        Sample sample(n, random, 0.1);
        const std::size_t sizes[] = {n * (n + 1) + n + 1, n * (n + 1) + n + 1, n * n, n, n};
        for (std::size_t array = 0; array < 5; ++array)
            for (std::size_t k = 0; k < sizes[array]; ++k)
                if (often(random)) sample.owned[array][k] = bad[round % 6 == 5 ? 0 : kind(random)];
        for (const Target* target : h3n::supported_targets())
            for (std::size_t d = 0; d < target->count; ++d) {
                h3n::Workspace workspace;
                std::vector<h3n::Node> nodes(2 * n - 1);
                std::vector<std::int32_t> governors(n, 0);
                h3n::Tree tree{nodes.data(), 0, governors.data()};
                const Decoder& decoder = target->decoders[d];
                if (!decoder.kernel(sample.sentence, workspace, tree, nullptr)) continue;
                if (decoder.needs & h3n::SPANS) expect(tree.node_count == 2 * n - 1, "all nodes of a tree");
                if (!(decoder.needs & h3n::ARCS)) continue;
                expect(std::count(governors.begin(), governors.end(), h3n::ROOT) == 1, "one root word");
                for (std::size_t m = 0; m < n; ++m) {
                    std::size_t steps = 0;
                    for (auto word = static_cast<std::int32_t>(m); word != h3n::ROOT && steps <= n; ++steps) word = governors[word];
                    expect(steps <= n, std::string("no cycles, ") + decoder.name);
                }
            }
    }
}

// Batches of any lengths, strides and numbers, in several threads: each sentence has a tree or is told what is wrong.
void any_batch_is_decoded_or_refused(std::size_t longest) {
    std::mt19937 random(9);
    const float odd[] = {std::numeric_limits<float>::quiet_NaN(), INF, -INF, 3e38F, -3e38F, 1e-40F};
    const auto below = [&](std::size_t bound) { return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random); };
    for (std::size_t round = 0; round < 200; ++round) {
        std::vector<Sample> samples;
        std::vector<Sentence> sentences;
        std::vector<const Decoder*> decoders;
        const Target& target = *h3n::supported_targets()[below(h3n::supported_targets().size())];
        for (std::size_t k = 0; k < 1 + below(6); ++k) {
            const std::size_t n = below(std::min<std::size_t>(longest, 30));
            samples.emplace_back(n, random, below(3) * 0.3, below(4));
            const std::size_t sizes[] = {n + 1, n + 1, n * n, n, n};
            for (std::size_t changes = below(4); changes > 0; --changes) {
                const std::size_t array = below(5);
                if (sizes[array] > 0) samples.back().owned[array][below(sizes[array])] = odd[below(6)];
            }
            sentences.push_back(samples.back().sentence);
            decoders.push_back(&target.decoders[below(target.count)]);
        }
        const auto results = h3n::decode_batch(sentences, decoders, 1 + below(3));
        for (std::size_t k = 0; k < results.size(); ++k) {
            const bool arcs = results[k].status == Status::fine && (decoders[k]->needs & h3n::ARCS);
            expect(!arcs || results[k].governors.size() == sentences[k].words, "a governor for each word");
        }
    }
}

// Whatever the thread that looks up throws ends the batch, while it works and while it waits for others.
void interrupts_end_a_batch() {
    std::mt19937 random(7);
    const Sample sample(120, random);
    for (const std::size_t threads : {1, 2, 4}) {
        const std::vector<Sentence> sentences(5000, sample.sentence);
        const std::vector<const Decoder*> decoders(5000, &named("hpsg_n5"));
        int looks = 0;
        bool thrown = false;
        try {
            h3n::decode_batch(sentences, decoders, threads, {}, [&] {
                if (++looks == 2) throw std::runtime_error("interrupted");
            });
        } catch (const std::runtime_error&) {
            thrown = true;
        }
        expect(thrown && looks == 2, "an interrupt");
    }
}

void several_callers_share_the_threads() {
    std::mt19937 random(8);
    const Sample sample(90, random);
    const std::vector<Sentence> sentences(40, sample.sentence);
    const std::vector<const Decoder*> decoders(40, &named("h3n"));
    const Result expected = decode(sample.sentence, named("h3n"));
    std::vector<std::thread> callers;
    std::atomic<int> wrong{0};
    for (int c = 0; c < 4; ++c)
        callers.emplace_back([&] {
            for (int round = 0; round < 20; ++round)
                for (const Result& result : h3n::decode_batch(sentences, decoders, 3)) wrong += same(result, expected) ? 0 : 1;
        });
    for (std::thread& caller : callers) caller.join();
    expect(wrong == 0, "several callers");
}

}  // namespace

// The longest sentence may be given: an emulator takes minutes for the usual one.
int main(int count, char** arguments) {
    const std::size_t longest = count > 1 ? static_cast<std::size_t>(std::atoi(arguments[1])) : 70;
    every_kernel_agrees(longest);
    forests_agree_with_the_search();
    self_loops_are_never_read(longest);
    heads_in_order();
    threads_change_nothing();
    bad_scores_are_told();
    changed_scores_give_trees();
    any_batch_is_decoded_or_refused(longest);
    interrupts_end_a_batch();
    several_callers_share_the_threads();
    std::string targets;
    for (const Target* target : h3n::supported_targets()) targets += std::string(" ") + target->name;
    std::printf("%s:%s\n", failures == 0 ? "fine" : "failed", targets.c_str());
    return failures == 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}
