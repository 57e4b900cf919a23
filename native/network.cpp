#include "network.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <ctime>
#include <limits>
#include <stdexcept>
#include <utility>

namespace h3n {

namespace {

constexpr std::size_t SMALLEST = 64;        // inputs and outputs: smaller layers take no time worth saving
constexpr std::size_t PIECES = 4096;        // read at a time, so that a long input takes no more memory
constexpr std::size_t LONGEST = 1U << 20U;  // words of a sentence: its charts have the square of that
constexpr std::size_t LARGEST = 1U << 28U;  // of any size: products of two do not overflow
constexpr std::size_t FAR = 128;            // pieces that are further apart are all alike
constexpr float EPSILON = 1e-5F;            // of every norm but those of a pretrained encoder

void require(bool holds, const std::string& what) {
    if (!holds) throw std::invalid_argument(what);
}

// Memory of one call, kept for the next one of the same thread; each purpose has its own.
enum class For { pieces, pooled, rows, hidden, other, turned, scores };
template <For what>
float* room(std::size_t count) {
    thread_local std::unique_ptr<float[]> kept;
    thread_local std::size_t size = 0;
    if (size < count) {
        kept.reset();
        size = 0;
        kept.reset(new float[count]);
        size = count;
    }
    return kept.get();
}

float from_half(std::uint16_t half) {  // of a finite number, exactly
    const std::uint32_t bits = static_cast<std::uint32_t>(half & 0x7fffU) << 13U;
    float size;
    std::memcpy(&size, &bits, sizeof size);
    size *= 0x1p112F;
    return (half & 0x8000U) != 0 ? -size : size;
}

float float_at(const std::uint8_t* bytes, std::size_t at) {
    float made;
    std::memcpy(&made, bytes + 4 * at, sizeof made);
    return made;
}

float half_at(const std::uint8_t* bytes, std::size_t at) {
    std::uint16_t made;
    std::memcpy(&made, bytes + 2 * at, sizeof made);
    return from_half(made);
}

// How often a tensor of this kind has a scale: after so many weights of a row.
std::size_t scaled(Stored kind, std::size_t width) { return kind == Stored::int4 ? GROUP_4 : width; }

template <class Take>
void unpack_row(Stored kind, const std::uint8_t* values, const float* scales, std::size_t row, std::size_t width,
                const Take& take) {
    switch (kind) {
        case Stored::float32:
            for (std::size_t k = 0; k < width; ++k) take(k, float_at(values, row * width + k));
            break;
        case Stored::float16:
            for (std::size_t k = 0; k < width; ++k) take(k, half_at(values, row * width + k));
            break;
        case Stored::int8: {
            const std::uint8_t* from = values + row * width;
            const float scale = scales[row];
            for (std::size_t k = 0; k < width; ++k)
                take(k, static_cast<float>(static_cast<std::int8_t>(from[k])) * scale);
            break;
        }
        case Stored::int4: {
            const std::uint8_t* from = values + row * (width / 2);
            for (std::size_t k = 0; k < width; k += 2) {
                const float scale = scales[(row * width + k) / GROUP_4];
                const std::uint8_t both = from[k / 2];
                take(k, (static_cast<float>(both & 15U) - 8.0F) * scale);
                take(k + 1, (static_cast<float>(both >> 4U) - 8.0F) * scale);
            }
            break;
        }
    }
}

std::size_t product(const std::vector<std::size_t>& shape) {
    std::size_t made = 1;
    for (const std::size_t one : shape) {
        require(one <= LARGEST && (one == 0 || made <= (std::size_t{1} << 40U) / one), "a tensor is too large");
        made *= one;
    }
    return made;
}

std::string text(const std::vector<std::size_t>& shape) {
    std::string made = "(";
    for (const std::size_t one : shape) made += (made.size() > 1 ? ", " : "") + std::to_string(one);
    return made + ")";
}

// Raise unless the bytes of a tensor are as many as its shape says.
void check_bytes(const Tensor& tensor, const std::string& name) {
    const std::size_t count = product(tensor.shape), width = tensor.shape.empty() ? 1 : tensor.shape.back();
    require(tensor.kind != Stored::int4 || width % GROUP_4 == 0, name + ": rows are not whole groups");
    const std::size_t bytes = tensor.kind == Stored::float32   ? 4 * count
                              : tensor.kind == Stored::float16 ? 2 * count
                              : tensor.kind == Stored::int8    ? count
                                                               : count / 2;
    require(tensor.values.size == bytes, name + ": there are not as many values as the shape says");
    if (tensor.kind == Stored::float32 || tensor.kind == Stored::float16) return;
    const std::size_t scales = width == 0 ? 0 : count / scaled(tensor.kind, width);
    require(tensor.scales.size == scales * (tensor.half_scales ? 2 : 4), name + ": the scales do not fit the values");
}

std::vector<float> scales_of(const Tensor& tensor) {
    std::vector<float> made(tensor.scales.size / (tensor.half_scales ? 2 : 4));
    for (std::size_t k = 0; k < made.size(); ++k)
        made[k] = tensor.half_scales ? half_at(tensor.scales.data, k) : float_at(tensor.scales.data, k);
    return made;
}

void check_finite(const std::vector<float>& values, const std::string& name) {
    std::uint32_t largest = 0;
    for (const float value : values) {
        std::uint32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        largest = std::max(largest, bits & 0x7f800000U);
    }
    require(largest < 0x7f800000U, name + ": holds something that is not a number, or is infinite");
}

void linear(const LayerKernels& kernels, const Product* products, std::size_t count, Rows<const float> x) {
    const std::size_t depth = products[0].layer->depth;
    kernels.linear(products, count, x, rounded_room(depth, room_for<float>(rounding_numbers(depth))));
}

std::size_t whole_steps(std::size_t columns) { return (columns + COLUMN_STEP - 1) / COLUMN_STEP * COLUMN_STEP; }

// Columns out of rows, (rows, width) into (width, stride); what is beyond the rows is zero.
void turn_over(const float* x, std::size_t rows, std::size_t width, float* out, std::size_t stride) {
    constexpr std::size_t SIDE = 16;  // of a square that stays in the caches while it is turned
    for (std::size_t first = 0; first < width; first += SIDE) {
        const std::size_t last = std::min(first + SIDE, width);
        for (std::size_t r = 0; r < rows; r += SIDE) {
            const std::size_t end = std::min(r + SIDE, rows);
            for (std::size_t k = first; k < last; ++k)
                for (std::size_t at = r; at < end; ++at) out[k * stride + at] = x[at * width + k];
        }
        for (std::size_t k = first; k < last; ++k) std::fill(out + k * stride + rows, out + (k + 1) * stride, 0.0F);
    }
}

}  // namespace

Embedding::Embedding(const Tensor& tensor, const std::string& name) : kind_(tensor.kind) {
    require(tensor.shape.size() == 2, name + ": is no table");
    check_bytes(tensor, name);
    rows_ = tensor.shape[0];
    width_ = tensor.shape[1];
    values_.assign(tensor.values.data, tensor.values.data + tensor.values.size);
    scales_ = scales_of(tensor);
}

void Embedding::copy(std::size_t row, float* to) const {
    unpack_row(kind_, values_.data(), scales_.data(), row, width_, [=](std::size_t k, float value) { to[k] = value; });
}

void Embedding::add(std::size_t row, float* to) const {
    unpack_row(kind_, values_.data(), scales_.data(), row, width_, [=](std::size_t k, float value) { to[k] += value; });
}

// Takes tensors out of what is given, by name, and checks that they have the shapes that the options imply.
class Network::Reader {
  public:
    Reader(Network& network, const Tensors& tensors) : network_(network), tensors_(tensors) {}

