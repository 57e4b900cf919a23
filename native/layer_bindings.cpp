// The layers for Python: arrays in, results into arrays that are given. h3n.model.native says what is meant; here only
// what would read or write out of bounds is refused.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "packing.hpp"
#include "transformer.hpp"

namespace nb = nanobind;

namespace {

using Input = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;
using Row = nb::ndarray<const float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class Value, class Array>
h3n::Table<Value> table_of(const Array& array, std::size_t rows, std::size_t columns) {
    require(array.shape(0) == rows && array.shape(1) == columns, "a matrix has another shape than the others ask for");
    require(rows == 0 || columns <= 1 || array.stride(1) == 1, "rows are not contiguous");
    return {array.data(), static_cast<std::size_t>(array.stride(0))};
}

const h3n::LayerKernels& kernels_of(std::size_t target) {
    require(target < h3n::supported_layer_kernels().size(), "this machine has no such target");
    return *h3n::supported_layer_kernels()[target];
}

h3n::Activation activation_of(int number) {
    require(number >= 0 && number <= static_cast<int>(h3n::Activation::gelu), "no such activation");
    return static_cast<h3n::Activation>(number);
}

class Linear {
  public:
    Linear(const Input& weight, const std::optional<Row>& bias)
        : packed_(checked(weight, bias), weight.shape(0), weight.shape(1), bias ? bias->data() : nullptr) {}

    void run(const Input& x, const Output& out, int activation, std::size_t target) const {
        const h3n::Int8& layer = packed_.layer;
        const std::size_t rows = x.shape(0);
        const auto from = table_of<const float>(x, rows, layer.inputs);
        const auto to = table_of<float>(out, rows, layer.outputs);
        const h3n::LayerKernels& kernels = kernels_of(target);
        const h3n::Activation how = activation_of(activation);
        const nb::gil_scoped_release release;
        float* numbers = h3n::room_for<float>(h3n::rounding_numbers(layer.depth));
        h3n::run_linear(kernels, layer, from, rows, to, how, h3n::rounded_room(layer.depth, numbers));
    }

    const h3n::Int8& layer() const { return packed_.layer; }

  private:
    static const float* checked(const Input& weight, const std::optional<Row>& bias) {
        require(weight.shape(0) > 0 && weight.shape(1) > 0, "the weights are empty");
        require(!bias || bias->shape(0) == weight.shape(0), "the bias has another length than the outputs");
        require(static_cast<std::size_t>(weight.stride(0)) == weight.shape(1), "the weights are not contiguous");
        return table_of<const float>(weight, weight.shape(0), weight.shape(1)).data;
    }

