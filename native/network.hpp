// A whole trained network: words and pieces in, scores out, in one call. Linear layers are in 8 bits, tables of vectors as
// they are stored. It knows no Python. What does not fit is refused with std::invalid_argument before it is used.
//
// The positions of a batch are those of all sentences one after the other: each has a start and a stop around its words.
// Its words are the same without starts and stops; its fenceposts are one more for each sentence than words.
#pragma once

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "packing.hpp"
#include "transformer.hpp"

namespace h3n {

template <class Value>
struct View {
    const Value* data = nullptr;
    std::size_t size = 0;
    const Value& operator[](std::size_t at) const { return data[at]; }
};
using Numbers = View<std::int64_t>;

// A tensor as it is stored: floats of 32 or 16 bits; or whole numbers of 8 bits with a scale for each row, or of 4 bits
// (two in a byte, the first in the lower half, 8 added to each) with a scale for each GROUP_4 of them.
enum class Stored { float32, float16, int8, int4 };
constexpr std::size_t GROUP_4 = 32;

struct Tensor {
    Stored kind = Stored::float32;
    std::vector<std::size_t> shape;  // once unpacked
    View<std::uint8_t> values;       // its bytes
    View<std::uint8_t> scales;       // their bytes
    bool half_scales = false;        // scales have 16 bits
};
using Tensors = std::map<std::string, Tensor>;

enum class Pooling : std::int32_t { first = 0, last = 1, mean = 2 };

// Sizes, and what the network has: 0 says that there is no such part.
struct Options {
    // The pretrained encoder, with `pieces` 0 if there is none.
    std::size_t pieces = 0, types = 0, hidden = 0, inner = 0, layers = 0, heads = 1, places = 0, place_offset = 0;
    std::size_t distances = 0;  // classes of how far apart two pieces are
    float epsilon = 0.0F;
    Pooling pooling = Pooling::mean;
    // The layers above it; `size` is that of a word's vector.
    std::size_t size = 0, stack_layers = 0, stack_heads = 1, stack_inside = 0, stack_inner = 0, stack_places = 0;
    // Rows of the tables that are added up for a word.
    std::size_t words = 0, tags_read = 0, shapes = 0, styles = 0;
    // Scorers.
    std::size_t span = 0, pair = 0, arc = 0, relation = 0, head = 0, order = 0, tag = 0;
    std::size_t labels = 0, relations = 0, levels = 0, tags = 0, upos = 0;
    std::size_t helper = 0;                    // a label that neither one word nor a whole sentence has; `labels` if none
    std::vector<bool> at_root, elsewhere;      // (relations): where a relation may stand
};

struct Batch {
    Numbers lengths;                     // words of each sentence
    Numbers ids, types;                  // (pieces) of all rows one after the other
    Numbers rows;                        // pieces of each row
    Numbers word_pieces, word_of;        // which pieces stand for which position; sorted by position
    Numbers words, tags, shapes, styles; // (positions), rows of the tables of the same name
    View<float> extra;                   // (positions, content), added to these; or nothing
};

// A table of vectors, as it is stored.
class Embedding {
  public:
    Embedding() = default;
    Embedding(const Tensor& tensor, const std::string& name);
    std::size_t rows() const { return rows_; }
    void copy(std::size_t row, float* to) const;
    void add(std::size_t row, float* to) const;

  private:
    Stored kind_ = Stored::float32;
    std::size_t rows_ = 0, width_ = 0;
    std::vector<std::uint8_t> values_;
    std::vector<float> scales_;
};

// A linear layer in floats: weights (inputs, outputs), padded to whole COLUMN_STEPs.
struct Dense {
    std::size_t inputs = 0, outputs = 0, stride = 0;
    std::vector<float> weights, bias;
};

class Output;

class Network {
  public:
    Network(const Options& options, const Tensors& tensors, const LayerKernels& kernels);
    Network(const Network&) = delete;
    Network& operator=(const Network&) = delete;

    const Options& options() const { return options_; }
    const char* target() const { return kernels_.target; }
    // Several threads may run the network at the same time.
    std::unique_ptr<Output> run(const Batch& batch) const;

  private:
    friend class Output;
    class Reader;
    // A layer that is in 8 bits where that saves time, else in floats.
    struct Either {
        Int8 whole;
        Dense dense;
    };
    struct Classes {  // of words: a feed-forward step, then the scores of one or more tasks side by side
        Either first;
        Norm norm;
        Dense second;
    };

