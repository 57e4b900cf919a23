#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <numeric>
#include <queue>
#include <utility>

#include "threads.hpp"
#include "workspace.hpp"

namespace h3n {

// ---- targets ----

namespace baseline { extern const Target target; }
#if defined(H3N_HAS_AVX2)
namespace avx2 { extern const Target target; }
#endif
#if defined(H3N_HAS_AVX512)
namespace avx512 { extern const Target target; }
#endif

const std::vector<const Target*>& supported_targets() {
    static const std::vector<const Target*> targets = [] {
        std::vector<const Target*> list;
#if defined(H3N_HAS_AVX512)
        if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq")) list.push_back(&avx512::target);
#endif
#if defined(H3N_HAS_AVX2)
        if (__builtin_cpu_supports("avx2")) list.push_back(&avx2::target);
#endif
        list.push_back(&baseline::target);
        return list;
    }();
    return targets;
}

// ---- one sentence ----

namespace {

// How many values are NaN or +inf. A count, not an answer at the first: without a branch the loop is vectorised.
int count_unusable(const float* values, std::size_t count) {
    int unusable = 0;
    for (std::size_t k = 0; k < count; ++k) unusable += values[k] <= std::numeric_limits<float>::max() ? 0 : 1;
    return unusable;
}

int count_below(const float* open, const float* full, std::size_t count) {
    int below = 0;
    for (std::size_t k = 0; k < count; ++k) below += open[k] < full[k] ? 1 : 0;
    return below;
}

}  // namespace

Status check(const Sentence& sentence, unsigned needs) {
    const std::size_t n = sentence.words;
    int unusable = 0, below = 0;
    if (needs & SPANS)
        for (std::size_t i = 0; i < n; ++i) {
            const float *full = sentence.full[i] + i + 1, *open = sentence.open[i] + i + 1;
            unusable += count_unusable(full, n - i) + count_unusable(open, n - i);
            below += count_below(open, full, n - i);
        }
    if (needs & ARCS) {
        unusable += count_unusable(sentence.root, n);
        for (std::size_t h = 0; h < n; ++h)  // less the arc from the word to itself
            unusable += count_unusable(sentence.arc[h], n) - count_unusable(sentence.arc[h] + h, 1);
    }
    if (needs & HEADS) unusable += count_unusable(sentence.head, n);
    return unusable > 0 ? Status::not_number : below > 0 ? Status::below_full : Status::fine;
}

double score_of(const Sentence& sentence, const Tree& tree, bool arcs) {
    double score = 0.0;
    for (std::size_t k = 0; k < tree.node_count; ++k) {
        const Node& node = tree.nodes[k];
        score += (node.labelled ? sentence.full : sentence.open)[node.start][node.end];
    }
    if (arcs)
        for (std::size_t m = 0; m < sentence.words; ++m)
            score += tree.governors[m] == ROOT ? sentence.root[m] : sentence.arc[tree.governors[m]][m];
    return score;
}

namespace {

void decode(const Sentence& sentence, const Decoder& decoder, Workspace& workspace, Result& result) {
    if (sentence.words == 0) return;
    result.status = check(sentence, decoder.needs);
    if (result.status != Status::fine) return;
    if (decoder.needs & SPANS) result.nodes.resize(2 * sentence.words - 1);
    if (decoder.needs & ARCS) result.governors.resize(sentence.words);
    Tree tree{result.nodes.data(), 0, result.governors.data()};
    workspace.reset();
    if (!decoder.kernel(sentence, workspace, tree, nullptr)) {
        result.status = Status::no_tree;
        return;
    }
    result.score = score_of(sentence, tree, decoder.needs & ARCS);
    if (!std::isfinite(result.score)) result.status = Status::changed;
}

}  // namespace

// ---- all sentences ----

namespace {

constexpr double WORTH_A_THREAD = 2e6;  // some ten microseconds; waking a thread takes as long

// What the threads at work on a batch share.
class Work {
  public:
    Work(const std::vector<Sentence>& sentences, const std::vector<const Decoder*>& decoders, std::size_t threads)
        : results(sentences.size()), order(sentences.size()), sentences_(sentences), decoders_(decoders),
          done_(sentences.size()) {
        std::vector<double> costs(count());
        for (std::size_t s = 0; s < count(); ++s)
            costs[s] = decoders[s]->cost(static_cast<double>(sentences[s].words));
        const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
        helpers = std::min({std::max<std::size_t>(threads, 1), std::max<std::size_t>(count(), 1),
                            static_cast<std::size_t>(total / WORTH_A_THREAD) + 1}) - 1;
        // The dearest first, so that no thread is left alone with one at the end.
        std::iota(order.begin(), order.end(), std::size_t{0});
        if (helpers > 0)
            std::stable_sort(order.begin(), order.end(),
                             [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });
    }

