#include "layers.hpp"

#include <algorithm>
#include <cmath>

#include "packing.hpp"

namespace h3n {

namespace baseline { extern const LayerKernels layer_kernels; }
#if defined(H3N_HAS_AVX2)
namespace avx2 { extern const LayerKernels layer_kernels; }
namespace avx2_vnni { extern const LayerKernels layer_kernels; }
namespace avx512_vnni { extern const LayerKernels layer_kernels; }
#endif

const std::vector<const LayerKernels*>& supported_layer_kernels() {
    static const std::vector<const LayerKernels*> found = [] {
        std::vector<const LayerKernels*> list;
#if defined(H3N_HAS_AVX2)
        const auto has = [](bool answer) { return answer; };
        if (has(__builtin_cpu_supports("avx512f")) && has(__builtin_cpu_supports("avx512bw")) &&
            has(__builtin_cpu_supports("avx512dq")) && has(__builtin_cpu_supports("avx512vl")) &&
            has(__builtin_cpu_supports("avx512vnni")))
            list.push_back(&avx512_vnni::layer_kernels);
        if (has(__builtin_cpu_supports("avx2")) && has(__builtin_cpu_supports("fma"))) {
            if (has(__builtin_cpu_supports("avxvnni"))) list.push_back(&avx2_vnni::layer_kernels);
            list.push_back(&avx2::layer_kernels);
        }
#endif
        list.push_back(&baseline::layer_kernels);
        return list;
    }();
    return found;
}

std::size_t attention_room(std::size_t rows, const Heads& heads) {
    return (heads.parts * heads.size + rows) * SLACK + SLACK;
}

Packed::Packed(const float* weight, std::size_t outputs, std::size_t inputs, const float* bias) {
    const auto whole = [](std::size_t count, std::size_t unit) { return (count + unit - 1) / unit * unit; };
    layer.inputs = inputs;
    layer.outputs = outputs;
    layer.depth = whole(inputs, QUAD);
    layer.width = whole(outputs, PANEL);
    weights_.assign(layer.depth * layer.width, 0);
    scales_.assign(layer.width, 0.0F);
    totals_.assign(layer.width, 0.0F);
    bias_.assign(layer.width, 0.0F);
    for (std::size_t n = 0; n < outputs; ++n) {
        const float* row = weight + n * inputs;
        float most = 0.0F;
        for (std::size_t k = 0; k < inputs; ++k) most = std::max(most, std::abs(row[k]));
        const float scale = most > 0.0F ? most / 127.0F : 1.0F;
        std::int32_t total = 0;
        std::int8_t* to = weights_.data() + n / PANEL * PANEL * layer.depth + n % PANEL * QUAD;
        for (std::size_t k = 0; k < inputs; ++k) {
            const auto rounded = static_cast<std::int8_t>(std::lrint(row[k] / scale));
            to[k / QUAD * QUAD * PANEL + k % QUAD] = rounded;
            total += rounded;
        }
        scales_[n] = scale;
        totals_[n] = scale * static_cast<float>(total);
        if (bias != nullptr) bias_[n] = bias[n];
    }
    layer.weights = weights_.data();
    layer.scales = scales_.data();
    layer.totals = totals_.data();
    layer.bias = bias_.data();
}

}  // namespace h3n