    const Tensor& tensor(const std::string& name, const std::vector<std::size_t>& shape) const {
        const auto found = tensors_.find(name);
        require(found != tensors_.end(), name + ": is missing; expected weights of shape " + text(shape));
        require(found->second.shape == shape,
                name + ": has shape " + text(found->second.shape) + "; expected " + text(shape));
        return found->second;
    }
    std::vector<float> floats(const std::string& name, const std::vector<std::size_t>& shape) const {
        const Tensor& found = tensor(name, shape);
        check_bytes(found, name);
        const std::size_t width = shape.back(), rows = width == 0 ? 0 : product(shape) / width;
        std::vector<float> made(rows * width);
        const std::vector<float> scales = scales_of(found);
        for (std::size_t r = 0; r < rows; ++r) {
            float* to = made.data() + r * width;
            unpack_row(found.kind, found.values.data, scales.data(), r, width,
                       [=](std::size_t k, float value) { to[k] = value; });
        }
        check_finite(made, name);
        return made;
    }
    // A table without rows is none.
    Embedding table(const std::string& name, std::size_t rows, std::size_t width) const {
        return rows == 0 ? Embedding() : Embedding(tensor(name, {rows, width}), name);
    }
    const float* kept(std::vector<float> values) {
        network_.kept_.push_back(std::move(values));
        return network_.kept_.back().data();
    }
    Norm norm(const std::string& name, std::size_t width, float epsilon = EPSILON) {
        return {kept(floats(name + ".weight", {width})), kept(floats(name + ".bias", {width})), epsilon};
    }
    Int8 packed(const std::vector<float>& weight, std::size_t outputs, std::size_t inputs, const float* bias) {
        require(outputs > 0 && inputs > 0, "a linear layer is empty");
        network_.packed_.emplace_back(weight.data(), outputs, inputs, bias, network_.kernels_.in_order);
        return network_.packed_.back().layer;
    }
    // One layer, or several of the same input as one.
    Int8 linear(const std::vector<std::string>& names, std::size_t outputs, std::size_t inputs) {
        std::vector<float> weight, bias;
        for (const std::string& name : names) {
            append(weight, floats(name + ".weight", {outputs, inputs}));
            append(bias, floats(name + ".bias", {outputs}));
        }
        return packed(weight, names.size() * outputs, inputs, bias.data());
    }
    // A matrix whose last row is a bias: (inputs + 1, outputs).
    Int8 affine(const std::string& name, std::size_t inputs, std::size_t outputs) {
        const std::vector<float> given = floats(name, {inputs + 1, outputs});
        std::vector<float> weight(inputs * outputs);
        for (std::size_t n = 0; n < outputs; ++n)
            for (std::size_t k = 0; k < inputs; ++k) weight[n * inputs + k] = given[k * outputs + n];
        return packed(weight, outputs, inputs, given.data() + inputs * outputs);
    }
    // Several layers of the same input side by side.
    Dense dense(const std::vector<std::pair<std::string, std::size_t>>& layers, std::size_t inputs) {
        Dense made;
        made.inputs = inputs;
        for (const auto& layer : layers) made.outputs += layer.second;
        made.stride = whole_steps(made.outputs);
        made.weights.assign(inputs * made.stride, 0.0F);
        made.bias.assign(made.stride, 0.0F);
        std::size_t first = 0;
        for (const auto& [name, outputs] : layers) {
            const std::vector<float> weight = floats(name + ".weight", {outputs, inputs});
            const std::vector<float> bias = floats(name + ".bias", {outputs});
            for (std::size_t n = 0; n < outputs; ++n) {
                made.bias[first + n] = bias[n];
                for (std::size_t k = 0; k < inputs; ++k)
                    made.weights[k * made.stride + first + n] = weight[n * inputs + k];
            }
            first += outputs;
        }
        return made;
    }
    Either either(const std::string& name, std::size_t outputs, std::size_t inputs) {
        if (std::min(outputs, inputs) >= SMALLEST) return {linear({name}, outputs, inputs), {}};
        return {{}, dense({{name, outputs}}, inputs)};
    }