    // Decodes one sentence after the other until none is left. Never throws: see `rethrow`.
    void run(const Watch& watch, const std::function<void()>& after_each = {}) noexcept {
        try {
            std::unique_ptr<Workspace> workspace = take_workspace();
            workspace->watch(&watch);
            for (std::size_t turn; (turn = next_.fetch_add(1)) < count();) {
                const std::size_t s = order[turn];
                decode(sentences_[s], *decoders_[s], *workspace, results[s]);
                done_[turn].store(true, std::memory_order_release);
                if (after_each) after_each();
            }
            give_back(std::move(workspace));
        } catch (...) {
            stop(std::current_exception());
        }
    }

    // Ends the work of all threads; the first to do so is the one that says why.
    void stop(std::exception_ptr why) {
        const std::lock_guard<std::mutex> guard(failure_lock_);
        if (!failure_) failure_ = std::move(why);
        next_ = count();
        stopped_ = true;
    }
    bool is_stopped() const { return stopped_.load(std::memory_order_relaxed); }
    void leave_if_stopped() const {
        if (is_stopped()) throw Stopped{};
    }
    void rethrow() const {
        if (failure_) std::rethrow_exception(failure_);
    }

    std::size_t count() const { return order.size(); }
    bool is_done(std::size_t turn) const { return done_[turn].load(std::memory_order_acquire); }

    std::vector<Result> results;
    std::vector<std::size_t> order;  // the numbers of the sentences in the order in which they are decoded
    std::size_t helpers;             // how many threads beside the calling one are worth their while

  private:
    struct Stopped {};
    const std::vector<Sentence>& sentences_;
    const std::vector<const Decoder*>& decoders_;
    std::vector<std::atomic<bool>> done_;  // per turn
    std::atomic<std::size_t> next_{0};
    std::atomic<bool> stopped_{false};
    std::exception_ptr failure_;
    std::mutex failure_lock_;
};

// Calls something every LOOK_UP_EVERY milliseconds, however often it is asked.
class Clock {
  public:
    void tick(const LookUp& look_up) {
        const auto now = std::chrono::steady_clock::now();
        if (!look_up || now - last_ < std::chrono::milliseconds(LOOK_UP_EVERY)) return;
        last_ = now;
        look_up();
    }

  private:
    std::chrono::steady_clock::time_point last_ = std::chrono::steady_clock::now();
};

}  // namespace

std::vector<Result> decode_batch(const std::vector<Sentence>& sentences, const std::vector<const Decoder*>& decoders,
                                 std::size_t threads, const Listener& listener, const LookUp& look_up) {
    Work work(sentences, decoders, threads);
    Help help(work.helpers, [&] { work.run({[&] { work.leave_if_stopped(); }}); });

    std::size_t told = 0;
    const auto tell = [&](std::size_t at_least) {
        std::size_t ready = told;
        while (ready < work.count() && work.is_done(ready)) ++ready;
        if (!listener || ready - told < at_least) return;
        listener(work.results, work.order.data() + told, ready - told);
        told = ready;
    };
    // Few and large groups: the listener may have to wait for a lock each time.
    const std::size_t group = std::max<std::size_t>(work.count() / 8, 8);
    Clock clock;
    work.run(
        {[&] {
            work.leave_if_stopped();
            clock.tick(look_up);
        }},
        [&] {
            if (work.helpers > 0) tell(group);
        });
    help.finish([&] {
        if (work.is_stopped()) return;
        try {
            clock.tick(look_up);
        } catch (...) {
            work.stop(std::current_exception());
        }
    });
    work.rethrow();
    tell(1);
    return std::move(work.results);
}

void rank_by_tree(const std::vector<std::int32_t>& governors, const float* head, float* heads) {
    const auto words = static_cast<std::int32_t>(governors.size());
    std::vector<std::vector<std::int32_t>> dependents(governors.size());
    const auto later = [head](std::int32_t a, std::int32_t b) { return head[a] < head[b] || (head[a] == head[b] && a > b); };
    std::priority_queue<std::int32_t, std::vector<std::int32_t>, decltype(later)> ready(later);
    for (std::int32_t m = 0; m < words; ++m) {
        if (governors[m] == ROOT)
            ready.push(m);
        else
            dependents[governors[m]].push_back(m);
    }
    for (std::int32_t place = words; !ready.empty(); --place) {
        const std::int32_t word = ready.top();
        ready.pop();
        heads[word] = static_cast<float>(place);
        for (const std::int32_t m : dependents[word]) ready.push(m);
    }
}

}  // namespace h3n
