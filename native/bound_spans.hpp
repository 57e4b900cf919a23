// The scorer of spans, bound for Python.
#pragma once

#include <algorithm>
#include <optional>
#include <vector>

#include "bound_linear.hpp"

namespace h3n::bound {

using Cube = nb::ndarray<const float, nb::ndim<3>, nb::device::cpu, nb::c_contig>;
using Labels = nb::ndarray<std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Scores = nb::ndarray<float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

// The scorer of spans. Spans are given in three columns: sentence, start and end.
class SpanScorer {
  public:
    SpanScorer(const Row& bias, const Row& weight, const Row& shift, float epsilon, const Linear& labels)
        : labels_(labels.layer()),
          bias_(copy_of(bias, labels_.inputs)),
          weight_(copy_of(weight, labels_.inputs)),
          shift_(copy_of(shift, labels_.inputs)),
          epsilon_(epsilon) {}

    // The scores of all labels.
    void score(const Cube& posts, const std::optional<Cube>& pairs, const Column& sentence, const Column& start,
               const Column& end, const Output& out, std::size_t target) const {
        const h3n::Spans spans = spans_of(posts, pairs);
        const auto to = table_of<float>(out, sentence.shape(0), labels_.outputs);
        each_block(spans, posts.shape(0), {sentence, start, end}, target,
                   [&](const h3n::LayerKernels&, std::size_t first, std::size_t rows, const h3n::Span*, auto made) {
                       for (std::size_t r = 0; r < rows; ++r)
                           std::copy_n(made[r], labels_.outputs, to[first + r]);
                   });
    }

    // The best score and its label; `helper` (if there is that label) is barred from one word and a whole sentence.
    void best(const Cube& posts, const std::optional<Cube>& pairs, const Column& sentence, const Column& start,
              const Column& end, const Column& lengths, std::size_t helper, const Scores& scores, const Labels& labels,
              std::size_t target) const {
        const h3n::Spans spans = spans_of(posts, pairs);
        const std::size_t count = sentence.shape(0);
        require(scores.shape(0) == count && labels.shape(0) == count, "there is not one place for every span");
        require(lengths.shape(0) == posts.shape(0), "there is not one length for every sentence");
        each_block(spans, posts.shape(0), {sentence, start, end}, target,
                   [&](const h3n::LayerKernels& kernels, std::size_t first, std::size_t rows, const h3n::Span* cells,
                       auto made) {
                       for (std::size_t r = 0; r < rows; ++r) {
                           const std::size_t words = cells[r].end - cells[r].start;
                           const auto whole = static_cast<std::size_t>(lengths.data()[cells[r].sentence]);
                           const std::size_t barred = words == 1 || words == whole ? helper : labels_.outputs;
                           const std::size_t found = kernels.best(made[r], labels_.outputs, barred);
                           scores.data()[first + r] = made[r][found];
                           labels.data()[first + r] = static_cast<std::int64_t>(found);
                       }
                   });
    }

  private:
    struct Columns {
        const Column &sentence, &start, &end;
    };

    h3n::Spans spans_of(const Cube& posts, const std::optional<Cube>& pairs) const {
        const std::size_t count = posts.shape(1);
        require(posts.shape(2) == labels_.inputs, "the fenceposts have another width than the scorer");
        require(!pairs || (pairs->shape(0) == posts.shape(0) && pairs->shape(1) == count && pairs->shape(2) == count),
                "the pairs have another shape than the fenceposts ask for");
        return {posts.data(), pairs ? pairs->data() : nullptr, count, labels_.inputs, bias_.data(),
                {weight_.data(), shift_.data(), epsilon_}, labels_};
    }

    // Score the spans a block at a time; `take` is given each block's first span and its scores.
    template <class Take>
    void each_block(const h3n::Spans& given, std::size_t sentences, const Columns& columns, std::size_t target,
                    const Take& take) const {
        const std::size_t count = columns.sentence.shape(0);
        require(columns.start.shape(0) == count && columns.end.shape(0) == count, "the columns differ in length");
        const h3n::LayerKernels& kernels = kernels_of(target);
        const nb::gil_scoped_release release;
        const std::size_t rounding = h3n::rounding_numbers(labels_.depth);
        float* numbers = h3n::room_for<float>(rounding + h3n::BLOCK * (given.width + labels_.outputs));
        const h3n::Rounded rounded = h3n::rounded_room(labels_.depth, numbers);
        float* room = numbers + rounding;
        const h3n::Table<float> made{room + h3n::BLOCK * given.width, labels_.outputs};
        h3n::Span spans[h3n::BLOCK];
        for (std::size_t first = 0; first < count; first += h3n::BLOCK) {
            const std::size_t rows = std::min(h3n::BLOCK, count - first);
            for (std::size_t r = 0; r < rows; ++r) {
                spans[r] = {static_cast<std::size_t>(columns.sentence.data()[first + r]),
                            static_cast<std::size_t>(columns.start.data()[first + r]),
                            static_cast<std::size_t>(columns.end.data()[first + r])};
                require(spans[r].sentence < sentences && spans[r].start < given.count && spans[r].end < given.count,
                        "a span lies outside the batch");
            }
            kernels.score_spans(given, spans, rows, made, rounded, room);
            take(kernels, first, rows, spans, made);
        }
    }

    h3n::Int8 labels_;  // points into the layer, which Python keeps alive as long as the scorer
    std::vector<float> bias_, weight_, shift_;
    float epsilon_;
};

}  // namespace h3n::bound
