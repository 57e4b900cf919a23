// The sum over all dependency trees with one root word, crossing arcs allowed, and what each arc's share of it is: a
// determinant and an inverse (matrix-tree theorem; Koo, Globerson, Carreras and Collins 2007), O(n^3).
#pragma once

#include "sentence.hpp"

namespace h3n {

// Fills arcs, (n+1) x n with the root in the last row, and returns the logarithm of the sum. `best` is a tree from which
// weights are counted. Minus infinity if the sum has no digits left in double.
double matrix_tree(const Sentence& sentence, const Tree& best, float* arcs);

}  // namespace h3n
