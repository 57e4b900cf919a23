// All kernels for one target. Built several times, with H3N_TARGET set to the name and the compiler set to its
// instructions. Includes no header with inline code that another file might share: the linker keeps one copy of such
// code, and it might keep ours.
#include "cky.hpp"
#include "eisner.hpp"
#include "h3n.hpp"
#include "hpsg.hpp"
#include "hpsg_n5.hpp"
#include "mst.hpp"

#define H3N_TEXT_(name) #name
#define H3N_TEXT(name) H3N_TEXT_(name)

namespace h3n::H3N_TARGET {

extern const Kernels kernels;
const Kernels kernels = {H3N_TEXT(H3N_TARGET), cky, mst, eisner, hpsg, h3n, hpsg_n5};

}  // namespace h3n::H3N_TARGET
