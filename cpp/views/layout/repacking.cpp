// SPDX-License-Identifier: Apache-2.0
// Views the same bytes as elements of another size.
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

[[noreturn]] void reject(const std::string& text) { throw std::invalid_argument(text); }

void check_divisible(const std::string& subject, std::int64_t number, std::int64_t divisor) {
  if (number % divisor == 0) return;
  reject(subject + " (" + std::to_string(number) + ") must be divisible by " +
         std::to_string(divisor) + ".");
}

void check_axis(const layout& source, int axis) {
  const std::string name = "The axis " + std::to_string(axis);
  if (source.extents()[axis] == 0) reject(name + " extent must be non-zero, got 0.");
  if (source.strides()[axis] == 1) return;
  reject(name + " stride must be 1, got " + std::to_string(source.strides()[axis]) + ".");
}

// Packs `factor` elements into one.
void pack(layout& result, std::int64_t factor, std::int64_t itemsize, std::int64_t address,
          int axis) {
  if (address % itemsize != 0) {
    reject("The data pointer (" + std::to_string(address) +
           ") must be aligned to the packed itemsize (" + std::to_string(itemsize) + ").");
  }
  check_divisible("The axis " + std::to_string(axis) + " extent", result.extents()[axis], factor);
  check_divisible("The slice offset", result.offset(), factor);
  for (int other = 0; other < result.ndim(); ++other) {
    if (other == axis) continue;
    check_divisible("The " + std::to_string(other) + " axis stride", result.strides()[other],
                    factor);
    result.strides()[other] /= factor;
  }
  result.extents()[axis] /= factor;
  result.set_offset(result.offset() / factor);
}

// Splits one element into `factor`.
void unpack(layout& result, std::int64_t factor, int axis) {
  for (int other = 0; other < result.ndim(); ++other) {
    if (other != axis) result.strides()[other] = multiply(result.strides()[other], factor);
  }
  result.extents()[axis] = multiply(result.extents()[axis], factor);
  result.set_offset(multiply(result.offset(), factor));
}

layout remove_axis(const layout& input, int axis) {
  layout result{input.ndim() - 1, input.itemsize(), true};
  result.set_offset(input.offset());
  for (int from = 0, to = 0; from < input.ndim(); ++from) {
    if (from == axis) continue;
    result.extents()[to] = input.extents()[from];
    result.strides()[to] = input.strides()[from];
    ++to;
  }
  return result;
}

}  // namespace

layout repacked(const layout& input, std::int64_t itemsize, std::int64_t address,
                std::int64_t axis_number, bool keep_dim) {
  const std::int64_t old = input.itemsize();
  if (itemsize <= 0 || itemsize > std::numeric_limits<int>::max()) {
    reject("new itemsize must be greater than zero, and less than 2**31, got " +
           std::to_string(itemsize) + ".");
  }
  if (itemsize % old != 0 && old % itemsize != 0) {
    reject("new itemsize (" + std::to_string(itemsize) +
           ") must be a multiple or a divisor of the itemsize (" + std::to_string(old) + ").");
  }
  layout result = input.with_strides();
  const int axis = axis_of(axis_number, result.ndim(), "Invalid axis");
  check_axis(result, axis);
  if (itemsize > old) {
    pack(result, itemsize / old, itemsize, address, axis);
  } else {
    unpack(result, old / itemsize, axis);
  }
  result.set_itemsize(static_cast<int>(itemsize));
  const bool is_dropped = !keep_dim && itemsize > old && result.extents()[axis] == 1;
  return is_dropped ? remove_axis(result, axis) : result;
}

std::int64_t max_compatible_itemsize(const layout& input, std::int64_t limit, std::int64_t address,
                                     std::int64_t axis_number) {
  const std::int64_t old = input.itemsize();
  if (limit <= 0)
    reject("max_itemsize must be greater than zero, got " + std::to_string(limit) + ".");
  if (limit < old) {
    reject("max_itemsize (" + std::to_string(limit) + ") cannot be less than itemsize (" +
           std::to_string(old) + ").");
  }
  const layout source = input.with_strides();
  const int axis = axis_of(axis_number, source.ndim(), "Invalid axis");
  if (source.extents()[axis] == 0 || source.strides()[axis] != 1) return old;
  // The greatest common divisor of all numbers, in elements; zero is divisible by any number.
  std::uint64_t factor = magnitude(source.offset());
  factor = std::gcd(factor, magnitude(source.extents()[axis]));
  for (int other = 0; other < source.ndim(); ++other) {
    if (other != axis) factor = std::gcd(factor, magnitude(source.strides()[other]));
  }
  // Computes gcd(limit, factor * old, address) without the product, which could overflow.
  const auto limit_value = static_cast<std::uint64_t>(limit),
             size = static_cast<std::uint64_t>(old);
  const std::uint64_t bytes = std::gcd(factor % limit_value * (size % limit_value), limit_value);
  const auto divisor = static_cast<std::int64_t>(std::gcd(bytes, magnitude(address)));
  return divisor % old == 0 ? divisor : old;
}

}  // namespace halfwarp::views
