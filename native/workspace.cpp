#include "workspace.hpp"

#include <algorithm>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace h3n {

struct Workspace::Block {
    Block* older;
    std::size_t size, used;
};

namespace {

constexpr std::size_t ALIGNMENT = 64;
constexpr std::size_t HUGE_PAGE = std::size_t{1} << 21;
constexpr std::size_t KEPT_BYTES = std::size_t{64} << 20;  // between calls, per workspace
constexpr std::size_t KEPT_WORKSPACES = 8;
constexpr double STEPS_BETWEEN_LOOKS = 3e7;  // half a millisecond to some milliseconds

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

void Workspace::watch(const Watch* watch) {
    watch_ = watch;
    steps_left_ = STEPS_BETWEEN_LOOKS;
}

void Workspace::spend(double steps) {
    steps_left_ -= steps;
    if (steps_left_ > 0) return;
    steps_left_ = STEPS_BETWEEN_LOOKS;
    if (watch_ != nullptr) watch_->look_up();
}

// ---- between calls ----

namespace {

// Its lock is never waited for, in case it is held by a thread that a forked child no longer has.
struct Shelf {
    std::mutex lock;
    std::vector<std::unique_ptr<Workspace>> free;
};

Shelf& shelf() {
    static Shelf* only = new Shelf;  // never destroyed: a thread may still be decoding when the process ends
    return *only;
}

}  // namespace

std::unique_ptr<Workspace> take_workspace() {
    const std::unique_lock<std::mutex> lock(shelf().lock, std::try_to_lock);
    if (!lock.owns_lock() || shelf().free.empty()) return std::make_unique<Workspace>();
    std::unique_ptr<Workspace> workspace = std::move(shelf().free.back());
    shelf().free.pop_back();
    return workspace;
}

void give_back(std::unique_ptr<Workspace> workspace) {
    workspace->watch(nullptr);
    workspace->trim(KEPT_BYTES);
    const std::unique_lock<std::mutex> lock(shelf().lock, std::try_to_lock);
    if (lock.owns_lock() && shelf().free.size() < KEPT_WORKSPACES) shelf().free.push_back(std::move(workspace));
}

}  // namespace h3n