    void read_encoder(Reader& reader);
    void read_stack(Reader& reader);
    void read_scorers(Reader& reader);
    void check(const Batch& batch, std::size_t positions) const;
    void embed(const Batch& batch, std::size_t first_piece, std::size_t row, std::size_t last_row, float* x) const;
    void pool(const Batch& batch, std::size_t positions, float* pooled) const;
    void encode(const Batch& batch, const Output& out) const;
    void apply(const Either& layer, Rows<const float> x, std::size_t rows, Table<float> out) const;
    void classify(const Classes& classes, float* hidden, std::size_t rows, Table<float> out) const;

    Options options_;
    const LayerKernels& kernels_;
    std::deque<Packed> packed_;
    std::deque<std::vector<float>> kept_;
    std::size_t content_ = 0;
    // The encoder.
    Embedding piece_table_, place_table_, type_table_;
    Norm piece_norm_;
    std::vector<TransformerLayer> layers_, stack_;
    Either project_;
    Embedding word_table_, tag_table_, shape_table_, style_table_, position_table_;
    std::vector<float> edges_;
    Norm content_norm_;
    // The scorers.
    Int8 arc_governor_, arc_dependent_, arc_project_, relation_governor_, relation_dependent_, relation_pull_;
    Int8 post_, start_, end_, pair_project_, labels_;
    const float* span_bias_ = nullptr;
    Norm span_norm_;
    Classes tag_, order_, head_;
};

// What the network says of a batch. It belongs to the network, which must live as long.
class Output {
  public:
    Output(const Network& network, const Numbers& lengths);
    Output(const Output&) = delete;
    Output& operator=(const Output&) = delete;

    const Options& options() const { return network_.options(); }

    using Floats = std::unique_ptr<float[]>;
    std::vector<std::size_t> lengths;
    std::size_t words = 0, positions = 0, posts = 0, cells = 0, arc_cells = 0;
    // Charts of all sentences one after the other, each (n + 1, n + 1): the best label of a span and its score, and the
    // same where no label is a choice, too.
    Floats full, open;
    std::unique_ptr<std::int32_t[]> label;
    Floats arcs;         // one after the other, each (n + 1, n): of governor (first the root) and word, log-probabilities
    Floats tag_scores;   // (words, tags and universal tags)
    Floats order_scores; // (words), where there is an order
    std::vector<std::int64_t> tags, upos;
    double encoder_seconds = 0.0;  // of the processor, for profiles

    // (words, relations) for one governor of each word, 0 for the root, else the number of the word in its sentence from 1.
    void relation_scores(const Numbers& governors, float* out) const;
    void relations(const Numbers& governors, std::int64_t* out) const;
    void levels(float* out) const;  // (words, levels)
    // (spans, labels), of all labels but the empty one.
    void label_scores(const Numbers& sentence, const Numbers& start, const Numbers& end, float* out) const;
    // (words): how likely one governor of each word is, among all words and the root; scores are multiplied by a factor.
    void governor_shares(const Numbers& governors, float factor, float* out) const;
    // (spans): how likely one label of each span is, among all that it may have and none, whose score is `none`.
    void label_shares(const Numbers& sentence, const Numbers& start, const Numbers& end, const Numbers& label,
                      float factor, float none, float* out) const;

  private:
    friend class Network;
    struct Sentence {
        std::size_t length, word, position, post, cell, arc;
    };

    void score_words();
    void score_arcs(const float* governor, const float* looked_for);
    void score_posts();
    void score_pairs(const float* looked_for, const float* end);
    void score_spans();
    void check_governors(const Numbers& governors) const;
    template <class Take>
    void each_relation(const Numbers& governors, const Take& take) const;
    // Gives the scores of the labels of up to BLOCK spans, the number of the first of them, and how many these are.
    template <class Take>
    void each_spans(const Numbers& sentence, const Numbers& start, const Numbers& end, const Take& take) const;

    const Network& network_;
    std::vector<Sentence> sentences_;
    std::vector<std::int64_t> word_places_;  // positions of all words, then those of the starts
    Floats vectors_;                         // (positions, size)
    Floats post_rows_, pairs_;               // (posts, span), and charts
    Floats governors_, dependents_;          // (posts, relation), the root's first; (words, relation)
};

}  // namespace h3n