  private:
    static void append(std::vector<float>& to, const std::vector<float>& more) {
        to.insert(to.end(), more.begin(), more.end());
    }

    Network& network_;
    const Tensors& tensors_;
};

Network::Network(const Options& options, const Tensors& tensors, const LayerKernels& kernels)
    : options_(options), kernels_(kernels) {
    const Options& o = options_;
    for (const std::size_t one :
         {o.pieces, o.types, o.hidden, o.inner, o.layers, o.heads, o.places, o.place_offset, o.distances, o.size,
          o.stack_layers, o.stack_heads, o.stack_inside, o.stack_inner, o.stack_places, o.words, o.tags_read, o.shapes,
          o.styles, o.span, o.pair, o.arc, o.relation, o.head, o.order, o.tag, o.labels, o.relations, o.levels, o.tags,
          o.upos})
        require(one <= LARGEST, "an option is too large");
    require(o.size > 0 && o.span > 0 && o.arc > 0 && o.relation > 0 && o.head > 0 && o.tag > 0, "a part is empty");
    require(o.labels > 0 && o.levels > 0 && o.tags > 0 && o.upos > 0, "there are no classes");
    require(o.helper <= o.labels, "there is no such label");
    require(o.at_root.size() == o.relations && o.elsewhere.size() == o.relations, "not every relation has its places");
    require(o.stack_layers == 0 || (o.size % 2 == 0 && o.stack_places > 0), "a vector is not content and position");
    content_ = o.stack_layers > 0 ? o.size / 2 : o.size;
    Reader reader(*this, tensors);
    if (o.pieces > 0) read_encoder(reader);
    read_stack(reader);
    read_scorers(reader);
}

namespace {

// What is added to scores of attention: (heads, 2 reach + 1), by how far the query stands behind the key, from -reach to
// reach. Near distances count one by one, farther ones in classes that grow.
std::vector<float> by_distance(const std::vector<float>& table, std::size_t classes, std::size_t heads,
                               std::size_t reach) {
    const std::size_t half = classes / 2, near = half / 2, width = 2 * reach + 1;
    std::vector<float> made(heads * width + SLACK, 0.0F);
    const auto whole = static_cast<float>(std::log(static_cast<double>(FAR) / static_cast<double>(near)));
    for (std::size_t at = 0; at < width; ++at) {
        const bool before = at < reach;
        const std::size_t apart = before ? reach - at : at - reach;
        std::size_t found = apart;
        if (apart >= near) {
            const float growth = std::log(static_cast<float>(apart) / static_cast<float>(near)) / whole;
            found = near + static_cast<std::size_t>(growth * static_cast<float>(half - near));
            found = std::min(found, half - 1);
        }
        if (before) found += half;
        for (std::size_t head = 0; head < heads; ++head) made[head * width + at] = table[found * heads + head];
    }
    return made;
}

}  // namespace

void Network::read_encoder(Reader& reader) {
    const Options& o = options_;
    require(o.hidden > 0 && o.inner > 0 && o.heads > 0 && o.hidden % o.heads == 0, "the heads do not divide a vector");
    require(o.place_offset < o.places, "no place is left for a piece");
    const std::string table = "encoder.embeddings.";
    piece_table_ = reader.table(table + "pieces", o.pieces, o.hidden);
    place_table_ = reader.table(table + "places", o.places, o.hidden);
    type_table_ = reader.table(table + "types", o.types, o.hidden);
    piece_norm_ = reader.norm(table + "norm", o.hidden, o.epsilon);
    const float* distances = nullptr;
    if (o.distances > 0) {
        require(o.distances >= 4 && o.distances / 4 < FAR, "so many classes of distances are not known");
        distances = reader.kept(
            by_distance(reader.floats("encoder.distances", {o.distances, o.heads}), o.distances, o.heads, o.places));
    }
    for (std::size_t at = 0; at < o.layers; ++at) {
        const std::string name = "encoder.layers." + std::to_string(at) + ".";
        TransformerLayer layer;
        layer.parts.push_back({reader.linear({name + "query", name + "key", name + "value"}, o.hidden, o.hidden),
                               reader.linear({name + "joined"}, o.hidden, o.hidden),
                               reader.linear({name + "inner"}, o.inner, o.hidden),
                               reader.linear({name + "outer"}, o.hidden, o.inner)});
        layer.norm = reader.norm(name + "joined_norm", o.hidden, o.epsilon);
        layer.outer_norm = reader.norm(name + "outer_norm", o.hidden, o.epsilon);
        layer.heads = o.heads;
        layer.activation = Activation::gelu;
        layer.by_distance = distances;
        layer.reach = distances == nullptr ? 0 : o.places;
        require(layer.fits(), "the sizes of a layer do not fit each other");
        layers_.push_back(std::move(layer));
    }
    project_ = reader.either("encoder.project", content_, o.hidden);
}

void Network::read_stack(Reader& reader) {
    const Options& o = options_;
    const std::string features = "encoder.features.";
    word_table_ = reader.table(features + "words.weight", o.words, content_);
    tag_table_ = reader.table(features + "tags.weight", o.tags_read, content_);
    shape_table_ = reader.table(features + "shapes.weight", o.shapes, content_);
    style_table_ = reader.table(features + "styles.weight", o.styles, content_);
    edges_ = reader.floats(features + "edges", {2, content_});
    content_norm_ = reader.norm("encoder.norm", content_);
    if (o.stack_layers == 0) return;
    position_table_ = reader.table("encoder.stack.positions", o.stack_places, o.size - content_);
    const std::size_t inside = o.stack_inside / 2, inner = o.stack_inner / 2;
    for (std::size_t at = 0; at < o.stack_layers; ++at) {
        const std::string name = "encoder.stack.layers." + std::to_string(at) + ".";
        TransformerLayer layer;
        for (const std::string part : {".content", ".position"}) {
            const std::string attention = name + "attention.";
            layer.parts.push_back(
                {reader.linear({attention + "query" + part, attention + "key" + part, attention + "value" + part}, inside,
                               content_),
                 reader.linear({attention + "out" + part}, content_, inside),
                 reader.linear({name + "inner" + part}, inner, content_),
                 reader.linear({name + "outer" + part}, content_, inner)});
        }
        layer.norm = reader.norm(name + "attention_norm", o.size);
        layer.outer_norm = reader.norm(name + "outer_norm", o.size);
        layer.heads = o.stack_heads;
        layer.activation = Activation::relu;
        require(layer.fits(), "the sizes of a layer do not fit each other");
        stack_.push_back(std::move(layer));
    }
}

void Network::read_scorers(Reader& reader) {
    const Options& o = options_;
    arc_governor_ = reader.linear({"arc.governor.linear"}, o.arc, o.size);
    arc_dependent_ = reader.linear({"arc.dependent.linear"}, o.arc, o.size);
    arc_project_ = reader.affine("arc.weight", o.arc, o.arc);
    relation_governor_ = reader.linear({"relation.governor.linear"}, o.relation, o.size);
    relation_dependent_ = reader.linear({"relation.dependent.linear"}, o.relation, o.size);
    const std::size_t more = o.relation + 1;
    const std::vector<float> pull = reader.floats("relation.weight", {o.relations, more, more});
    if (o.relations > 0) {  // for each relation and input of the governor a row, whose last weight is a bias
        std::vector<float> weight(o.relations * more * o.relation), bias(o.relations * more);
        for (std::size_t n = 0; n < o.relations; ++n)
            for (std::size_t right = 0; right < more; ++right) {
                for (std::size_t left = 0; left < o.relation; ++left)
                    weight[(n * more + right) * o.relation + left] = pull[(n * more + left) * more + right];
                bias[n * more + right] = pull[(n * more + o.relation) * more + right];
            }
        relation_pull_ = reader.packed(weight, o.relations * more, o.relation, bias.data());
    }
    post_ = reader.packed(reader.floats("span.first.weight", {o.span, o.size}), o.span, o.size, nullptr);
    if (o.pair > 0) {
        start_ = reader.linear({"span.start.linear"}, o.pair, o.size);
        end_ = reader.linear({"span.end.linear"}, o.pair, o.size);
        pair_project_ = reader.affine("span.weight", o.pair, o.pair + 1);
    }
    span_bias_ = reader.kept(reader.floats("span.bias", {o.span}));
    span_norm_ = reader.norm("span.norm", o.span);
    labels_ = reader.linear({"span.second"}, o.labels, o.span);
    tag_ = {{reader.linear({"tag.first"}, o.tag, o.size), {}},
            reader.norm("tag.norm", o.tag),
            reader.dense({{"tag.classes.0", o.tags}, {"tag.classes.1", o.upos}}, o.tag)};
    if (o.order > 0)
        order_ = {{reader.linear({"order.first"}, o.order, o.size), {}},
                  reader.norm("order.norm", o.order),
                  reader.dense({{"order.classes.0", 1}}, o.order)};
    head_ = {reader.either("head.first", o.head, o.size), reader.norm("head.norm", o.head),
             reader.dense({{"head.classes.0", o.levels}}, o.head)};
}

// Everything that is used to read from or write to a place.
void Network::check(const Batch& batch, std::size_t positions) const {
    const Options& o = options_;
    const auto inside = [](const Numbers& numbers, std::size_t bound) {
        bool holds = true;
        for (std::size_t k = 0; k < numbers.size; ++k)
            holds = holds && static_cast<std::uint64_t>(numbers[k]) < static_cast<std::uint64_t>(bound);
        return holds;
    };
    const auto column = [&](const Numbers& numbers, std::size_t rows, const char* name) {
        require(rows == 0 || numbers.size == positions, std::string(name) + ": there is not one for every position");
        require(rows == 0 || inside(numbers, rows), std::string(name) + ": a number is beyond the table");
    };
    column(batch.words, o.words, "words");
    column(batch.tags, o.tags_read, "tags");
    column(batch.shapes, o.shapes, "shapes");
    column(batch.styles, o.styles, "styles");
    require(batch.extra.data == nullptr || batch.extra.size == positions * content_,
            "extra: there is not one vector for every position");
    if (o.pieces == 0) return;
    const std::size_t pieces = batch.ids.size;
    require(inside(batch.ids, o.pieces), "ids: a piece is beyond the table");
    require(o.types == 0 || batch.types.size == pieces, "types: there is not one for every piece");
    require(o.types == 0 || inside(batch.types, o.types), "types: a number is beyond the table");
    std::size_t total = 0;
    for (std::size_t r = 0; r < batch.rows.size; ++r) {
        require(batch.rows[r] >= 0 && static_cast<std::uint64_t>(batch.rows[r]) <= o.places - o.place_offset,
                "rows: a row is longer than the encoder reads");
        total += static_cast<std::size_t>(batch.rows[r]);
    }
    require(total == pieces, "rows: they do not add up to the pieces");
    require(batch.word_pieces.size == batch.word_of.size, "word_of: there is not one for every piece of a word");
    require(inside(batch.word_pieces, pieces), "word_pieces: a place is beyond the pieces");
    require(inside(batch.word_of, positions), "word_of: a place is beyond the positions");
    for (std::size_t k = 1; k < batch.word_of.size; ++k)
        require(batch.word_of[k - 1] <= batch.word_of[k], "word_of: not sorted");
}

// The sum of the tables for the pieces of some rows.
void Network::embed(const Batch& batch, std::size_t first_piece, std::size_t row, std::size_t last_row, float* x) const {
    const Options& o = options_;
    std::size_t at = first_piece;
    for (; row < last_row; ++row) {
        std::size_t seen = 0;  // pieces that are not padding, where places are counted by them
        for (std::int64_t k = 0; k < batch.rows[row]; ++k, ++at, x += o.hidden) {
            const auto id = static_cast<std::size_t>(batch.ids[at]);
            std::size_t place = static_cast<std::size_t>(k);
            if (o.place_offset > 0) {
                const bool padding = id == o.place_offset - 1;
                place = padding ? o.place_offset - 1 : o.place_offset + seen;
                if (!padding) ++seen;
            }
            piece_table_.copy(id, x);
            if (o.types > 0) type_table_.add(static_cast<std::size_t>(batch.types[at]), x);
            place_table_.add(place, x);
        }
    }
}

// One vector of the pretrained encoder for each position: the mean of its pieces, or the first or last one.
void Network::pool(const Batch& batch, std::size_t positions, float* pooled) const {
    const std::size_t hidden = options_.hidden, places = batch.word_of.size;
    std::fill_n(pooled, positions * hidden, 0.0F);
    std::vector<float> share(places, 0.0F);
    for (std::size_t first = 0; first < places;) {
        std::size_t last = first;
        while (last < places && batch.word_of[last] == batch.word_of[first]) ++last;
        if (options_.pooling == Pooling::mean)
            std::fill(share.begin() + static_cast<std::ptrdiff_t>(first), share.begin() + static_cast<std::ptrdiff_t>(last),
                      1.0F / static_cast<float>(last - first));
        else
            share[options_.pooling == Pooling::first ? first : last - 1] = 1.0F;
        first = last;
    }
    std::size_t piece = 0;
    for (std::size_t row = 0; row < batch.rows.size;) {
        std::size_t count = 0, last_row = row;
        do count += static_cast<std::size_t>(batch.rows[last_row++]);
        while (last_row < batch.rows.size && count + static_cast<std::size_t>(batch.rows[last_row]) <= PIECES);
        float* x = room<For::pieces>(count * hidden);
        embed(batch, piece, row, last_row, x);
        kernels_.norm({x, hidden}, count, hidden, piece_norm_);
        for (const TransformerLayer& layer : layers_)
            h3n::run(layer, kernels_, {x, hidden}, batch.rows.data + row, last_row - row);
        for (std::size_t k = 0; k < places; ++k) {
            const std::size_t from = static_cast<std::size_t>(batch.word_pieces[k]) - piece;  // beyond if it is before
            if (share[k] == 0.0F || from >= count) continue;
            float* to = pooled + static_cast<std::size_t>(batch.word_of[k]) * hidden;
            for (std::size_t d = 0; d < hidden; ++d) to[d] += x[from * hidden + d] * share[k];
        }
        piece += count;
        row = last_row;
    }
}

void Network::apply(const Either& layer, Rows<const float> x, std::size_t rows, Table<float> out) const {
    if (layer.dense.outputs == 0) {
        const Product product{&layer.whole, rows, {out}, Activation::none};
        linear(kernels_, &product, 1, x);
        return;
    }
    const Dense& dense = layer.dense;
    for (std::size_t r = 0; r < rows; ++r)  // rows may lie anywhere
        kernels_.products({x[r], 0}, 1, dense.inputs, {dense.weights.data(), dense.stride}, dense.bias.data(),
                          dense.outputs, {out[r], out.stride});
}

// What follows the first step of a scorer of words, which is changed.
void Network::classify(const Classes& classes, float* hidden, std::size_t rows, Table<float> out) const {
    const Dense& dense = classes.second;
    const Table<float> table{hidden, dense.inputs};
    kernels_.add_norm({hidden, dense.inputs}, {}, rows, dense.inputs, classes.norm, table);
    kernels_.activate(table, rows, dense.inputs, Activation::relu);
    kernels_.products({hidden, dense.inputs}, rows, dense.inputs, {dense.weights.data(), dense.stride},
                      dense.bias.data(), dense.outputs, out);
}

// The vectors of all positions in context.
void Network::encode(const Batch& batch, const Output& out) const {
    const Options& o = options_;
    const Table<float> x{out.vectors_.get(), o.size};
    if (o.pieces > 0) {
        float* pooled = room<For::pooled>(out.positions * o.hidden);
        pool(batch, out.positions, pooled);
        apply(project_, {{pooled, o.hidden}}, out.positions, x);
    } else {
        for (std::size_t p = 0; p < out.positions; ++p) std::fill_n(x[p], content_, 0.0F);
    }
    const std::pair<const Embedding*, const Numbers*> tables[] = {
        {&word_table_, &batch.words}, {&tag_table_, &batch.tags}, {&shape_table_, &batch.shapes},
        {&style_table_, &batch.styles}};
    std::vector<float> total(content_);
    std::vector<std::int64_t> counts;
    for (const Output::Sentence& sentence : out.sentences_) {
        const std::size_t count = sentence.length + 2;
        counts.push_back(static_cast<std::int64_t>(count));
        for (std::size_t k = 0; k < count; ++k) {
            const std::size_t p = sentence.position + k;
            float* row = x[p];
            std::fill(total.begin(), total.end(), 0.0F);
            for (const auto& [table, numbers] : tables)
                if (table->rows() > 0) table->add(static_cast<std::size_t>((*numbers)[p]), total.data());
            for (std::size_t d = 0; batch.extra.data != nullptr && d < content_; ++d)
                total[d] += batch.extra[p * content_ + d];
            for (std::size_t d = 0; d < content_; ++d) row[d] += total[d];
            if (k == 0 || k + 1 == count)
                for (std::size_t d = 0; d < content_; ++d) row[d] += edges_[(k == 0 ? 0 : content_) + d];
            if (!stack_.empty()) position_table_.copy(std::min(k, o.stack_places - 1), row + content_);
        }
    }
    kernels_.norm(x, out.positions, content_, content_norm_);
    for (const TransformerLayer& layer : stack_) h3n::run(layer, kernels_, x, counts.data(), counts.size());
}

namespace {

// What this thread has taken of its processor, as far as the system tells.
double processor_seconds() {
#ifdef CLOCK_THREAD_CPUTIME_ID
    timespec now{};
    if (clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now) == 0)
        return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
#endif
    return 0.0;
}

}  // namespace

