// SPDX-License-Identifier: Apache-2.0
// Lists of axes: their bounds, and orders of all axes.
#include "views/layout/axes.hpp"

#include <algorithm>
#include <stdexcept>

namespace halfwarp::views {

std::string tensor_of(int ndim) { return std::to_string(ndim) + "D tensor"; }

int axis_of(std::int64_t given, int ndim, const char* what) {
  if (given < -ndim || given >= ndim) {
    throw std::invalid_argument(std::string{what} + ": axis " + std::to_string(given) +
                                " out of range for " + tensor_of(ndim));
  }
  return static_cast<int>(given < 0 ? given + ndim : given);
}

axis_list distinct_axes(std::span<const std::int64_t> given, int ndim, const char* what) {
  axis_list result;
  for (const std::int64_t number : given) {
    const int axis = axis_of(number, ndim, what);
    if (std::find(result.begin(), result.end(), axis) != result.end()) {
      throw std::invalid_argument(std::string{what} + ": axis " + std::to_string(axis) +
                                  " appears multiple times.");
    }
    result.append(axis);
  }
  return result;
}

}  // namespace halfwarp::views
