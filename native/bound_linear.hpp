// What the bindings of layers share: types of arrays, checks of their shapes, and the linear layer.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <optional>
#include <stdexcept>
#include <vector>

#include "packing.hpp"
#include "transformer.hpp"

namespace h3n::bound {

namespace nb = nanobind;

using Input = nb::ndarray<const float, nb::ndim<2>, nb::device::cpu>;
using Output = nb::ndarray<float, nb::ndim<2>, nb::device::cpu>;
using Row = nb::ndarray<const float, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Lengths = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;
using Column = nb::ndarray<const std::int64_t, nb::ndim<1>, nb::device::cpu, nb::c_contig>;

inline void require(bool holds, const char* what) {
    if (!holds) throw std::invalid_argument(what);
}

template <class Value, class Array>
h3n::Table<Value> table_of(const Array& array, std::size_t rows, std::size_t columns) {
    require(array.shape(0) == rows && array.shape(1) == columns, "a matrix has another shape than the others ask for");
    require(rows == 0 || columns <= 1 || array.stride(1) == 1, "rows are not contiguous");
    return {array.data(), static_cast<std::size_t>(array.stride(0))};
}

inline const h3n::LayerKernels& kernels_of(std::size_t target) {
    require(target < h3n::supported_layer_kernels().size(), "this machine has no such target");
    return *h3n::supported_layer_kernels()[target];
}

inline h3n::Activation activation_of(int number) {
    require(number >= 0 && number <= static_cast<int>(h3n::Activation::gelu), "no such activation");
    return static_cast<h3n::Activation>(number);
}

class Linear {
  public:
    Linear(const Input& weight, const std::optional<Row>& bias)
        : packed_(checked(weight, bias), weight.shape(0), weight.shape(1), bias ? bias->data() : nullptr) {}

    void run(const Input& x, const Output& out, int activation, std::size_t target) const {
        const h3n::Int8& layer = packed_.layer;
        const std::size_t rows = x.shape(0);
        const auto from = table_of<const float>(x, rows, layer.inputs);
        const auto to = table_of<float>(out, rows, layer.outputs);
        const h3n::LayerKernels& kernels = kernels_of(target);
        const h3n::Activation how = activation_of(activation);
        const nb::gil_scoped_release release;
        float* numbers = h3n::room_for<float>(h3n::rounding_numbers(layer.depth));
        h3n::run_linear(kernels, layer, from, rows, to, how, h3n::rounded_room(layer.depth, numbers));
    }

    const h3n::Int8& layer() const { return packed_.layer; }

  private:
    static const float* checked(const Input& weight, const std::optional<Row>& bias) {
        require(weight.shape(0) > 0 && weight.shape(1) > 0, "the weights are empty");
        require(!bias || bias->shape(0) == weight.shape(0), "the bias has another length than the outputs");
        require(static_cast<std::size_t>(weight.stride(0)) == weight.shape(1), "the weights are not contiguous");
        return table_of<const float>(weight, weight.shape(0), weight.shape(1)).data;
    }

    h3n::Packed packed_;
};

inline std::vector<float> copy_of(const Row& row, std::size_t width) {
    require(row.shape(0) == width, "a part of the scorer has another width than the rest");
    return {row.data(), row.data() + width};
}

}  // namespace h3n::bound
