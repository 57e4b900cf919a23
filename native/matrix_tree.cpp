#include "matrix_tree.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace h3n {

// The matrix has, in column m, minus the weight of each arc into m off the diagonal, their sum on it, and the weights of
// root words in place of its first row. Its determinant is the sum. The derivative of that by a weight is found in the
// inverse: a column's sum and its entries change together.
double matrix_tree(const Sentence& sentence, const Tree& best, float* arcs) {
    const std::size_t n = sentence.words;
    std::vector<double> weight((n + 1) * n), matrix(n * 2 * n, 0.0);
    double total = 0.0;
    for (std::size_t m = 0; m < n; ++m) {
        const std::int32_t governor = best.governors[m];
        const double less = governor == ROOT ? sentence.root[m] : sentence.arc[governor][m];
        total += less;
        for (std::size_t h = 0; h < n; ++h) weight[h * n + m] = h == m ? 0.0 : std::exp(sentence.arc[h][m] - less);
        weight[n * n + m] = std::exp(sentence.root[m] - less);
    }
    const std::size_t width = 2 * n;  // the matrix, and beside it the one that becomes its inverse
    for (std::size_t m = 0; m < n; ++m) {
        for (std::size_t h = 0; h < n; ++h) {
            matrix[m * width + m] += weight[h * n + m];
            if (h != m) matrix[h * width + m] = -weight[h * n + m];
        }
        matrix[m * width + n + m] = 1.0;
    }
    for (std::size_t m = 0; m < n; ++m) matrix[m] = weight[n * n + m];
    for (std::size_t step = 0; step < n; ++step) {
        std::size_t pivot = step;
        for (std::size_t row = step + 1; row < n; ++row)
            if (std::abs(matrix[row * width + step]) > std::abs(matrix[pivot * width + step])) pivot = row;
        double* mine = matrix.data() + step * width;
        if (pivot != step) std::swap_ranges(mine, mine + width, matrix.data() + pivot * width);
        const double divisor = mine[step];
        if (!(std::abs(divisor) > 0.0)) return -std::numeric_limits<double>::infinity();
        total += std::log(std::abs(divisor));
        for (std::size_t column = step; column < width; ++column) mine[column] /= divisor;
        for (std::size_t row = 0; row < n; ++row) {
            double* other = matrix.data() + row * width;
            const double factor = other[step];
            if (row == step || factor == 0.0) continue;
            for (std::size_t column = step; column < width; ++column) other[column] -= factor * mine[column];
        }
    }
    const auto inverse = [&](std::size_t row, std::size_t column) { return matrix[row * width + n + column]; };
    const auto share = [](double value) { return static_cast<float>(std::min(std::max(value, 0.0), 1.0)); };
    for (std::size_t m = 0; m < n; ++m) {
        for (std::size_t h = 0; h < n; ++h) {
            const double change = (m == 0 ? 0.0 : inverse(m, m)) - (h == 0 ? 0.0 : inverse(m, h));
            arcs[h * n + m] = h == m ? 0.0F : share(weight[h * n + m] * change);
        }
        arcs[n * n + m] = share(weight[n * n + m] * inverse(m, 0));
    }
    return total;
}

}  // namespace h3n