std::unique_ptr<Output> Network::run(const Batch& batch) const {
    auto out = std::make_unique<Output>(*this, batch.lengths);
    check(batch, out->positions);
    const double started = processor_seconds();
    encode(batch, *out);
    out->encoder_seconds = processor_seconds() - started;
    out->score_words();
    out->score_posts();
    out->score_spans();
    return out;
}

namespace {

std::unique_ptr<float[]> floats(std::size_t count) { return std::unique_ptr<float[]>(new float[count]); }

}  // namespace

Output::Output(const Network& network, const Numbers& given) : network_(network) {
    std::vector<std::int64_t> starts;
    for (std::size_t s = 0; s < given.size; ++s) {
        require(given[s] >= 0 && static_cast<std::uint64_t>(given[s]) <= LONGEST, "lengths: a length is wrong");
        const auto n = static_cast<std::size_t>(given[s]);
        lengths.push_back(n);
        sentences_.push_back({n, words, positions, posts, cells, arc_cells});
        starts.push_back(static_cast<std::int64_t>(positions));
        for (std::size_t k = 0; k < n; ++k) word_places_.push_back(static_cast<std::int64_t>(positions + 1 + k));
        words += n;
        positions += n + 2;
        posts += n + 1;
        cells += (n + 1) * (n + 1);
        arc_cells += (n + 1) * n;
        require(positions <= LARGEST, "lengths: there are too many words");
    }
    word_places_.insert(word_places_.end(), starts.begin(), starts.end());
    const Options& o = options();
    vectors_ = floats(positions * o.size);
}

