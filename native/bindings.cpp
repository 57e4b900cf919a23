// The decoders for Python, as layer_bindings.cpp has the layers; no other file knows Python. Arrays in, arrays out. h3n.decode.native checks shapes and types before it calls.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <initializer_list>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "forest.hpp"
#include "workspace.hpp"

namespace nb = nanobind;

namespace {

using Array2 = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Array1 = nb::ndarray<const float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Labels = nb::ndarray<const std::int32_t, nb::ndim<2>, nb::device::cpu>;
using Batch = nb::ndarray<const float, nb::ndim<3>, nb::device::cpu>;
using BatchLabels = nb::ndarray<const std::int32_t, nb::ndim<3>, nb::device::cpu>;
using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

template <class Value>
nb::object to_numpy(std::vector<Value>&& values, std::size_t columns, std::size_t axes) {
    auto* owned = new std::vector<Value>(std::move(values));
    nb::capsule owner(owned, [](void* pointer) noexcept { delete static_cast<std::vector<Value>*>(pointer); });
    const std::size_t shape[2] = {owned->size() / columns, columns};
    return nb::cast(nb::ndarray<nb::numpy, Value>(owned->data(), axes, shape, owner));
}

h3n::Matrix matrix_of(const nb::handle& object) {
    const auto array = nb::cast<Array2>(object, false);
    if (array.shape(1) > 1 && array.stride(1) != 1) throw std::invalid_argument("rows are not contiguous");
    return {array.data(), static_cast<std::size_t>(array.stride(0))};
}

const float* vector_of(const nb::handle& object) { return nb::cast<Array1>(object, false).data(); }

const h3n::Target& best_target() { return *h3n::supported_targets().front(); }

const h3n::Target& target_of(const std::string& name) {
    for (const h3n::Target* target : h3n::supported_targets())
        if (name.empty() || name == target->name) return *target;
    throw std::invalid_argument("this machine has no kernels for " + name);
}

const h3n::Decoder& decoder_of(const h3n::Target& target, std::size_t index) {
    if (index >= target.count) throw std::invalid_argument("there are " + std::to_string(target.count) + " decoders");
    return target.decoders[index];
}

const h3n::Decoder& decoder_called(const std::string& name) {
    for (std::size_t d = 0; d < best_target().count; ++d)
        if (best_target().decoders[d].name == name) return best_target().decoders[d];
    throw std::invalid_argument("there is no decoder " + name);
}

// The decoders in their order, each with the fields of `Scores` that it needs.
nb::dict needs_of_decoders() {
    nb::dict decoders;
    for (std::size_t d = 0; d < best_target().count; ++d) {
        const h3n::Decoder& decoder = best_target().decoders[d];
        nb::list fields;
        const auto add = [&](unsigned kind, std::initializer_list<const char*> names) {
            for (const char* name : names)
                if (decoder.needs & kind) fields.append(name);
        };
        add(h3n::SPANS, {"full", "open"});
        add(h3n::ARCS, {"arc", "root"});
        add(h3n::HEADS, {"head"});
        decoders[decoder.name] = nb::tuple(fields);
    }
    return decoders;
}

// A tuple of whole numbers. By hand, since a parse has many of them and they are most of what a short one costs. The
// garbage collector would stop watching such a tuple once it has seen what is in it; it need not look.
template <class... Numbers>
PyObject* number_tuple(Numbers... numbers) {
    PyObject* tuple = PyTuple_New(sizeof...(numbers));
    if (tuple == nullptr) throw nb::python_error();
    Py_ssize_t at = 0;
    (PyTuple_SetItem(tuple, at++, PyLong_FromLong(numbers)), ...);
    PyObject_GC_UnTrack(tuple);
    return tuple;
}

// Where a sentence's label indices lie; null if it has none.
struct Indices {
    const std::int32_t* data = nullptr;
    std::size_t stride = 0;
};

nb::object spans_of(const h3n::Result& result, const Indices& labels) {
    Py_ssize_t count = 0;
    for (const h3n::Node& node : result.nodes) count += node.labelled;
    nb::object spans = nb::steal(PyTuple_New(count));
    if (!spans.is_valid()) throw nb::python_error();
    Py_ssize_t at = 0;
    for (const h3n::Node& node : result.nodes) {
        if (!node.labelled) continue;
        const long label = labels.data == nullptr ? -1 : labels.data[node.start * labels.stride + node.end];
        PyTuple_SetItem(spans.ptr(), at++,
                        number_tuple<long, long, long, long>(node.start, node.end, label, node.head));
    }
    return spans;
}

nb::object governors_of(const h3n::Result& result) {
    nb::object governors = nb::steal(PyTuple_New(static_cast<Py_ssize_t>(result.governors.size())));
    if (!governors.is_valid()) throw nb::python_error();
    Py_ssize_t at = 0;
    for (const std::int32_t governor : result.governors)
        PyTuple_SetItem(governors.ptr(), at++, PyLong_FromLong(governor));
    if (at > 0) PyObject_GC_UnTrack(governors.ptr());  // the empty tuple is not ours alone
    return governors;
}

// Runs Python's signal handlers, if this is the thread that does so; what they raise comes out of here.
void check_signals() {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
}
const h3n::LookUp LOOK_UP = [] {
    const nb::gil_scoped_acquire acquire;
    check_signals();
};
constexpr std::size_t MANY = 4096;  // sentences that take some milliseconds to turn into Python objects, or back

// The sentences are tuples (words, full, open, arc, root, head, label), None for what the decoder does not need.
struct Inputs {
    std::vector<h3n::Sentence> sentences;
    std::vector<Indices> labels;

