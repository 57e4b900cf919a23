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
struct Matrix {
    const float* data = nullptr;
    std::size_t stride = 0;
    const float* operator[](std::size_t row) const { return data + row * stride; }
};

// The scores of one sentence. A decoder leaves alone what it does not need: null pointers there are fine.
struct Sentence {
    std::size_t words = 0;
    // Another thread may write to the scores while they are read. Whatever it writes, a kernel ends and its tree is one.
    Matrix full;           // (n+1) x (n+1), read where i < j
    Matrix open;           // the same
    Matrix arc;            // n x n, [governor][word]; the diagonal is never read
    const float* root = nullptr;  // n
    const float* head = nullptr;  // n
    Matrix empty;          // what no label is worth; null if `open` tells it: see forest.hpp
};

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
};

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
};

// The table as it was compiled for one set of instructions. All targets have the same decoders in the same order.
struct Target {
    const char* name;
    const Decoder* decoders;
    std::size_t count;
};

}  // namespace h3n
