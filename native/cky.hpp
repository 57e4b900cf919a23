// Best constituency tree over a chart of span scores, O(n^3) time and O(n^2) memory.
#pragma once

#include <cstddef>
#include <limits>
#include <vector>

namespace h3n {

// `open` is (n+1) x (n+1), row-major: open[i*(n+1)+j] is the best score of span (i, j), the empty label included.
// Returns the score of the best binary tree whose root takes its score from `root`.
inline float cky_score(const float* open, float root, std::size_t n) {
    if (n == 0) return 0.0F;
    const std::size_t w = n + 1;
    std::vector<float> best(w * w, -std::numeric_limits<float>::infinity());
    for (std::size_t len = 1; len <= n; ++len)
        for (std::size_t i = 0; i + len <= n; ++i) {
            const std::size_t j = i + len;
            float inner = len == 1 ? 0.0F : -std::numeric_limits<float>::infinity();
            for (std::size_t k = i + 1; k < j; ++k) {
                const float split = best[i * w + k] + best[k * w + j];
                if (split > inner) inner = split;
            }
            best[i * w + j] = inner + (len == n ? root : open[i * w + j]);
        }
    return best[n];
}

}  // namespace h3n
