// What goes into a decoder and what comes out of it. Words are 0 .. n-1, spans half-open, the governor of the root
// word is ROOT. Nothing here is compiled per target: see workspace.cpp for the bodies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>

namespace h3n {

constexpr float NEVER = -std::numeric_limits<float>::infinity();
constexpr std::int32_t ROOT = -1;
constexpr std::int32_t NO_HEAD = -1;

// A view of a row-major matrix whose rows may lie further apart than they are long.
template <class Value>
struct MatrixOf {
    const Value* data = nullptr;
    std::size_t stride = 0;
    const Value* operator[](std::size_t row) const { return data + row * stride; }
};
using Matrix = MatrixOf<float>;

// The scores of one sentence, or what a semiring makes of them. A decoder leaves alone what it does not need: null
// pointers there are fine.
template <class Value>
struct SentenceOf {
    std::size_t words = 0;
    // Another thread may write to the scores while they are read. Whatever it writes, a kernel ends and its tree is one.
    MatrixOf<Value> full;   // (n+1) x (n+1), read where i < j
    MatrixOf<Value> open;   // the same
    MatrixOf<Value> arc;    // n x n, [governor][word]; the diagonal is never read
    const Value* root = nullptr;  // n
    const float* head = nullptr;  // n
    MatrixOf<Value> empty;  // what no label is worth; null if `open` tells it. The best tree does not depend on it
};
using Sentence = SentenceOf<float>;

struct Node {
    std::int32_t start, end;
    std::int32_t labelled;  // 1 if the span carries a label, 0 if it only binarizes its parent
    std::int32_t head;      // NO_HEAD if the decoder finds no arcs
};

// Room for one parse, owned by the caller: 2n-1 nodes in pre-order and n governors, as far as the decoder makes them.
struct Tree {
    Node* nodes = nullptr;
    std::size_t node_count = 0;
    std::int32_t* governors = nullptr;
    void add(std::size_t start, std::size_t end, bool labelled, std::int32_t head) {
        nodes[node_count++] = {static_cast<std::int32_t>(start), static_cast<std::int32_t>(end), labelled ? 1 : 0, head};
    }
};

struct Watch;  // see workspace.hpp

// Memory handed out piece by piece and taken back all at once: one per thread, kept from sentence to sentence.
class Workspace {
  public:
    Workspace() = default;
    Workspace(const Workspace&) = delete;
    Workspace& operator=(const Workspace&) = delete;
    ~Workspace();

    // `count` values, aligned for any vector, not initialised. Throws std::bad_alloc.
    template <class Value>
    Value* take(std::size_t count) {
        return static_cast<Value*>(take_bytes(count * sizeof(Value)));
    }
    void reset();                     // everything taken is given back; the memory is kept
    void trim(std::size_t keep);      // frees it all if it is more than `keep` bytes

    // A kernel tells from time to time how many steps it has taken, in the unit of Decoder::cost. Every few milliseconds
    // of work the watch is asked, which may throw to end it.
    void spend(double steps);
    void watch(const Watch* watch);

  private:
    struct Block;
    void* take_bytes(std::size_t bytes);
    void release();
    Block* newest_ = nullptr;
    const Watch* watch_ = nullptr;
    double steps_left_ = 0.0;
};

// Where a decoder's charts lie in the workspace once it has run: what forest.cpp reads the other trees from. Which chart
// is which stands beside the recurrence in each decoder's header.
struct Charts {
    const float* first = nullptr;
    const float* second = nullptr;
    const float* third = nullptr;
    const std::int32_t* heads = nullptr;
    std::size_t width = 0, lanes = 1;
    const float* fourth = nullptr;
};

// What is asked about the distribution over all trees, and the answer. The caller owns the room, which is zero so far.
struct Shares {
    float* spans = nullptr;  // (n+1) x (n+1): the probability of a label there
    float* arcs = nullptr;   // (n+1) x n: of each governor, the root in the last row
    // Of a label there with this head: those of LEAST_HEAD or more.
    struct Head {
        std::int32_t start, end, head;
        float share;
    };
    Head* heads = nullptr;  // in the workspace
    std::size_t head_count = 0;
    double log_partition = 0.0;
    bool total_only = false;  // nothing but the log-partition is asked for
    std::size_t samples = 0;  // how many trees to draw
    std::uint64_t random = 0;  // the state of the generator
    void* receiver = nullptr;  // gets each of them, as nodes that all have labels
    void (*receive)(void* receiver, const Tree& tree) = nullptr;
    void add_head(std::size_t start, std::size_t end, std::size_t head, float share) {
        heads[head_count++] = {static_cast<std::int32_t>(start), static_cast<std::int32_t>(end),
                               static_cast<std::int32_t>(head), share};
    }
};
constexpr float LEAST_HEAD = 1e-4F;

// Fills in the shares, and the tree from which weights were counted: the best one, or for a joint tree the best phrases
// and the best arcs, each by themselves. False if no tree has a finite score.
using Weigher = bool (*)(const Sentence&, Workspace&, Tree&, Shares&);

// Fills the tree with the best parse; false if no parse has a finite score. Says where its charts are if asked.
using Kernel = bool (*)(const Sentence&, Workspace&, Tree&, Charts*);

// What a decoder reads of a sentence, and so what it finds: SPANS are full and open, ARCS are arc and root.
constexpr unsigned SPANS = 1, ARCS = 2, HEADS = 4;

// A line of the table of decoders in kernels.cpp.
struct Decoder {
    const char* name;
    unsigned needs;
    double (*cost)(double words);             // a rough count of steps, to share work out among threads
    std::size_t (*bytes)(std::size_t words);  // what its charts take, to the nearest few percent
    Kernel kernel;
    Weigher weigher;                          // null if it has none
};

// The table as it was compiled for one set of instructions. All targets have the same decoders in the same order.
struct Target {
    const char* name;
    const Decoder* decoders;
    std::size_t count;
};

}  // namespace h3n