    h3n::Packed packed_;
};

using Column = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

// Several layers on the rows of x at `places`, each on the first so many of them. An output has a row for each of them,
// or, where `scattered` says so, as many rows as x, and what is made of a row lies where the row does.
void run_together(const std::vector<const Linear*>& layers, const Input& x, const Column& places,
                  const std::vector<std::size_t>& rows, const nb::list& outs, const std::vector<bool>& scattered,
                  const std::vector<int>& activations, std::size_t target) {
    const std::size_t count = layers.size();
    require(count > 0 && rows.size() == count && outs.size() == count && scattered.size() == count &&
                activations.size() == count && std::count(layers.begin(), layers.end(), nullptr) == 0,
            "there is not one of each for every layer");
    const h3n::Int8& first = layers[0]->layer();
    const auto from = table_of<const float>(x, x.shape(0), first.inputs);
    for (std::size_t r = 0; r < places.shape(0); ++r)
        require(places.data()[r] >= 0 && places.data()[r] < static_cast<std::int64_t>(x.shape(0)), "a place is wrong");
    std::vector<h3n::Product> products;
    for (std::size_t p = 0; p < count; ++p) {
        const h3n::Int8& layer = layers[p]->layer();
        require(layer.inputs == first.inputs, "the layers have different inputs");
        require(rows[p] <= places.shape(0), "there are fewer places than rows");
        const auto out = nb::cast<Output>(outs[p], false);
        const auto table = table_of<float>(out, scattered[p] ? x.shape(0) : rows[p], layer.outputs);
        const h3n::Rows<float> to{table, scattered[p] ? places.data() : nullptr};
        products.push_back({&layer, rows[p], to, activation_of(activations[p])});
    }
    const h3n::LayerKernels& kernels = kernels_of(target);
    const nb::gil_scoped_release release;
    float* numbers = h3n::room_for<float>(h3n::rounding_numbers(first.depth));
    kernels.linear(products.data(), count, {from, places.data()}, h3n::rounded_room(first.depth, numbers));
}

// out[a][n] = left[a] . weights[n] . right[a], where `pull` holds the weights of all n: (n, width of right) outputs.
void bilinear(const Linear& pull, const Input& left, const Input& right, const Output& out, std::size_t target) {
    const h3n::Int8& layer = pull.layer();
    const std::size_t rows = left.shape(0), width = right.shape(1), count = out.shape(1);
    require(count * width == layer.outputs, "the layer does not fit what is to be made of it");
    const auto from = table_of<const float>(left, rows, layer.inputs);
    const auto with = table_of<const float>(right, rows, width);
    const auto to = table_of<float>(out, rows, count);
    const h3n::LayerKernels& kernels = kernels_of(target);
    const nb::gil_scoped_release release;
    constexpr std::size_t SOME = 24;  // rows: what is made of them is large
    const std::size_t rounding = h3n::rounding_numbers(layer.depth);
    const std::size_t made = SOME * layer.outputs + h3n::SLACK, padded = width + h3n::SLACK;
    float* numbers = h3n::room_for<float>(rounding + made + padded);
    const h3n::Rounded rounded = h3n::rounded_room(layer.depth, numbers);
    float *pulled = numbers + rounding, *values = pulled + made;
    std::fill_n(pulled, made + padded, 0.0F);
    for (std::size_t at = 0; at < rows; at += SOME) {
        const std::size_t some = std::min(SOME, rows - at);
        h3n::run_linear(kernels, layer, {from[at], from.stride}, some, {pulled, layer.outputs}, h3n::Activation::none,
                        rounded);
        for (std::size_t r = 0; r < some; ++r) {
            std::copy_n(with[at + r], width, values);
            kernels.contract(pulled + r * layer.outputs, count, width, values, to[at + r]);
        }
    }
}

void activate(const Output& x, int activation, std::size_t target) {
    const std::size_t rows = x.shape(0), width = x.shape(1);
    const auto table = table_of<float>(x, rows, width);
    const nb::gil_scoped_release release;
    kernels_of(target).activate(table, rows, width, activation_of(activation));
}

void add_norm(const Input& x, const std::optional<Input>& y, const Row& weight, const Row& bias, float epsilon,
              const Output& out, std::size_t target) {
    const std::size_t rows = x.shape(0), width = x.shape(1);
    const auto one = table_of<const float>(x, rows, width);
    const auto other = y ? table_of<const float>(*y, rows, width) : h3n::Table<const float>{};
    const auto to = table_of<float>(out, rows, width);
    require(weight.shape(0) == width && bias.shape(0) == width, "the norm has another width than its input");
    const nb::gil_scoped_release release;
    kernels_of(target).add_norm(one, other, rows, width, {weight.data(), bias.data(), epsilon}, to);
}

// The longest of the sentences, which must make up all rows.
std::size_t require_rows(const Lengths& lengths, std::size_t rows) {
    std::size_t total = 0, longest = 0;
    for (std::size_t s = 0; s < lengths.shape(0); ++s) {
        require(lengths.data()[s] >= 0 && lengths.data()[s] <= static_cast<std::int64_t>(rows), "a length is wrong");
        total += static_cast<std::size_t>(lengths.data()[s]);
        longest = std::max(longest, static_cast<std::size_t>(lengths.data()[s]));
    }
    require(total == rows, "the lengths do not add up to the rows");
    return longest;
}

void attention(const Input& query, const Input& key, const Input& value, const Lengths& lengths, std::size_t heads,
               std::size_t parts, const Output& out, std::size_t target) {
    const std::size_t rows = query.shape(0), width = query.shape(1);
    require(heads > 0 && parts > 0 && width % (heads * parts) == 0, "the width does not fit the number of heads");
    const h3n::Table<const float> from[] = {table_of<const float>(query, rows, width),
                                            table_of<const float>(key, rows, width),
                                            table_of<const float>(value, rows, width)};
    const auto to = table_of<float>(out, rows, width);
    const h3n::Heads shape{heads, parts, width / (heads * parts), width / parts, width / parts};
    const std::size_t longest = require_rows(lengths, rows);
    const h3n::LayerKernels& kernels = kernels_of(target);
    const nb::gil_scoped_release release;
    float* room = h3n::room_for<float>(h3n::attention_room(longest, shape));
    std::size_t first = 0;
    for (std::size_t s = 0; s < lengths.shape(0); ++s) {
        const auto count = static_cast<std::size_t>(lengths.data()[s]);
        if (count > 0)
            kernels.attention({from[0][first], from[0].stride}, {from[1][first], from[1].stride},
                              {from[2][first], from[2].stride}, count, shape, {to[first], to.stride}, room);
        first += count;
    }
}

using Cube = nb::ndarray<const float, nb::ndim<3>, nb::device::cpu, nb::c_contig>;
using Labels = nb::ndarray<std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Scores = nb::ndarray<float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

std::vector<float> copy_of(const Row& row, std::size_t width) {
    require(row.shape(0) == width, "a part of the scorer has another width than the rest");
    return {row.data(), row.data() + width};
}

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

// The layers of one part of a row: roles, joined, inner, outer.
using Part = std::vector<const Linear*>;

class Transformer {
  public:
    Transformer(const std::vector<Part>& parts, const Row& weight, const Row& bias, const Row& outer_weight,
                const Row& outer_bias, float epsilon, std::size_t heads, int activation) {
        for (const Part& part : parts) {
            require(part.size() == 4 && std::count(part.begin(), part.end(), nullptr) == 0, "a part has four layers");
            layer_.parts.push_back({part[0]->layer(), part[1]->layer(), part[2]->layer(), part[3]->layer()});
        }
        layer_.heads = heads;
        layer_.activation = activation_of(activation);
        require(layer_.fits(), "the sizes of the layers do not fit each other");
        const Row* rows[] = {&weight, &bias, &outer_weight, &outer_bias};
        for (std::size_t k = 0; k < 4; ++k) kept_[k] = copy_of(*rows[k], layer_.width());
        layer_.norm = {kept_[0].data(), kept_[1].data(), epsilon};
        layer_.outer_norm = {kept_[2].data(), kept_[3].data(), epsilon};
    }
    Transformer(const Transformer&) = delete;
    Transformer& operator=(const Transformer&) = delete;

