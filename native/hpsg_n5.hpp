// NOT A DECODER TO USE: the exact joint decoder as it was published (paper, equation 3), O(n^5) time, kept as the yardstick of the speed
// table and as a second oracle for `hpsg`. Plain loops over both heads of every split.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

inline bool hpsg_n5(const Sentence& sentence, Workspace& workspace, Tree& tree, Charts*) {
    const std::size_t n = sentence.words, fenceposts = n + 1;
    const Matrix arc = sentence.arc;
    // open[i][j][h] and complete[i][j][h]: the best subtree of (i, j) headed by h, without and with a label.
    float* open_chart = workspace.take<float>(fenceposts * fenceposts * n);
    float* complete_chart = workspace.take<float>(fenceposts * fenceposts * n);
    float* inner = workspace.take<float>(n);
    const auto open = [=](std::size_t i, std::size_t j) { return open_chart + (i * fenceposts + j) * n; };
    const auto complete = [=](std::size_t i, std::size_t j) { return complete_chart + (i * fenceposts + j) * n; };

    for (std::size_t length = 1; length <= n; ++length)
        for (std::size_t i = 0; i + length <= n; ++i) {
            const std::size_t j = i + length;
            // The second term is for fresh pages of memory, on which the first spans spend most of their time.
            workspace.spend(20.0 * static_cast<double>(length * length * length) + 1e4 * static_cast<double>(n));
            if (length == 1) {
                open(i, j)[i] = complete(i, j)[i] = sentence.open[i][j];
                continue;
            }
            for (std::size_t h = i; h < j; ++h) inner[h] = NEVER;
            for (std::size_t k = i + 1; k < j; ++k) {
                for (std::size_t h = i; h < k; ++h)
                    for (std::size_t m = k; m < j; ++m) {
                        const float score = open(i, k)[h] + complete(k, j)[m] + arc[h][m];
                        if (score > inner[h]) inner[h] = score;
                    }
                for (std::size_t h = k; h < j; ++h)
                    for (std::size_t m = i; m < k; ++m) {
                        const float score = complete(i, k)[m] + open(k, j)[h] + arc[h][m];
                        if (score > inner[h]) inner[h] = score;
                    }
            }
            for (std::size_t h = i; h < j; ++h) {
                open(i, j)[h] = inner[h] + sentence.open[i][j];
                complete(i, j)[h] = inner[h] + sentence.full[i][j];
            }
        }

    const Best root = first_best(0, n, [=](std::size_t h) {
        return (n == 1 ? sentence.full[0][1] : complete(0, n)[h]) + sentence.root[h];
    });
    if (root.score == NEVER) return false;
    unfold(sentence, workspace, tree, static_cast<std::int32_t>(root.at), [=](std::size_t i, std::size_t j, std::size_t head) {
        const auto dependent = [=](std::size_t k) {
            return head < k ? first_best(k, j, [=](std::size_t m) { return open(i, k)[head] + complete(k, j)[m] + arc[head][m]; })
                            : first_best(i, k, [=](std::size_t m) { return complete(i, k)[m] + open(k, j)[head] + arc[head][m]; });
        };
        const std::size_t k = first_best(i + 1, j, [=](std::size_t at) { return dependent(at).score; }).at;
        return Split{k, static_cast<std::int32_t>(dependent(k).at)};
    });
    return true;
}

}  // namespace h3n::H3N_TARGET
