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

#include "bound_linear.hpp"
#include "bound_spans.hpp"

namespace nb = nanobind;

namespace h3n::bound {
void bind_network(nb::module_& m);  // network_bindings.cpp
}

namespace {

using namespace h3n::bound;

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

// The layers of one part of a row: roles, joined, inner, outer.
using Part = std::vector<const Linear*>;

class Transformer {
  public:
    Transformer(const std::vector<Part>& parts, const Row& weight, const Row& bias, const Row& outer_weight,
                const Row& outer_bias, float epsilon, std::size_t heads, int activation,
                const std::optional<Input>& by_distance) {
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
        if (by_distance) keep_distances(*by_distance);
    }
    Transformer(const Transformer&) = delete;
    Transformer& operator=(const Transformer&) = delete;

    void run(const Output& x, const Lengths& lengths, std::size_t target) const {
        const auto table = table_of<float>(x, x.shape(0), layer_.width());
        const std::size_t longest = require_rows(lengths, x.shape(0));
        require(layer_.by_distance == nullptr || longest <= layer_.reach, "a sentence is longer than distances reach");
        const h3n::LayerKernels& kernels = kernels_of(target);
        const nb::gil_scoped_release release;
        h3n::run(layer_, kernels, table, lengths.data(), lengths.shape(0));
    }

  private:
    void keep_distances(const Input& given) {
        const std::size_t width = given.shape(1);
        require(given.shape(0) == layer_.heads && width % 2 == 1, "the distances do not fit the number of heads");
        const auto from = table_of<const float>(given, layer_.heads, width);
        distances_.assign(layer_.heads * width + h3n::SLACK, 0.0F);
        for (std::size_t head = 0; head < layer_.heads; ++head)
            std::copy_n(from[head], width, distances_.data() + head * width);
        layer_.by_distance = distances_.data();
        layer_.reach = width / 2;
    }

    h3n::TransformerLayer layer_;  // points into the layers, which Python keeps alive as long as this
    std::vector<float> distances_;
    std::vector<float> kept_[4];
};

}  // namespace

NB_MODULE(_layers, m) {
    nb::set_leak_warnings(false);  // a parser that lives until the interpreter ends is no mistake
    m.doc() = "Layers of a network in native code; use them through h3n.engine.";
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
        .def(nb::init<const std::vector<Part>&, const Row&, const Row&, const Row&, const Row&, float, std::size_t, int,
                      const std::optional<Input>&>(),
             nb::arg("parts"), nb::arg("weight").noconvert(), nb::arg("bias").noconvert(),
             nb::arg("outer_weight").noconvert(), nb::arg("outer_bias").noconvert(), nb::arg("epsilon"),
             nb::arg("heads"), nb::arg("activation"), nb::arg("by_distance").noconvert().none() = nb::none(),
             nb::keep_alive<1, 2>())
        .def("run", &Transformer::run, nb::arg("x").noconvert(), nb::arg("lengths").noconvert(), nb::arg("target") = 0);
    h3n::bound::bind_network(m);
}