void Output::score_words() {
    const Options& o = options();
    // Governors lie with the root's first, then the words of its sentence.
    std::vector<std::int64_t> places(posts);
    for (std::size_t s = 0; s < sentences_.size(); ++s) {
        const Sentence& sentence = sentences_[s];
        places[words + s] = static_cast<std::int64_t>(sentence.post);
        for (std::size_t k = 0; k < sentence.length; ++k)
            places[sentence.word + k] = static_cast<std::int64_t>(sentence.post + 1 + k);
    }
    governors_ = floats(posts * o.relation);
    dependents_ = floats(words * o.relation);
    tag_scores = floats(words * (o.tags + o.upos));
    float* governor = room<For::rows>((posts + 2 * words) * o.arc);
    float *dependent = governor + posts * o.arc, *looked_for = dependent + words * o.arc;
    float* tag = room<For::hidden>(words * (o.tag + o.order));
    float* order = tag + words * o.tag;
    const Activation leaky = Activation::leaky, none = Activation::none;
    const Product products[] = {
        {&network_.arc_governor_, posts, {{governor, o.arc}, places.data()}, leaky},
        {&network_.relation_governor_, posts, {{governors_.get(), o.relation}, places.data()}, leaky},
        {&network_.arc_dependent_, words, {{dependent, o.arc}}, leaky},
        {&network_.relation_dependent_, words, {{dependents_.get(), o.relation}}, leaky},
        {&network_.tag_.first.whole, words, {{tag, o.tag}}, none},
        {&network_.order_.first.whole, words, {{order, o.order}}, none},
    };
    linear(network_.kernels_, products, o.order > 0 ? 6 : 5, {{vectors_.get(), o.size}, word_places_.data()});
    const Product project{&network_.arc_project_, words, {{looked_for, o.arc}}, none};
    linear(network_.kernels_, &project, 1, {{dependent, o.arc}});
    score_arcs(governor, looked_for);
    const std::size_t both = o.tags + o.upos;
    network_.classify(network_.tag_, tag, words, {tag_scores.get(), both});
    tags.resize(words);
    upos.resize(words);
    for (std::size_t w = 0; w < words; ++w) {
        const float* row = tag_scores.get() + w * both;
        tags[w] = static_cast<std::int64_t>(network_.kernels_.best(row, o.tags, o.tags));
        upos[w] = static_cast<std::int64_t>(network_.kernels_.best(row + o.tags, o.upos, o.upos));
    }
    if (o.order > 0) {
        order_scores = floats(words);
        network_.classify(network_.order_, order, words, {order_scores.get(), 1});
    }
}

