// SPDX-License-Identifier: Apache-2.0
// The same bytes as elements of another size.
#include "views/layout/repacking.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <string>

#include "views/layout/axes.hpp"
#include "views/layout/checked.hpp"

namespace halfwarp::views {
namespace {

[[noreturn]] void refuse(const std::string& text) { throw std::invalid_argument(text); }

void check_divisible(const std::string& what, std::int64_t number, std::int64_t divisor) {
  if (number % divisor == 0) return;
  refuse(what + " (" + std::to_string(number) + ") must be divisible by " +
         std::to_string(divisor) + ".");
}

void check_axis(const layout& source, int axis) {
  const std::string name = "The axis " + std::to_string(axis);
  if (source.extents()[axis] == 0) refuse(name + " extent must be non-zero, got 0.");
  if (source.strides()[axis] == 1) return;
  refuse(name + " stride must be 1, got " + std::to_string(source.strides()[axis]) + ".");
}

// `factor` elements become one.
void pack(layout& made, std::int64_t factor, std::int64_t itemsize, std::int64_t address,
          int axis) {
  if (address % itemsize != 0) {
    refuse("The data pointer (" + std::to_string(address) +
           ") must be aligned to the packed itemsize (" + std::to_string(itemsize) + ").");
  }
  check_divisible("The axis " + std::to_string(axis) + " extent", made.extents()[axis], factor);
  check_divisible("The slice offset", made.offset(), factor);
  for (int other = 0; other < made.ndim(); ++other) {
    if (other == axis) continue;
    check_divisible("The " + std::to_string(other) + " axis stride", made.strides()[other], factor);
    made.strides()[other] /= factor;
  }
  made.extents()[axis] /= factor;
  made.set_offset(made.offset() / factor);
}

// One element becomes `factor`.
void unpack(layout& made, std::int64_t factor, int axis) {
  for (int other = 0; other < made.ndim(); ++other) {
    if (other != axis) made.strides()[other] = multiply(made.strides()[other], factor);
  }
  made.extents()[axis] = multiply(made.extents()[axis], factor);
  made.set_offset(multiply(made.offset(), factor));
}

layout without(const layout& given, int axis) {
  layout result{given.ndim() - 1, given.itemsize(), true};
  result.set_offset(given.offset());
  for (int from = 0, to = 0; from < given.ndim(); ++from) {
    if (from == axis) continue;
    result.extents()[to] = given.extents()[from];
    result.strides()[to] = given.strides()[from];
    ++to;
  }
  return result;
}

}  // namespace

layout repacked(const layout& given, std::int64_t itemsize, std::int64_t address,
                std::int64_t axis_number, bool keep_dim) {
  const std::int64_t old = given.itemsize();
  if (itemsize <= 0 || itemsize > std::numeric_limits<int>::max()) {
    refuse("new itemsize must be greater than zero, and less than 2**31, got " +
           std::to_string(itemsize) + ".");
  }
  if (itemsize % old != 0 && old % itemsize != 0) {
    refuse("new itemsize (" + std::to_string(itemsize) +
           ") must be a multiple or a divisor of the itemsize (" + std::to_string(old) + ").");
  }
  layout made = given.with_strides();
  const int axis = axis_of(axis_number, made.ndim(), "Invalid axis");
  check_axis(made, axis);
  if (itemsize > old) {
    pack(made, itemsize / old, itemsize, address, axis);
  } else {
    unpack(made, old / itemsize, axis);
  }
  made.set_itemsize(static_cast<int>(itemsize));
  const bool is_dropped = !keep_dim && itemsize > old && made.extents()[axis] == 1;
  return is_dropped ? without(made, axis) : made;
}

std::int64_t max_compatible_itemsize(const layout& given, std::int64_t most, std::int64_t address,
                                     std::int64_t axis_number) {
  const std::int64_t old = given.itemsize();
  if (most <= 0)
    refuse("max_itemsize must be greater than zero, got " + std::to_string(most) + ".");
  if (most < old) {
    refuse("max_itemsize (" + std::to_string(most) + ") cannot be less than itemsize (" +
           std::to_string(old) + ").");
  }
  const layout source = given.with_strides();
  const int axis = axis_of(axis_number, source.ndim(), "Invalid axis");
  if (source.extents()[axis] == 0 || source.strides()[axis] != 1) return old;
  // By how much each number can be divided, in elements; 0 by anything.
  std::uint64_t factor = magnitude(source.offset());
  factor = std::gcd(factor, magnitude(source.extents()[axis]));
  for (int other = 0; other < source.ndim(); ++other) {
    if (other != axis) factor = std::gcd(factor, magnitude(source.strides()[other]));
  }
  // In bytes: gcd(most, factor * old, address) without the product, which may be too large.
  const auto whole = static_cast<std::uint64_t>(most), size = static_cast<std::uint64_t>(old);
  const std::uint64_t bytes = std::gcd(factor % whole * (size % whole), whole);
  const auto found = static_cast<std::int64_t>(std::gcd(bytes, magnitude(address)));
  return found % old == 0 ? found : old;
}

}  // namespace halfwarp::views
