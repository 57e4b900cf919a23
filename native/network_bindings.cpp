// The network for Python: arrays in, arrays out that lie in what was computed. Shapes of arrays are checked here, what
// they hold in network.cpp. The lock of the interpreter is given back while something is computed.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "bound_linear.hpp"
#include "network.hpp"

namespace h3n::bound {

namespace {

using Any = nb::ndarray<nb::ro, nb::device::cpu, nb::c_contig>;
using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu, nb::c_contig>;

View<std::uint8_t> bytes_of(const Any& array) {
    return {static_cast<const std::uint8_t*>(array.data()), array.nbytes()};
}

bool is(const Any& array, nb::dlpack::dtype_code code, unsigned bits) {
    return array.dtype() == nb::dlpack::dtype{static_cast<std::uint8_t>(code), static_cast<std::uint8_t>(bits), 1};
}

Tensor tensor_of(const std::string& name, const Any& values, const std::optional<Any>& scales) {
    using Code = nb::dlpack::dtype_code;
    const auto kind = [&]() -> Stored {
        if (is(values, Code::Float, 32) && !scales) return Stored::float32;
        if (is(values, Code::Float, 16) && !scales) return Stored::float16;
        if (is(values, Code::Int, 8) && scales) return Stored::int8;
        if (is(values, Code::UInt, 8) && scales) return Stored::int4;
        throw std::invalid_argument(name + ": is not stored in any of the known ways");
    }();
    Tensor made;
    made.kind = kind;
    for (std::size_t axis = 0; axis < values.ndim(); ++axis) made.shape.push_back(values.shape(axis));
    require(!made.shape.empty(), "a tensor has no axis");
    if (kind == Stored::int4) made.shape.back() *= 2;
    made.values = bytes_of(values);
    if (scales) {
        made.half_scales = is(*scales, Code::Float, 16);
        if (!made.half_scales && !is(*scales, Code::Float, 32))
            throw std::invalid_argument(name + ": its scales are not floating-point numbers");
        made.scales = bytes_of(*scales);
    }
    return made;
}

Tensors tensors_of(const nb::dict& weights) {
    Tensors made;
    for (const auto& [key, value] : weights) {
        const auto name = nb::cast<std::string>(key);
        const auto both = nb::cast<nb::tuple>(value);
        require(both.size() == 2, "a tensor is a pair of values and scales");
        std::optional<Any> scales;
        if (!both[1].is_none()) scales = nb::cast<Any>(both[1]);
        made.emplace(name, tensor_of(name, nb::cast<Any>(both[0]), scales));
    }
    return made;
}

Options options_of(const nb::dict& given) {
    Options made;
    const std::map<std::string, std::size_t*> sizes = {
        {"pieces", &made.pieces}, {"types", &made.types}, {"hidden", &made.hidden}, {"inner", &made.inner},
        {"layers", &made.layers}, {"heads", &made.heads}, {"places", &made.places},
        {"place_offset", &made.place_offset}, {"distances", &made.distances}, {"size", &made.size},
        {"stack_layers", &made.stack_layers}, {"stack_heads", &made.stack_heads},
        {"stack_inside", &made.stack_inside}, {"stack_inner", &made.stack_inner},
        {"stack_places", &made.stack_places}, {"words", &made.words}, {"tags_read", &made.tags_read},
        {"shapes", &made.shapes}, {"styles", &made.styles}, {"span", &made.span}, {"pair", &made.pair},
        {"arc", &made.arc}, {"relation", &made.relation}, {"head", &made.head}, {"order", &made.order},
        {"tag", &made.tag}, {"labels", &made.labels}, {"relations", &made.relations}, {"levels", &made.levels},
        {"tags", &made.tags}, {"upos", &made.upos}, {"helper", &made.helper}};
    const std::map<std::string, Pooling> poolings = {
        {"first", Pooling::first}, {"last", Pooling::last}, {"mean", Pooling::mean}};
    for (const auto& [key, value] : given) {
        const auto name = nb::cast<std::string>(key);
        const auto size = sizes.find(name);
        if (size != sizes.end()) {
            *size->second = nb::cast<std::size_t>(value);
        } else if (name == "epsilon") {
            made.epsilon = nb::cast<float>(value);
        } else if (name == "pooling") {
            const auto found = poolings.find(nb::cast<std::string>(value));
            require(found != poolings.end(), "pooling: accepted are first, last and mean");
            made.pooling = found->second;
        } else if (name == "at_root") {
            made.at_root = nb::cast<std::vector<bool>>(value);
        } else if (name == "elsewhere") {
            made.elsewhere = nb::cast<std::vector<bool>>(value);
        } else {
            throw std::invalid_argument(name + ": there is no such option");
        }
    }
    return made;
}

std::unique_ptr<Network> make(const nb::dict& options, const nb::dict& weights, std::size_t target) {
    const LayerKernels& kernels = kernels_of(target);
    const Options sizes = options_of(options);
    const Tensors tensors = tensors_of(weights);
    const nb::gil_scoped_release release;  // the arrays live as long as the dictionary, which our caller holds
    return std::make_unique<Network>(sizes, tensors, kernels);
}

h3n::Numbers numbers(const Column& column) { return {column.data(), column.shape(0)}; }

std::unique_ptr<h3n::Output> run(const Network& network, const Column& lengths, const Column& ids, const Column& types,
                                 const Column& rows, const Column& word_pieces, const Column& word_of,
                                 const Column& words, const Column& tags, const Column& shapes, const Column& styles,
                                 const std::optional<Matrix>& extra) {
    const Batch batch{numbers(lengths), numbers(ids),  numbers(types),  numbers(rows),   numbers(word_pieces),
                      numbers(word_of), numbers(words), numbers(tags),  numbers(shapes), numbers(styles),
                      extra ? View<float>{extra->data(), extra->size()} : View<float>{}};
    const nb::gil_scoped_release release;
    return network.run(batch);
}

// An array that lies in an output, which lives as long as it.
template <class Value>
nb::object inside(nb::handle self, Value* data, std::initializer_list<std::size_t> shape,
                  std::initializer_list<std::int64_t> strides = {}) {
    return nb::ndarray<nb::numpy, Value>(data, shape, self, strides).cast(nb::rv_policy::reference);
}

// A new array, filled by something that is computed.
template <class Value, class Fill>
nb::object filled(std::initializer_list<std::size_t> shape, const Fill& fill) {
    std::size_t count = 1;
    for (const std::size_t one : shape) count *= one;
    std::unique_ptr<Value[]> made(new Value[count]);
    {
        const nb::gil_scoped_release release;
        fill(made.get());
    }
    Value* data = made.get();
    const nb::capsule owner(made.release(), [](void* memory) noexcept { delete[] static_cast<Value*>(memory); });
    return nb::ndarray<nb::numpy, Value>(data, shape, owner).cast();
}

}  // namespace

void bind_network(nb::module_& m) {
    nb::class_<Network>(m, "Network")
        .def(nb::new_(&make), nb::arg("options"), nb::arg("weights"), nb::arg("target") = 0)
        .def_prop_ro("target", &Network::target)
        .def("run", &run, nb::arg("lengths").noconvert(), nb::arg("ids").noconvert(), nb::arg("types").noconvert(),
             nb::arg("rows").noconvert(), nb::arg("word_pieces").noconvert(), nb::arg("word_of").noconvert(),
             nb::arg("words").noconvert(), nb::arg("tags").noconvert(), nb::arg("shapes").noconvert(),
             nb::arg("styles").noconvert(), nb::arg("extra").noconvert().none(), nb::keep_alive<0, 1>());
    using Out = h3n::Output;
    const auto flat = [](auto Out::*member, std::size_t Out::*count) {
        return [=](nb::handle self) {
            const Out& out = nb::cast<const Out&>(self);
            return inside(self, (out.*member).get(), {out.*count});
        };
    };
    nb::class_<Out>(m, "Output")
        .def_prop_ro("full", flat(&Out::full, &Out::cells))
        .def_prop_ro("open", flat(&Out::open, &Out::cells))
        .def_prop_ro("label", flat(&Out::label, &Out::cells))
        .def_prop_ro("arcs", flat(&Out::arcs, &Out::arc_cells))
        .def_ro("encoder_seconds", &Out::encoder_seconds)
        .def_prop_ro("order", flat(&Out::order_scores, &Out::words))
        .def_prop_ro("tags", [](nb::handle self) {
            Out& out = nb::cast<Out&>(self);
            return inside(self, out.tags.data(), {out.words});
        })
        .def_prop_ro("upos", [](nb::handle self) {
            Out& out = nb::cast<Out&>(self);
            return inside(self, out.upos.data(), {out.words});
        })
        .def_prop_ro("tag_scores", [](nb::handle self) {
            const Out& out = nb::cast<const Out&>(self);
            const Options& o = out.options();
            return inside(self, out.tag_scores.get(), {out.words, o.tags}, {static_cast<std::int64_t>(o.tags + o.upos), 1});
        })
        .def_prop_ro("upos_scores", [](nb::handle self) {
            const Out& out = nb::cast<const Out&>(self);
            const Options& o = out.options();
            return inside(self, out.tag_scores.get() + o.tags, {out.words, o.upos},
                          {static_cast<std::int64_t>(o.tags + o.upos), 1});
        })
        .def("relation_scores", [](const Out& out, const Column& governors) {
            return filled<float>({out.words, out.options().relations},
                                 [&](float* to) { out.relation_scores(numbers(governors), to); });
        }, nb::arg("governors").noconvert())
        .def("relations", [](const Out& out, const Column& governors) {
            return filled<std::int64_t>({out.words},
                                        [&](std::int64_t* to) { out.relations(numbers(governors), to); });
        }, nb::arg("governors").noconvert())
        .def("governor_shares", [](const Out& out, const Column& governors, float factor) {
            return filled<float>({out.words}, [&](float* to) { out.governor_shares(numbers(governors), factor, to); });
        }, nb::arg("governors").noconvert(), nb::arg("factor"))
        .def("label_shares", [](const Out& out, const Column& sentence, const Column& start, const Column& end,
                                const Column& label, float factor, float none) {
            return filled<float>({sentence.shape(0)}, [&](float* to) {
                out.label_shares(numbers(sentence), numbers(start), numbers(end), numbers(label), factor, none, to);
            });
        }, nb::arg("sentence").noconvert(), nb::arg("start").noconvert(), nb::arg("end").noconvert(),
             nb::arg("label").noconvert(), nb::arg("factor"), nb::arg("none"))
        .def("levels", [](const Out& out) {
            return filled<float>({out.words, out.options().levels}, [&](float* to) { out.levels(to); });
        })
        .def("label_scores", [](const Out& out, const Column& sentence, const Column& start, const Column& end) {
            return filled<float>({sentence.shape(0), out.options().labels}, [&](float* to) {
                out.label_scores(numbers(sentence), numbers(start), numbers(end), to);
            });
        }, nb::arg("sentence").noconvert(), nb::arg("start").noconvert(), nb::arg("end").noconvert());
}

}  // namespace h3n::bound