void Output::score_arcs(const float* governor, const float* looked_for) {
    const std::size_t width = options().arc;
    arcs = floats(arc_cells);
    for (const Sentence& sentence : sentences_) {
        const std::size_t n = sentence.length, stride = whole_steps(n);
        if (n == 0) continue;
        float* turned = room<For::turned>(width * stride);
        turn_over(looked_for + sentence.word * width, n, width, turned, stride);
        const Table<float> out{arcs.get() + sentence.arc, n};
        network_.kernels_.products({governor + sentence.post * width, width}, n + 1, width, {turned, stride}, nullptr, n,
                                   out);
        const auto bar = [&](float value) {
            for (std::size_t k = 0; k < n; ++k) out[k + 1][k] = value;
        };
        bar(-std::numeric_limits<float>::infinity());
        network_.kernels_.log_shares(out, n + 1, n);
        bar(std::numeric_limits<float>::lowest());
    }
}

void Output::score_posts() {
    const Options& o = options();
    const std::size_t size = o.size, evens = size - size / 2, wide = o.pair + 1;
    float* between = room<For::rows>(posts * size);
    for (const Sentence& sentence : sentences_)
        for (std::size_t k = 0; k <= sentence.length; ++k) {
            const float* before = vectors_.get() + (sentence.position + k) * size;
            float* to = between + (sentence.post + k) * size;
            for (std::size_t d = 0; d < evens; ++d) to[d] = before[2 * d];
            for (std::size_t d = 0; d < size / 2; ++d) to[evens + d] = before[size + 2 * d + 1];
        }
    post_rows_ = floats(posts * o.span);
    float* start = room<For::other>(posts * (2 * o.pair + wide));
    float *end = start + posts * o.pair, *looked_for = end + posts * o.pair;
    const Product products[] = {{&network_.post_, posts, {{post_rows_.get(), o.span}}, Activation::none},
                                {&network_.start_, posts, {{start, o.pair}}, Activation::leaky},
                                {&network_.end_, posts, {{end, o.pair}}, Activation::leaky}};
    linear(network_.kernels_, products, o.pair > 0 ? 3 : 1, {{between, size}});
    if (o.pair == 0) return;
    const Product project{&network_.pair_project_, posts, {{looked_for, wide}}, Activation::none};
    linear(network_.kernels_, &project, 1, {{start, o.pair}});
    score_pairs(looked_for, end);
}

