// SPDX-License-Identifier: Apache-2.0
// Lists of axes: their bounds, and orders of all axes.
#include "views/layout/axes.hpp"

#include <algorithm>
#include <stdexcept>

namespace halfwarp::views {

std::string tensor_of(int ndim) { return std::to_string(ndim) + "D tensor"; }

int axis_of(std::int64_t number, int ndim, const char* subject) {
  if (number < -ndim || number >= ndim) {
    throw std::invalid_argument(std::string{subject} + ": axis " + std::to_string(number) +
                                " out of range for " + tensor_of(ndim));
  }
  return static_cast<int>(number < 0 ? number + ndim : number);
}

axis_list distinct_axes(std::span<const std::int64_t> numbers, int ndim, const char* subject) {
  axis_list result;
  for (const std::int64_t number : numbers) {
    const int axis = axis_of(number, ndim, subject);
    if (std::find(result.begin(), result.end(), axis) != result.end()) {
      throw std::invalid_argument(std::string{subject} + ": axis " + std::to_string(axis) +
                                  " appears multiple times.");
    }
    result.append(axis);
  }
  return result;
}

}  // namespace halfwarp::views
