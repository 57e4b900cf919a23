#include "transformer.hpp"

#include <algorithm>

#include "packing.hpp"

namespace h3n {

bool TransformerLayer::fits() const {
    if (parts.empty() || heads == 0) return false;
    const Part& first = parts.front();
    const bool alike = std::all_of(parts.begin(), parts.end(), [&](const Part& part) {
        return part.roles.inputs == first.roles.inputs && part.roles.outputs == first.roles.outputs &&
               part.joined.inputs * 3 == part.roles.outputs && part.joined.outputs == part.roles.inputs &&
               part.inner.inputs == part.roles.inputs && part.inner.outputs == first.inner.outputs &&
               part.outer.inputs == part.inner.outputs && part.outer.outputs == part.roles.inputs;
    });
    return alike && first.joined.inputs % heads == 0;
}

namespace {

constexpr std::size_t GROUP = 128;  // rows that sentences are gathered to: enough to make fetching the weights worth it

// One layer on some sentences at a time. What is made on the way lies in memory that is used again for the next ones.
class Run {
  public:
    Run(const TransformerLayer& layer, const LayerKernels& kernels, std::size_t rows, std::size_t longest)
        : layer_(layer), kernels_(kernels), count_(layer.parts.size()) {
        const TransformerLayer::Part& part = layer.parts.front();
        inside_ = part.joined.inputs;
        width_ = part.roles.inputs;
        heads_ = {layer.heads, count_, inside_ / layer.heads, 3 * inside_, inside_, layer.by_distance, layer.reach};
        const std::size_t between = std::max(3 * inside_ * count_, part.inner.outputs);
        const std::size_t room = attention_room(longest, heads_);
        const std::size_t depth = std::max({part.roles.depth, part.joined.depth, part.outer.depth});
        const std::size_t rounding = rounding_numbers(depth);
        float* next = room_for<float>(rounding + rows * (between + (inside_ + width_) * count_) + room);
        rounded_ = rounded_room(depth, next);
        between_ = next + rounding;
        seen_ = {between_ + rows * between, inside_ * count_};
        made_ = {seen_.data + rows * seen_.stride, width_ * count_};
        room_ = made_.data + rows * made_.stride;
    }

    void operator()(Table<float> x, std::size_t rows, const std::int64_t* lengths, std::size_t sentences) const {
        attend(x, rows, lengths, sentences);
        for (std::size_t p = 0; p < count_; ++p)
            run_linear(kernels_, layer_.parts[p].joined, part_of(seen_, p, inside_), rows, writable(made_, p), none,
                       rounded_);
        norm(x, rows, layer_.norm);
        for (std::size_t p = 0; p < count_; ++p) feed_forward(layer_.parts[p], part_of(x, p, width_), rows, p);
        norm(x, rows, layer_.outer_norm);
    }

  private:
    static constexpr Activation none = Activation::none;

    static Table<const float> part_of(Table<float> x, std::size_t part, std::size_t width) {
        return {x.data + part * width, x.stride};
    }
    Table<float> writable(Table<float> x, std::size_t part) const { return {x.data + part * width_, x.stride}; }

    void attend(Table<float> x, std::size_t rows, const std::int64_t* lengths, std::size_t sentences) const {
        const std::size_t stride = 3 * inside_ * count_;
        for (std::size_t p = 0; p < count_; ++p)
            run_linear(kernels_, layer_.parts[p].roles, part_of(x, p, width_), rows, {between_ + 3 * inside_ * p, stride},
                       none, rounded_);
        const float* roles = between_;
        Table<float> out = seen_;
        for (std::size_t s = 0; s < sentences; ++s) {
            const auto words = static_cast<std::size_t>(lengths[s]);
            if (words > 0)
                kernels_.attention({roles, stride}, {roles + inside_, stride}, {roles + 2 * inside_, stride}, words,
                                   heads_, out, room_);
            roles += words * stride;
            out.data += words * out.stride;
        }
    }

    void feed_forward(const TransformerLayer::Part& part, Table<const float> x, std::size_t rows, std::size_t p) const {
        const std::size_t inner = part.inner.outputs;
        run_linear(kernels_, part.inner, x, rows, {between_, inner}, layer_.activation, rounded_);
        run_linear(kernels_, part.outer, {between_, inner}, rows, writable(made_, p), none, rounded_);
    }

    void norm(Table<float> x, std::size_t rows, const Norm& how) const {
        kernels_.add_norm({x.data, x.stride}, {made_.data, made_.stride}, rows, width_ * count_, how, x);
    }

    const TransformerLayer& layer_;
    const LayerKernels& kernels_;
    std::size_t count_, inside_ = 0, width_ = 0;
    Heads heads_;
    Rounded rounded_;
    float *between_ = nullptr, *room_ = nullptr;
    Table<float> seen_, made_;
};

}  // namespace

void run(const TransformerLayer& layer, const LayerKernels& kernels, Table<float> x, const std::int64_t* lengths,
         std::size_t sentences) {
    const auto rows_of = [&](std::size_t s) { return static_cast<std::size_t>(lengths[s]); };
    std::size_t longest = 0;
    for (std::size_t s = 0; s < sentences; ++s) longest = std::max(longest, rows_of(s));
    const Run group(layer, kernels, GROUP + longest, longest);
    for (std::size_t first = 0; first < sentences;) {
        std::size_t rows = 0, last = first;
        while (last < sentences && rows < GROUP) rows += rows_of(last++);
        group(x, rows, lengths + first, last - first);
        x.data += rows * x.stride;
        first = last;
    }
}

}  // namespace h3n
