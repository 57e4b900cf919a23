#include "layers.hpp"

#include <algorithm>
#include <cstring>

#include "packing.hpp"

#if defined(H3N_HAS_NEON_DOT) && defined(__APPLE__)
#include <sys/sysctl.h>
#elif defined(H3N_HAS_NEON_DOT)
#include <asm/hwcap.h>
#include <sys/auxv.h>
#endif

namespace h3n {

namespace baseline { extern const LayerKernels layer_kernels; }
#if defined(H3N_HAS_AVX2)
namespace avx2 { extern const LayerKernels layer_kernels; }
namespace avx2_vnni { extern const LayerKernels layer_kernels; }
namespace avx512_vnni { extern const LayerKernels layer_kernels; }
#elif defined(H3N_HAS_NEON_DOT)
namespace neon_dot { extern const LayerKernels layer_kernels; }
namespace neon_i8mm { extern const LayerKernels layer_kernels; }
#endif

namespace {

#if defined(H3N_HAS_NEON_DOT) && defined(__APPLE__)
bool has(const char* name) {
    int answer = 0;
    std::size_t size = sizeof answer;
    return sysctlbyname(name, &answer, &size, nullptr, 0) == 0 && answer != 0;
}
bool has_dot() { return has("hw.optional.arm.FEAT_DotProd"); }
bool has_i8mm() { return has("hw.optional.arm.FEAT_I8MM"); }
#elif defined(H3N_HAS_NEON_DOT)
bool has_dot() { return (getauxval(AT_HWCAP) & HWCAP_ASIMDDP) != 0; }
bool has_i8mm() { return (getauxval(AT_HWCAP2) & HWCAP2_I8MM) != 0; }
#endif

}  // namespace

const std::vector<const LayerKernels*>& supported_layer_kernels() {
    static const std::vector<const LayerKernels*> found = [] {
        std::vector<const LayerKernels*> list;
#if defined(H3N_HAS_AVX2)
        const auto has = [](bool answer) { return answer; };
        if (has(__builtin_cpu_supports("avx512f")) && has(__builtin_cpu_supports("avx512bw")) &&
            has(__builtin_cpu_supports("avx512dq")) && has(__builtin_cpu_supports("avx512vl")) &&
            has(__builtin_cpu_supports("avx512vnni")))
            list.push_back(&avx512_vnni::layer_kernels);
        if (has(__builtin_cpu_supports("avx2"))) {
            if (has(__builtin_cpu_supports("avxvnni"))) list.push_back(&avx2_vnni::layer_kernels);
            list.push_back(&avx2::layer_kernels);
        }
#elif defined(H3N_HAS_NEON_DOT)
        if (has_dot() && has_i8mm()) list.push_back(&neon_i8mm::layer_kernels);
        if (has_dot()) list.push_back(&neon_dot::layer_kernels);
#endif
        list.push_back(&baseline::layer_kernels);
        return list;
    }();
    return found;
}

std::size_t attention_room(std::size_t rows, const Heads& heads) {
    return (heads.parts * heads.size + rows) * SLACK + SLACK;
}

namespace {

// A row of weights turned as inputs will be; twice that is TURN times the row.
void turn(float* row, std::size_t inputs) {
    for (std::size_t run = inputs / TURN; run < inputs; run *= 2)
        for (float* one = row; one < row + inputs; one += 2 * run) {
            float* other = one + run;
            for (std::size_t k = 0; k < run; ++k) {
                const float sum = one[k] + other[k], difference = one[k] - other[k];
                one[k] = sum;
                other[k] = difference;
            }
        }
    for (std::size_t k = 0; k < inputs; ++k) row[k] /= static_cast<float>(TURN);
}

// The largest size of a weight, or of the sum of a pair of them; `depth` is even. Sizes are compared by their bits, which
// are in the same order: compilers do that for several at a time.
float largest_pair(const float* row, std::size_t depth) {
    const auto size = [](float value) {
        std::int32_t bits;
        std::memcpy(&bits, &value, sizeof bits);
        return bits & 0x7fffffff;
    };
    std::int32_t most = 0;
    for (std::size_t k = 0; k < depth; ++k) most = std::max(most, size(row[k]));
    for (std::size_t k = 0; k < depth; k += PAIR) most = std::max(most, size(row[k] + row[k + 1]));
    float made;
    std::memcpy(&made, &most, sizeof made);
    return made;
}

// To the nearest whole number, the even one of two, for what is small.
std::int32_t nearest(float value) {
    constexpr float MAGIC = 12582912.0F;  // adding it leaves no room for a fraction
    return static_cast<std::int32_t>((value + MAGIC) - MAGIC);
}

// The weights of a quad for a panel: what those of one sign add up to at each place of 16 bits, and what may be added.
struct Extent {
    static constexpr std::size_t PLACES = 2 * PANEL * QUAD / PAIR;
    std::uint8_t taken[PLACES], left[PLACES];
    std::uint32_t quad;
    std::uint8_t most = 0;

