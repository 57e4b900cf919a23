// NOT A DECODER TO USE: the exact joint decoder as it was published, O(n^5) time, kept as the yardstick of the speed
// table and as a second oracle for `hpsg`. Plain loops over both heads of every split.
#pragma once

#include "chart.hpp"

namespace h3n::H3N_TARGET {

inline bool hpsg_n5(const Sentence& sentence, Workspace& workspace, Tree& tree) {
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

    std::int32_t root = 0;
    float top = NEVER;
    for (std::size_t h = 0; h < n; ++h) {
        const float score = (n == 1 ? sentence.full[0][1] : complete(0, n)[h]) + sentence.root[h];
        if (score > top) top = score, root = static_cast<std::int32_t>(h);
    }
    if (top == NEVER) return false;

    Pending* stack = workspace.take<Pending>(n + 1);
    std::size_t depth = 0;
    tree.governors[root] = ROOT;
    stack[depth++] = {0, static_cast<std::int32_t>(n), root, true};
    while (depth > 0) {
        const Pending span = stack[--depth];
        const std::size_t i = span.start, j = span.end, head = span.head;
        tree.add(i, j, is_labelled(sentence, i, j, span.dependent && (j > i + 1 || n == 1)), span.head);
        if (j == i + 1) continue;
        float best = NEVER;
        std::size_t split = i + 1, dependent = 0;
        for (std::size_t k = i + 1; k < j; ++k) {
            const bool left = head < k;  // the head side
            for (std::size_t m = left ? k : i; m < (left ? j : k); ++m) {
                const float score = left ? open(i, k)[head] + complete(k, j)[m] + arc[head][m]
                                         : complete(i, k)[m] + open(k, j)[head] + arc[head][m];
                if (score > best) best = score, split = k, dependent = m;
            }
        }
        const auto k = static_cast<std::int32_t>(split), m = static_cast<std::int32_t>(dependent);
        const bool left = head < split;
        tree.governors[m] = span.head;
        stack[depth++] = {k, span.end, left ? m : span.head, left};
        stack[depth++] = {span.start, k, left ? span.head : m, !left};
    }
    return true;
}

}  // namespace h3n::H3N_TARGET
