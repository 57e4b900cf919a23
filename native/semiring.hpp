// What a recurrence adds up and what it multiplies. Each decoder's recurrence is written once, over a semiring S:
//   MaxPlus     the best tree; trees may be reached in several ways, which does no harm to a maximum
//   SumProduct  sums over all trees of weights that `scale` (weights.hpp) keeps close to 1: as fast as the search
//   LogSum      the same sums by their logarithms, in double: slow, for scores whose weights do not fit into a float
// The k best trees come from the chart of MaxPlus: see forest.hpp.
//
// Where IDEMPOTENT is false every tree must be reached in one way alone. A flat phrase is put together from its head
// child outwards, all dependents on the right first, then those on the left; see forest.hpp.
#pragma once

#include <math.h>

#include "sentence.hpp"
#include "simd.hpp"

namespace h3n::H3N_TARGET {

// What lies outside a part, or outside a sum on the way to it. Such a sum is 0 if it is less than the least float; times
// this, nobody would miss it.
constexpr float LARGEST_SHARE = 1e26F;
constexpr float LEAST_SHARE = 1e-12F;   // parts of less probability are not looked into

struct MaxPlus {
    using Value = float;
    using Vec = vec;
    static constexpr std::size_t WIDTH = H3N_TARGET::WIDTH, REGISTERS = H3N_TARGET::REGISTERS;
    static constexpr bool IDEMPOTENT = true;
    static constexpr float ZERO = NEVER, ONE = 0.0F;
    static Vec load(const float* from) { return H3N_TARGET::load(from); }
    static void store(float* to, Vec value) { H3N_TARGET::store(to, value); }
    static Vec all(float value) { return broadcast(value); }
    static Vec times(Vec a, Vec b) { return add(a, b); }
    static Vec plus(Vec a, Vec b) { return max(a, b); }
    static Vec plus_times(Vec sum, Vec a, Vec b) { return max(sum, add(a, b)); }
    static float reduce(Vec a) { return reduce_max(a); }
    static float multiply(float a, float b) { return a + b; }
    static float sum(float a, float b) { return a > b ? a : b; }
    static Vec between(std::ptrdiff_t first, std::ptrdiff_t last, Vec a, Vec b) { return H3N_TARGET::between(first, last, a, b); }
};

struct SumProduct {
    using Value = float;
    using Vec = vec;
    static constexpr std::size_t WIDTH = H3N_TARGET::WIDTH, REGISTERS = H3N_TARGET::REGISTERS;
    static constexpr bool IDEMPOTENT = false;
    static constexpr float ZERO = 0.0F, ONE = 1.0F;
    static Vec load(const float* from) { return H3N_TARGET::load(from); }
    static void store(float* to, Vec value) { H3N_TARGET::store(to, value); }
    static Vec all(float value) { return broadcast(value); }
    static Vec times(Vec a, Vec b) { return H3N_TARGET::multiply(a, b); }
    static Vec plus(Vec a, Vec b) { return add(a, b); }
    static Vec plus_times(Vec sum, Vec a, Vec b) { return multiply_add(a, b, sum); }
    static float reduce(Vec a) { return reduce_add(a); }
    static float multiply(float a, float b) { return a * b; }
    static float sum(float a, float b) { return a + b; }
    static Vec between(std::ptrdiff_t first, std::ptrdiff_t last, Vec a, Vec b) { return H3N_TARGET::between(first, last, a, b); }
    static float share(float value) { return value; }
    static float inverse(float value) { return 1.0F / value; }
    static double logarithm(float value) { return ::log(static_cast<double>(value)); }
    static bool usable(float total) { return total > 1e-30F && total < 1e30F; }
    static bool in_range(float outside) { return outside < LARGEST_SHARE; }  // NaN is not
    static float largest(Vec a) { return reduce_max(a); }
    static Vec larger(Vec a, Vec b) { return max(a, b); }
    static float larger_of(float a, float b) { return a > b ? a : b; }
};

struct LogSum {
    using Value = double;
    using Vec = double;
    static constexpr std::size_t WIDTH = 1, REGISTERS = 16;
    static constexpr bool IDEMPOTENT = false;
    static constexpr double ZERO = NEVER, ONE = 0.0;
    static Vec load(const double* from) { return *from; }
    static void store(double* to, Vec value) { *to = value; }
    static Vec all(double value) { return value; }
    static Vec times(Vec a, Vec b) { return a + b; }
    static Vec plus(Vec a, Vec b) {
        const double high = a > b ? a : b, low = a > b ? b : a;
        return low == ZERO ? high : high + ::log1p(::exp(low - high));
    }
    static Vec plus_times(Vec sum, Vec a, Vec b) { return a == ZERO || b == ZERO ? sum : plus(sum, a + b); }
    static double reduce(Vec a) { return a; }
    static double multiply(double a, double b) { return a + b; }
    static double sum(double a, double b) { return plus(a, b); }
    static Vec between(std::ptrdiff_t first, std::ptrdiff_t last, Vec a, Vec b) { return first <= 0 && last > 0 ? a : b; }
    static float share(double value) { return static_cast<float>(::exp(value)); }
    static double inverse(double value) { return -value; }
    static double logarithm(double value) { return value; }
    static bool usable(double total) { return total > ZERO; }
    static bool in_range(double) { return true; }
    static double largest(Vec a) { return a; }
    static Vec larger(Vec a, Vec b) { return a > b ? a : b; }
    static double larger_of(double a, double b) { return a > b ? a : b; }
};

}  // namespace h3n::H3N_TARGET
