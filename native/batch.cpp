#include "batch.hpp"

#include <algorithm>
#include <atomic>
#include <cstdlib>
#include <exception>
#include <limits>
#include <memory>
#include <mutex>
#include <new>
#include <numeric>
#include <system_error>
#include <thread>
#include <utility>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace h3n {

// ---- memory ----

struct Workspace::Block {
    Block* older;
    std::size_t size, used;
};

namespace {

constexpr std::size_t ALIGNMENT = 64;
constexpr std::size_t HUGE_PAGE = std::size_t{1} << 21;
constexpr std::size_t KEPT_BYTES = std::size_t{64} << 20;  // between calls, per workspace
constexpr std::size_t KEPT_WORKSPACES = 8;

void* allocate(std::size_t bytes) {
    const std::size_t alignment = bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT;
    void* memory = ::operator new(bytes, std::align_val_t{alignment});
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    // A chart is touched once from end to end; with small pages the kernel would spend as long as we do.
    if (alignment == HUGE_PAGE) madvise(memory, bytes, MADV_HUGEPAGE);
#endif
    return memory;
}

void deallocate(void* memory, std::size_t bytes) {
    ::operator delete(memory, std::align_val_t{bytes >= HUGE_PAGE ? HUGE_PAGE : ALIGNMENT});
}

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

Workspace::~Workspace() { release(); }

void Workspace::release() {
    while (newest_ != nullptr) {
        Block* older = newest_->older;
        deallocate(newest_, newest_->size);
        newest_ = older;
    }
}

void* Workspace::take_bytes(std::size_t bytes) {
    bytes = round_up(bytes, ALIGNMENT);
    if (newest_ == nullptr || newest_->size - newest_->used < bytes) {
        const std::size_t size = std::max(round_up(bytes + ALIGNMENT, std::size_t{1} << 16), std::size_t{1} << 18);
        newest_ = new (allocate(size)) Block{newest_, size, ALIGNMENT};
    }
    char* piece = reinterpret_cast<char*>(newest_) + newest_->used;
    newest_->used += bytes;
    return piece;
}

void Workspace::reset() {
    if (newest_ == nullptr) return;
    if (newest_->older != nullptr) {  // next time in one block
        std::size_t total = 0;
        for (Block* block = newest_; block != nullptr; block = block->older) total += block->size;
        release();
        newest_ = new (allocate(total)) Block{nullptr, total, ALIGNMENT};
    }
    newest_->used = ALIGNMENT;
}

void Workspace::trim(std::size_t keep) {
    std::size_t total = 0;
    for (Block* block = newest_; block != nullptr; block = block->older) total += block->size;
    if (total > keep) release();
}

namespace {

// Workspaces that outlive a call, so that the next one need not ask the system for fresh pages, which takes as long as a
// good part of decoding. Never waits for its lock: who cannot have it at once makes a workspace of his own.
class Pool {
  public:
    std::unique_ptr<Workspace> take() {
        const std::unique_lock<std::mutex> lock(lock_, std::try_to_lock);
        if (!lock.owns_lock() || free_.empty()) return std::make_unique<Workspace>();
        std::unique_ptr<Workspace> taken = std::move(free_.back());
        free_.pop_back();
        return taken;
    }
    void give(std::unique_ptr<Workspace> used) {
        used->trim(KEPT_BYTES);
        const std::unique_lock<std::mutex> lock(lock_, std::try_to_lock);
        if (lock.owns_lock() && free_.size() < KEPT_WORKSPACES) free_.push_back(std::move(used));
    }

  private:
    std::mutex lock_;
    std::vector<std::unique_ptr<Workspace>> free_;
};

Pool& pool() {
    static Pool only;
    return only;
}

}  // namespace

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

void decode(const Sentence& sentence, const Decoder& decoder, Workspace& workspace, Result& result) {
    if (sentence.words == 0) return;
    result.status = check(sentence, decoder.needs);
    if (result.status != Status::fine) return;
    if (decoder.needs & SPANS) result.nodes.resize(2 * sentence.words - 1);
    if (decoder.needs & ARCS) result.governors.resize(sentence.words);
    Tree tree{result.nodes.data(), 0, result.governors.data()};
    workspace.reset();
    if (!decoder.kernel(sentence, workspace, tree)) {
        result.status = Status::no_tree;
        return;
    }
    result.score = score_of(sentence, tree, decoder.needs & ARCS);
}

}  // namespace

// ---- all sentences ----

std::vector<Result> decode_batch(const std::vector<Sentence>& sentences, const std::vector<const Decoder*>& decoders,
                                 std::size_t threads, const Listener& listener) {
    const std::size_t count = sentences.size();
    std::vector<Result> results(count);
    std::vector<double> costs(count);
    for (std::size_t s = 0; s < count; ++s) costs[s] = decoders[s]->cost(static_cast<double>(sentences[s].words));
    const double total = std::accumulate(costs.begin(), costs.end(), 0.0);
    constexpr double WORTH_A_THREAD = 4e6;  // some hundred microseconds; starting a thread takes some ten
    threads = std::min({std::max<std::size_t>(threads, 1), std::max<std::size_t>(count, 1),
                        static_cast<std::size_t>(total / WORTH_A_THREAD) + 1});

    // The dearest first, so that no thread is left alone with one at the end.
    std::vector<std::size_t> order(count);
    std::iota(order.begin(), order.end(), std::size_t{0});
    if (threads > 1)
        std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return costs[a] > costs[b]; });

    std::atomic<std::size_t> next{0};
    std::vector<std::atomic<bool>> done(count);
    std::exception_ptr failure;
    std::mutex failure_lock;
    const auto work = [&](const auto& after_each) {
        try {
            std::unique_ptr<Workspace> workspace = pool().take();
            for (std::size_t turn; (turn = next.fetch_add(1)) < count;) {
                const std::size_t s = order[turn];
                decode(sentences[s], *decoders[s], *workspace, results[s]);
                done[turn].store(true, std::memory_order_release);
                after_each();
            }
            pool().give(std::move(workspace));
        } catch (...) {
            const std::lock_guard<std::mutex> guard(failure_lock);
            failure = std::current_exception();
            next = count;  // the others need not go on
        }
    };

    std::vector<std::thread> helpers;
    helpers.reserve(threads - 1);
    try {
        for (std::size_t t = 1; t < threads; ++t)
            helpers.emplace_back([&] { work([] {}); });
    } catch (const std::system_error&) {  // no more threads to be had: those there are do the work
    }

    std::size_t told = 0;
    const auto tell = [&](std::size_t at_least) {
        std::size_t ready = told;
        while (ready < count && done[ready].load(std::memory_order_acquire)) ++ready;
        if (!listener || ready - told < at_least) return;
        listener(results, order.data() + told, ready - told);
        told = ready;
    };
    // Few and large groups: the listener may have to wait for a lock each time.
    const std::size_t group = std::max<std::size_t>(count / 8, 8);
    work([&] {
        if (!helpers.empty()) tell(group);
    });
    for (std::thread& helper : helpers) helper.join();
    if (failure) std::rethrow_exception(failure);
    tell(1);
    return results;
}

}  // namespace h3n