    explicit Inputs(const nb::list& given) {
        sentences.reserve(given.size());
        labels.reserve(given.size());
        for (std::size_t s = 0; s < given.size(); ++s) {
            if (s % MANY == MANY - 1) check_signals();
            add(nb::cast<nb::tuple>(given[s]));
        }
    }

    void add(const nb::tuple& input) {
        h3n::Sentence sentence;
        sentence.words = nb::cast<std::size_t>(input[0]);
        if (!input[1].is_none()) sentence.full = matrix_of(input[1]);
        if (!input[2].is_none()) sentence.open = matrix_of(input[2]);
        if (!input[3].is_none()) sentence.arc = matrix_of(input[3]);
        if (!input[4].is_none()) sentence.root = vector_of(input[4]);
        if (!input[5].is_none()) sentence.head = vector_of(input[5]);
        if (input.size() > 7 && !input[7].is_none()) sentence.empty = matrix_of(input[7]);
        sentences.push_back(sentence);
        labels.emplace_back();
        if (!input[6].is_none()) {
            const auto array = nb::cast<Labels>(input[6], false);
            if (array.shape(1) > 1 && array.stride(1) != 1) throw std::invalid_argument("rows are not contiguous");
            labels.back() = {array.data(), static_cast<std::size_t>(array.stride(0))};
        }
    }
};

// The results are tuples (status, spans, governors, score).
nb::list decode(const nb::list& given, const std::vector<std::size_t>& indices, std::size_t threads,
                const std::string& target_name) {
    const h3n::Target& target = target_of(target_name);
    const Inputs inputs(given);
    std::vector<const h3n::Decoder*> decoders;
    decoders.reserve(indices.size());
    for (const std::size_t index : indices) decoders.push_back(&decoder_of(target, index));
    if (decoders.size() != inputs.sentences.size()) throw std::invalid_argument("one decoder per sentence is accepted");

    std::vector<nb::object> parses(inputs.sentences.size());
    const h3n::Listener make = [&](const std::vector<h3n::Result>& results, const std::size_t* which, std::size_t count) {
        const nb::gil_scoped_acquire acquire;
        for (std::size_t k = 0; k < count; ++k) {
            if (k % MANY == MANY - 1) check_signals();
            const std::size_t s = which[k];
            const h3n::Result& result = results[s];
            const int status = static_cast<int>(result.status);
            if (result.status == h3n::Status::fine)
                parses[s] = nb::make_tuple(status, spans_of(result, inputs.labels[s]), governors_of(result), result.score);
            else
                parses[s] = nb::make_tuple(status, nb::tuple(), nb::tuple(), 0.0);
        }
    };
    {
        const nb::gil_scoped_release release;
        h3n::decode_batch(inputs.sentences, decoders, threads, make, LOOK_UP);
    }
    nb::list list;
    for (const nb::object& parse : parses) list.append(parse);
    return list;
}

nb::list parses_of(const std::vector<h3n::Result>& trees, const Indices& labels) {
    nb::list list;
    for (const h3n::Result& tree : trees)
        list.append(nb::make_tuple(spans_of(tree, labels), governors_of(tree), tree.score));
    return list;
}

// One tuple per sentence: (status, the k best, samples, log-partition, entropy, spans, arcs, cells of heads, their
// values), where what was not asked for or not found is None.
nb::list explore(const nb::list& given, const std::vector<std::size_t>& indices, std::size_t best, std::size_t samples,
                 std::uint64_t seed, bool marginals, std::size_t limit, const std::string& target_name) {
    const h3n::Target& target = target_of(target_name);
    const Inputs inputs(given);
    const std::size_t count = inputs.sentences.size();
    std::vector<h3n::Answer> answers(count);
    {
        const nb::gil_scoped_release release;
        const h3n::Watch watch{LOOK_UP};
        std::unique_ptr<h3n::Workspace> workspace = h3n::take_workspace();
        workspace->watch(&watch);
        for (std::size_t s = 0; s < count; ++s)
            answers[s] = h3n::explore(inputs.sentences[s], decoder_of(target, indices.at(s)),
                                      {best, samples, seed + s, marginals, limit}, *workspace);
        h3n::give_back(std::move(workspace));
    }
    nb::list list;
    for (std::size_t s = 0; s < count; ++s) {
        h3n::Answer& answer = answers[s];
        const std::size_t n = inputs.sentences[s].words;
        const auto array = [&](auto&& values, std::size_t columns, std::size_t axes, bool there) -> nb::object {
            return marginals && there ? to_numpy(std::move(values), columns, axes) : nb::object(nb::none());
        };
        const bool joint = !answer.spans.empty() && !answer.arcs.empty();
        list.append(nb::make_tuple(static_cast<int>(answer.status), parses_of(answer.trees, inputs.labels[s]),
                                   parses_of(answer.samples, inputs.labels[s]), answer.log_partition, answer.entropy,
                                   array(std::move(answer.spans), n + 1, 2, !answer.spans.empty()),
                                   array(std::move(answer.arcs), n, 2, !answer.arcs.empty()),
                                   array(std::move(answer.head_cells), 3, 2, joint),
                                   array(std::move(answer.head_values), 1, 1, joint)));
    }
    return list;
}

// Head scores that agree with the best projective dependency tree: those of all sentences in a row, and a status for each sentence.
nb::tuple tree_head_scores(const nb::list& given, std::size_t threads) {
    const Inputs inputs(given);
    h3n::Decoder decoder = decoder_called("eisner");
    decoder.needs |= h3n::HEADS;  // so that they are checked, too
    std::size_t words = 0;
    for (const h3n::Sentence& sentence : inputs.sentences) words += sentence.words;
    std::vector<float> heads(words);
    std::vector<std::int32_t> statuses;
    {
        const nb::gil_scoped_release release;
        const std::vector<const h3n::Decoder*> decoders(inputs.sentences.size(), &decoder);
        const auto results = h3n::decode_batch(inputs.sentences, decoders, threads, {}, LOOK_UP);
        float* next = heads.data();
        for (std::size_t s = 0; s < results.size(); ++s) {
            if (results[s].status == h3n::Status::fine)
                h3n::rank_by_tree(results[s].governors, inputs.sentences[s].head, next);
            next += inputs.sentences[s].words;
            statuses.push_back(static_cast<std::int32_t>(results[s].status));
        }
    }
    return nb::make_tuple(to_numpy(std::move(heads), 1, 1), to_numpy(std::move(statuses), 1, 1));
}

// All nodes of the best constituency trees of a padded batch: rows (sentence, start, end, label), label 0 if empty.
nb::tuple cky_nodes(const Batch& full, const Batch& open, const BatchLabels& label, const Lengths& lengths,
                    std::size_t threads) {
    const std::size_t count = full.shape(0);
    std::vector<h3n::Sentence> sentences(count);
    std::size_t total = 0;
    for (std::size_t s = 0; s < count; ++s) {
        const auto words = static_cast<std::size_t>(lengths.data()[s]);
        sentences[s].words = words;
        sentences[s].full = {full.data() + s * full.stride(0), static_cast<std::size_t>(full.stride(1))};
        sentences[s].open = {open.data() + s * open.stride(0), static_cast<std::size_t>(open.stride(1))};
        total += words == 0 ? 0 : 2 * words - 1;
    }
    std::vector<std::int32_t> nodes, statuses;
    std::vector<double> scores;
    const auto stride0 = label.stride(0), stride1 = label.stride(1);
    const std::int32_t* labels = label.data();
    {
        const nb::gil_scoped_release release;
        const std::vector<const h3n::Decoder*> decoders(count, &decoder_called("cky"));
        const auto results = h3n::decode_batch(sentences, decoders, threads, {}, LOOK_UP);
        nodes.reserve(4 * total);
        for (std::size_t s = 0; s < count; ++s) {
            if (results[s].status == h3n::Status::fine)
                for (const h3n::Node& node : results[s].nodes) {
                    const std::int32_t* cell =
                        labels + static_cast<std::int64_t>(s) * stride0 + node.start * stride1 + node.end;
                    nodes.insert(nodes.end(), {static_cast<std::int32_t>(s), node.start, node.end,
                                               node.labelled ? *cell : 0});
                }
            statuses.push_back(static_cast<std::int32_t>(results[s].status));
            scores.push_back(results[s].score);
        }
    }
    return nb::make_tuple(to_numpy(std::move(nodes), 4, 2), to_numpy(std::move(scores), 1, 1),
                          to_numpy(std::move(statuses), 1, 1));
}

}  // namespace

NB_MODULE(_native, m) {
    m.doc() = "Native decoders of h3n; use them through h3n.decode.";
    m.attr("DECODERS") = needs_of_decoders();
    m.def("targets", [] {
        std::vector<std::string> names;
        for (const h3n::Target* target : h3n::supported_targets()) names.emplace_back(target->name);
        return names;
    });
    m.def("chart_bytes", [](std::size_t index, std::size_t words) {
        return decoder_of(best_target(), index).bytes(words);
    });
    m.def("decode", &decode, nb::arg("sentences"), nb::arg("decoders"), nb::arg("threads"), nb::arg("target"));
    m.def("explore", &explore, nb::arg("sentences"), nb::arg("decoders"), nb::arg("best"), nb::arg("samples"),
          nb::arg("seed"), nb::arg("marginals"), nb::arg("limit"), nb::arg("target"));
    m.def("tree_head_scores", &tree_head_scores, nb::arg("sentences"), nb::arg("threads"));
    m.def("cky_nodes", &cky_nodes, nb::arg("full").noconvert(), nb::arg("open_").noconvert(),
          nb::arg("label").noconvert(), nb::arg("lengths").noconvert(), nb::arg("threads"));
}
