#include "layers.hpp"

#include <algorithm>
#include <cmath>

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
void turn(std::vector<float>& row) {
    const std::size_t stretch = row.size() / TURN;
    for (std::size_t apart = 1; apart < TURN; apart *= 2)
        for (std::size_t s = 0; s < TURN; ++s)
            for (std::size_t k = 0; (s & apart) == 0 && k < stretch; ++k) {
                float &one = row[s * stretch + k], &other = row[(s + apart) * stretch + k];
                const float sum = one + other, difference = one - other;
                one = sum;
                other = difference;
            }
    for (float& value : row) value /= static_cast<float>(TURN);
}

// The largest size of a weight, or of the sum of a pair of them.
float largest_pair(const std::vector<float>& row) {
    float most = 0.0F;
    for (std::size_t k = 0; k < row.size(); k += PAIR) {
        const float one = row[k], other = k + 1 < row.size() ? row[k + 1] : 0.0F;
        most = std::max({most, std::abs(one), std::abs(other), std::abs(one + other)});
    }
    return most;
}

}  // namespace

Packed::Packed(const float* weight, std::size_t outputs, std::size_t inputs, const float* bias) {
    const auto whole = [](std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; };
    layer.inputs = inputs;
    layer.outputs = outputs;
    layer.depth = whole(inputs, QUAD);
    layer.width = whole(outputs, PANEL);
    layer.turned = inputs % TURN == 0;
    weights_.assign(layer.depth * layer.width, 0);
    sums_.assign(layer.width, 0);
    scales_.assign(layer.width, 0.0F);
    totals_.assign(layer.width, 0.0F);
    bias_.assign(layer.width, 0.0F);
    for (std::size_t n = 0; n < outputs; ++n) {
        std::vector<float> row(weight + n * inputs, weight + (n + 1) * inputs);
        if (layer.turned) turn(row);
        const float most = largest_pair(row);
        const float scale = most > 0.0F ? most / 127.0F : 1.0F;
        std::int8_t* to = weights_.data() + n / PANEL * PANEL * layer.depth + n % PANEL * QUAD;
        for (std::size_t k = 0; k < inputs; ++k) {
            const auto rounded = static_cast<std::int8_t>(std::lrint(row[k] / scale));
            to[k / QUAD * QUAD * PANEL + k % QUAD] = rounded;
            sums_[n] += rounded;
        }
        scales_[n] = scale;
        totals_[n] = scale * static_cast<float>(sums_[n]);
        if (bias != nullptr) bias_[n] = bias[n];
    }
    layer.weights = weights_.data();
    layer.sums = sums_.data();
    layer.scales = scales_.data();
    layer.totals = totals_.data();
    layer.bias = bias_.data();
}

}  // namespace h3n