// How well a start and an end fit, whatever the label; of a chart the cells right of the diagonal.
void Output::score_pairs(const float* looked_for, const float* end) {
    const std::size_t pair = options().pair, wide = pair + 1;
    pairs_ = floats(cells);
    for (const Sentence& sentence : sentences_) {
        const std::size_t count = sentence.length + 1, stride = whole_steps(count);
        float* turned = room<For::turned>(wide * stride);
        turn_over(end + sentence.post * pair, count, pair, turned, stride);
        std::fill_n(turned + pair * stride, stride, 1.0F);
        float* chart = pairs_.get() + sentence.cell;
        for (std::size_t first = 0; first < count; first += COLUMN_STEP) {
            const std::size_t rows = std::min(COLUMN_STEP, count - first);
            network_.kernels_.products({looked_for + (sentence.post + first) * wide, wide}, rows, wide,
                                       {turned + first, stride}, nullptr, count - first,
                                       {chart + first * count + first, count});
        }
    }
}

void Output::score_spans() {
    const Options& o = options();
    full = floats(cells);
    open = floats(cells);
    label.reset(new std::int32_t[cells]);
    std::fill_n(full.get(), cells, 0.0F);
    std::fill_n(open.get(), cells, 0.0F);
    std::fill_n(label.get(), cells, 0);
    const Spans given{post_rows_.get(), nullptr, 0, o.span, network_.span_bias_, network_.span_norm_, network_.labels_};
    const std::size_t depth = network_.labels_.depth;
    const Rounded rounded = rounded_room(depth, room_for<float>(rounding_numbers(depth)));
    float* made = room<For::scores>(BLOCK * std::max(o.span, o.labels));
    Span spans[BLOCK];
    std::size_t left_out[BLOCK], to[BLOCK], some = 0;
    float scores[BLOCK];
    std::int32_t labels[BLOCK];
    const auto finish = [&] {
        network_.kernels_.best_labels(given, spans, left_out, some, scores, labels, rounded, made);
        for (std::size_t r = 0; r < some; ++r) {
            const float score = pairs_ ? scores[r] + pairs_[to[r]] : scores[r];
            full[to[r]] = score;
            open[to[r]] = score > 0.0F ? score : 0.0F;
            label[to[r]] = labels[r] + 1;
        }
        some = 0;
    };
    for (const Sentence& sentence : sentences_) {
        const std::size_t n = sentence.length;
        for (std::size_t i = 0; i < n; ++i)
            for (std::size_t j = i + 1; j <= n; ++j) {
                spans[some] = {0, sentence.post + i, sentence.post + j};
                left_out[some] = j - i == 1 || j - i == n ? o.helper : o.labels;
                to[some] = sentence.cell + i * (n + 1) + j;
                if (++some == BLOCK) finish();
            }
    }
    if (some > 0) finish();
}

template <class Take>
void Output::each_spans(const Numbers& sentence, const Numbers& start, const Numbers& end, const Take& take) const {
    const Options& o = options();
    require(start.size == sentence.size && end.size == sentence.size, "spans: the columns differ in length");
    const Spans given{post_rows_.get(), nullptr, 0, o.span, network_.span_bias_, network_.span_norm_, network_.labels_};
    const std::size_t depth = network_.labels_.depth;
    const Rounded rounded = rounded_room(depth, room_for<float>(rounding_numbers(depth)));
    float* made = room<For::scores>(BLOCK * (o.span + o.labels + 1));
    const Table<float> to{made + BLOCK * o.span, o.labels + 1};  // one more, for who takes them
    for (std::size_t first = 0; first < sentence.size; first += BLOCK) {
        const std::size_t some = std::min(BLOCK, sentence.size - first);
        Span spans[BLOCK];
        float pairs[BLOCK];
        for (std::size_t r = 0; r < some; ++r) {
            const auto s = static_cast<std::uint64_t>(sentence[first + r]);
            require(s < sentences_.size(), "spans: there is no such sentence");
            const Sentence& here = sentences_[s];
            const std::int64_t i = start[first + r], j = end[first + r];
            require(i >= 0 && i < j && j <= static_cast<std::int64_t>(here.length), "spans: a span is not in its sentence");
            const auto from = static_cast<std::size_t>(i), last = static_cast<std::size_t>(j);
            spans[r] = {0, here.post + from, here.post + last};
            pairs[r] = pairs_ ? pairs_[here.cell + from * (here.length + 1) + last] : 0.0F;
        }
        network_.kernels_.score_spans(given, spans, some, to, rounded, made);
        for (std::size_t r = 0; r < some; ++r)
            for (std::size_t n = 0; n < o.labels; ++n) to[r][n] += pairs[r];
        take(to, first, some);
    }
}

