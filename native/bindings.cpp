// The only file that knows Python: arrays in, numbers out.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include "cky.hpp"

namespace nb = nanobind;

using Matrix = nb::ndarray<const float, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

NB_MODULE(_native, m) {
    m.doc() = "Native decoders of h3n.";
    m.def("cky_score", [](Matrix open, float root) { return h3n::cky_score(open.data(), root, open.shape(0) - 1); },
          nb::arg("open").noconvert(), nb::arg("root"));
}
