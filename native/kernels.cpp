// The table of decoders, for one target. Built several times, with H3N_TARGET set to the name and the compiler set to its
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

namespace {

constexpr double cubic(double n) { return n * n * n + 40 * n * n; }
constexpr std::size_t rows(std::size_t count, std::size_t length) { return count * padded(length) * sizeof(float); }

constexpr Decoder DECODERS[] = {
    {"cky", SPANS, cubic, [](std::size_t n) { return rows(n + 1, n + 1); }, cky, weigh<Cky>},
    {"mst", ARCS, [](double n) { return 40 * n * n; },
     [](std::size_t n) { return n * (n + 1) * (sizeof(double) + sizeof(std::int32_t)); }, mst, nullptr},
    {"eisner", ARCS, cubic, [](std::size_t n) { return rows(4 * n, n + 1); }, eisner, weigh<Eisner>},
    {"hpsg", SPANS | ARCS, [](double n) { return n * n * n * n / 2 + 100 * n * n; },
     [](std::size_t n) { return rows((n + 1) * (n + 1) + 2 * n, n + 1); }, hpsg, weigh<Hpsg>},
    {"h3n", SPANS | ARCS | HEADS, cubic, [](std::size_t n) { return rows(4 * (n + 1), n + 1); }, h3n, weigh<Given>},
    {"hpsg_n5", SPANS | ARCS, [](double n) { return n * n * n * n * n; },
     [](std::size_t n) { return 2 * (n + 1) * (n + 1) * n * sizeof(float); }, hpsg_n5, nullptr},
};

}  // namespace

extern const Target target;
const Target target = {H3N_TEXT(H3N_TARGET), DECODERS, sizeof(DECODERS) / sizeof(DECODERS[0])};

}  // namespace h3n::H3N_TARGET