    void run(const Output& x, const Lengths& lengths, std::size_t target) const {
        const auto table = table_of<float>(x, x.shape(0), layer_.width());
        require_rows(lengths, x.shape(0));
        const h3n::LayerKernels& kernels = kernels_of(target);
        const nb::gil_scoped_release release;
        h3n::run(layer_, kernels, table, lengths.data(), lengths.shape(0));
    }

  private:
    h3n::TransformerLayer layer_;  // points into the layers, which Python keeps alive as long as this
    std::vector<float> kept_[4];
};

}  // namespace

NB_MODULE(_layers, m) {
    nb::set_leak_warnings(false);  // a parser that lives until the interpreter ends is no mistake
    m.doc() = "Layers of a network in native code; use them through h3n.model.";
    m.attr("ACTIVATIONS") = nb::make_tuple("none", "relu", "leaky", "gelu");
    m.def("targets", [] {
        std::vector<std::string> names;
        for (const h3n::LayerKernels* kernels : h3n::supported_layer_kernels()) names.emplace_back(kernels->target);
        return names;
    });
    nb::class_<Linear>(m, "Linear")
        .def(nb::init<const Input&, const std::optional<Row>&>(), nb::arg("weight").noconvert(),
             nb::arg("bias").noconvert().none())
        .def("run", &Linear::run, nb::arg("x").noconvert(), nb::arg("out").noconvert(), nb::arg("activation") = 0,
             nb::arg("target") = 0);
    m.def("run_together", &run_together, nb::arg("layers"), nb::arg("x").noconvert(), nb::arg("places").noconvert(),
          nb::arg("rows"), nb::arg("outs"), nb::arg("scattered"), nb::arg("activations"), nb::arg("target") = 0);
    m.def("bilinear", &bilinear, nb::arg("pull"), nb::arg("left").noconvert(), nb::arg("right").noconvert(),
          nb::arg("out").noconvert(), nb::arg("target") = 0);
    m.def("activate", &activate, nb::arg("x").noconvert(), nb::arg("activation"), nb::arg("target") = 0);
    m.def("add_norm", &add_norm, nb::arg("x").noconvert(), nb::arg("y").noconvert().none(), nb::arg("weight").noconvert(),
          nb::arg("bias").noconvert(), nb::arg("epsilon"), nb::arg("out").noconvert(), nb::arg("target") = 0);
    m.def("attention", &attention, nb::arg("query").noconvert(), nb::arg("key").noconvert(),
          nb::arg("value").noconvert(), nb::arg("lengths").noconvert(), nb::arg("heads"), nb::arg("parts"),
          nb::arg("out").noconvert(), nb::arg("target") = 0);
    nb::class_<SpanScorer>(m, "SpanScorer")
        .def(nb::init<const Row&, const Row&, const Row&, float, const Linear&>(), nb::arg("bias").noconvert(),
             nb::arg("weight").noconvert(), nb::arg("shift").noconvert(), nb::arg("epsilon"), nb::arg("labels"),
             nb::keep_alive<1, 6>())
        .def("score", &SpanScorer::score, nb::arg("posts").noconvert(), nb::arg("pairs").noconvert().none(),
             nb::arg("sentence").noconvert(), nb::arg("start").noconvert(), nb::arg("end").noconvert(),
             nb::arg("out").noconvert(), nb::arg("target") = 0)
        .def("best", &SpanScorer::best, nb::arg("posts").noconvert(), nb::arg("pairs").noconvert().none(),
             nb::arg("sentence").noconvert(), nb::arg("start").noconvert(), nb::arg("end").noconvert(),
             nb::arg("lengths").noconvert(), nb::arg("helper"), nb::arg("scores").noconvert(),
             nb::arg("labels").noconvert(), nb::arg("target") = 0);
    nb::class_<Transformer>(m, "Transformer")
        .def(nb::init<const std::vector<Part>&, const Row&, const Row&, const Row&, const Row&, float, std::size_t, int>(),
             nb::arg("parts"), nb::arg("weight").noconvert(), nb::arg("bias").noconvert(),
             nb::arg("outer_weight").noconvert(), nb::arg("outer_bias").noconvert(), nb::arg("epsilon"),
             nb::arg("heads"), nb::arg("activation"), nb::keep_alive<1, 2>())
        .def("run", &Transformer::run, nb::arg("x").noconvert(), nb::arg("lengths").noconvert(), nb::arg("target") = 0);
}
