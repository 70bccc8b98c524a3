// SPDX-License-Identifier: Apache-2.0
// Reads NumPy arrays without NumPy's headers.
#include "views/arrays/ndarray.hpp"

namespace halfwarp::views {

bool layout_of(const ndarray& array, int itemsize, layout& result) {
  if (array.ndim > layout::max_ndim) return false;
  result = layout{array.ndim, itemsize, array.ndim > 0};
  const bool is_power = (itemsize & (itemsize - 1)) == 0;
  const int shift = __builtin_ctz(static_cast<unsigned>(itemsize));
  for (int axis = 0; axis < array.ndim; ++axis) {
    const Py_ssize_t stride = array.strides[axis];
    const Py_ssize_t elements = is_power ? stride >> shift : stride / itemsize;
    if (elements * itemsize != stride) return false;
    result.extents()[axis] = array.extents[axis];
    result.strides()[axis] = elements;
  }
  return true;
}

}  // namespace halfwarp::views