    Extent(const std::int8_t* weights, std::uint32_t number) : quad(number) {
        for (std::size_t k = 0; k < PLACES / 2; ++k) {
            const std::int8_t one = weights[PAIR * k], other = weights[PAIR * k + 1];
            taken[k] = static_cast<std::uint8_t>((one > 0 ? one : 0) + (other > 0 ? other : 0));
            taken[PLACES / 2 + k] = static_cast<std::uint8_t>((one < 0 ? -one : 0) + (other < 0 ? -other : 0));
        }
        for (std::size_t k = 0; k < PLACES; ++k) left[k] = static_cast<std::uint8_t>(128 - taken[k]);
        for (const std::uint8_t one : taken) most = std::max(most, one);
    }
    bool fits(const Extent& other) const {
        std::uint8_t beyond = 0;  // without a branch, so that all places are looked at together
        for (std::size_t k = 0; k < PLACES; ++k) beyond |= taken[k] > other.left[k] ? 0xff : 0;
        return beyond == 0;
    }
};

// An order of the quads in which those that fit each other come first, side by side; returns how many these are. The most
// demanding choose first. For two that are left a pair is looked for whose members fit them the one and the other.
std::size_t match(const std::vector<Extent>& quads, std::uint32_t* order) {
    std::vector<const Extent*> open, pairs, left, single;
    std::vector<std::uint64_t> keys;  // the most demanding first, then by number
    for (const Extent& one : quads) keys.push_back(std::uint64_t{128U - one.most} << 32 | one.quad);
    std::sort(keys.begin(), keys.end());
    for (const std::uint64_t key : keys) open.push_back(&quads[key & 0xffffffff]);
    for (std::size_t k = 0; k < open.size(); ++k) {
        if (open[k] == nullptr) continue;
        std::size_t other = k + 1;
        while (other < open.size() && (open[other] == nullptr || !open[k]->fits(*open[other]))) ++other;
        if (other == open.size()) {
            left.push_back(open[k]);
        } else {
            pairs.insert(pairs.end(), {open[k], open[other]});
            open[other] = nullptr;
        }
    }
    const auto place = [&](const Extent* one) {  // `one` in a pair, whose other member goes to one of those left
        for (std::size_t p = 0; p < pairs.size(); ++p) {
            if (!one->fits(*pairs[p])) continue;
            const Extent* alone = pairs[p ^ 1];
            const auto found = std::find_if(left.begin(), left.end(), [&](const Extent* e) { return e->fits(*alone); });
            if (found == left.end()) continue;
            pairs[p ^ 1] = one;
            pairs.insert(pairs.end(), {alone, *found});
            left.erase(found);
            return true;
        }
        return false;
    };
    while (!left.empty()) {
        const Extent* one = left.back();
        left.pop_back();
        if (left.empty() || !place(one)) single.push_back(one);
    }
    for (const Extent* one : pairs) *order++ = one->quad;
    for (const Extent* one : single) *order++ = one->quad;
    return pairs.size();
}

}  // namespace

void Packed::order_quads() {
    const std::size_t count = layer.depth / QUAD, panels = layer.width / PANEL;
    order_.resize(panels * count);
    fitting_.resize(panels);
    std::vector<Extent> quads;
    for (std::size_t panel = 0; panel < panels; ++panel) {
        const std::int8_t* weights = layer.weights + panel * PANEL * layer.depth;
        quads.clear();
        for (std::uint32_t quad = 0; quad < count; ++quad) quads.emplace_back(weights + quad * QUAD * PANEL, quad);
        fitting_[panel] = static_cast<std::uint32_t>(match(quads, order_.data() + panel * count));
    }
    layer.order = order_.data();
    layer.fitting = fitting_.data();
}

void Packed::round_weights(const float* weight) {
    std::vector<float> row(layer.depth, 0.0F);
    std::vector<std::int8_t> rounded(layer.depth);
    for (std::size_t n = 0; n < layer.outputs; ++n) {
        std::copy_n(weight + n * layer.inputs, layer.inputs, row.begin());
        if (layer.turned) turn(row.data(), layer.inputs);
        const float most = largest_pair(row.data(), layer.depth);
        const float scale = most > 0.0F ? most / 127.0F : 1.0F;
        std::int32_t sum = 0;
        for (std::size_t k = 0; k < layer.depth; ++k) {
            const std::int32_t whole = nearest(row[k] / scale);
            rounded[k] = static_cast<std::int8_t>(whole);
            sum += whole;
        }
        std::int8_t* to = lines_.front().weights + n / PANEL * PANEL * layer.depth + n % PANEL * QUAD;
        for (std::size_t k = 0; k < layer.depth; k += QUAD) std::memcpy(to + k * PANEL, rounded.data() + k, QUAD);
        sums_[n] = sum;
        scales_[n] = scale;
        totals_[n] = scale * static_cast<float>(sum);
    }
}

Packed::Packed(const float* weight, std::size_t outputs, std::size_t inputs, const float* bias, bool in_order) {
    const auto whole = [](std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; };
    layer.inputs = inputs;
    layer.outputs = outputs;
    layer.depth = whole(inputs, QUAD);
    layer.width = whole(outputs, WIDEST);
    layer.turned = inputs % TURN == 0;
    lines_.resize(layer.depth * layer.width / sizeof(Line));
    sums_.assign(layer.width, 0);
    scales_.assign(layer.width, 0.0F);
    totals_.assign(layer.width, 0.0F);
    bias_.assign(layer.width, 0.0F);
    if (bias != nullptr) std::copy_n(bias, outputs, bias_.begin());
    round_weights(weight);
    layer.weights = lines_.front().weights;
    layer.sums = sums_.data();
    layer.scales = scales_.data();
    layer.totals = totals_.data();
    layer.bias = bias_.data();
    if (in_order) order_quads();
}

}  // namespace h3n