void Output::label_scores(const Numbers& sentence, const Numbers& start, const Numbers& end, float* out) const {
    const std::size_t labels = options().labels;
    each_spans(sentence, start, end, [=](Table<float> scores, std::size_t first, std::size_t some) {
        for (std::size_t r = 0; r < some; ++r) std::copy_n(scores[r], labels, out + (first + r) * labels);
    });
}

void Output::label_shares(const Numbers& sentence, const Numbers& start, const Numbers& end, const Numbers& label,
                          float factor, float none, float* out) const {
    constexpr float never = -std::numeric_limits<float>::infinity();
    const Options& o = options();
    require(label.size == sentence.size, "spans: the columns differ in length");
    each_spans(sentence, start, end, [&](Table<float> scores, std::size_t first, std::size_t some) {
        for (std::size_t r = 0; r < some; ++r) {
            const std::size_t at = first + r;
            const auto length = static_cast<std::int64_t>(sentences_[static_cast<std::size_t>(sentence[at])].length);
            const auto chosen = static_cast<std::uint64_t>(label[at] - 1);  // the first is that of no label, here the last
            require(chosen < o.labels, "spans: there is no such label");
            const std::int64_t width = end[at] - start[at];
            if (o.helper < o.labels && (width == 1 || width == length)) scores[r][o.helper] = never;
            scores[r][o.labels] = width == length ? never : none;  // a whole sentence always has a label
            out[at] = network_.kernels_.share(scores[r], o.labels + 1, static_cast<std::size_t>(chosen), factor);
        }
    });
}

void Output::governor_shares(const Numbers& governors, float factor, float* out) const {
    check_governors(governors);
    for (const Sentence& sentence : sentences_)
        network_.kernels_.column_shares({arcs.get() + sentence.arc, sentence.length}, sentence.length + 1, sentence.length,
                                        governors.data + sentence.word, factor, out + sentence.word);
}

void Output::check_governors(const Numbers& governors) const {
    require(governors.size == words, "governors: there is not one for every word");
    for (const Sentence& sentence : sentences_)
        for (std::size_t k = 0; k < sentence.length; ++k)
            require(static_cast<std::uint64_t>(governors[sentence.word + k]) <= sentence.length,
                    "governors: a governor is not in its sentence");
}

// Give the scores of the relations of each word to its governor, minus infinity where a relation cannot stand.
template <class Take>
void Output::each_relation(const Numbers& governors, const Take& take) const {
    constexpr std::size_t SOME = 24;  // rows: what is made of them is large
    const Options& o = options();
    check_governors(governors);
    if (o.relations == 0) return;
    const Int8& pull = network_.relation_pull_;
    const std::size_t width = o.relation + 1, made = SOME * pull.outputs + SLACK;
    float* pulled = room<For::rows>(made + width + SLACK + o.relations);
    float *values = pulled + made, *scores = values + width + SLACK;
    std::fill_n(pulled, made + width + SLACK, 0.0F);
    const auto any = [](const std::vector<bool>& row) { return std::find(row.begin(), row.end(), true) != row.end(); };
    const bool bars[] = {any(o.elsewhere), any(o.at_root)};  // no relation at all is no choice
    std::size_t word = 0, ready = 0, first = 0;
    for (const Sentence& sentence : sentences_)
        for (std::size_t k = 0; k < sentence.length; ++k, ++word) {
            if (word == ready) {
                first = word;
                ready = std::min(word + SOME, words);
                const Product product{&pull, ready - word, {{pulled, pull.outputs}}, Activation::none};
                linear(network_.kernels_, &product, 1, {{dependents_.get() + word * o.relation, o.relation}});
            }
            const auto governor = static_cast<std::size_t>(governors[word]);
            std::copy_n(governors_.get() + (sentence.post + governor) * o.relation, o.relation, values);
            values[o.relation] = 1.0F;
            network_.kernels_.contract(pulled + (word - first) * pull.outputs, o.relations, width, values, scores);
            const std::vector<bool>& allowed = governor == 0 ? o.at_root : o.elsewhere;
            for (std::size_t n = 0; bars[governor == 0 ? 1 : 0] && n < o.relations; ++n)
                if (!allowed[n]) scores[n] = -std::numeric_limits<float>::infinity();
            take(word, scores);
        }
}

void Output::relation_scores(const Numbers& governors, float* out) const {
    const std::size_t count = options().relations;
    each_relation(governors, [=](std::size_t word, const float* scores) { std::copy_n(scores, count, out + word * count); });
}

void Output::relations(const Numbers& governors, std::int64_t* out) const {
    const std::size_t count = options().relations;
    require(count > 0, "relations: the network has none");
    each_relation(governors, [&](std::size_t word, const float* scores) {
        out[word] = static_cast<std::int64_t>(network_.kernels_.best(scores, count, count));
    });
}

void Output::levels(float* out) const {
    const Options& o = options();
    float* hidden = room<For::hidden>(words * o.head);
    network_.apply(network_.head_.first, {{vectors_.get(), o.size}, word_places_.data()}, words, {hidden, o.head});
    network_.classify(network_.head_, hidden, words, {out, o.levels});
}

}  // namespace h3n
