// SPDX-License-Identifier: Apache-2.0
// Plans copies between two layouts of the same shape, and executes them on the host.
#include "views/copies/copy_plan.hpp"

#include <cstring>

#include "views/layout/checked.hpp"
#include "views/layout/dense.hpp"
#include "views/layout/facts.hpp"

namespace halfwarp::views {
namespace {

void append(copy_plan& plan, std::int64_t extent, std::int64_t to, std::int64_t from) {
  const auto last = static_cast<std::size_t>(plan.ndim - 1);
  if (plan.ndim > 0 && is_product(plan.to[last], to, extent) &&
      is_product(plan.from[last], from, extent)) {
    plan.extents[last] = multiply(plan.extents[last], extent);
    plan.to[last] = to;
    plan.from[last] = from;
    return;
  }
  const auto position = static_cast<std::size_t>(plan.ndim++);
  plan.extents[position] = extent;
  plan.to[position] = to;
  plan.from[position] = from;
}

// Copies a row along the innermost axis. Elements of common sizes are copied as numbers.
template <class Number>
void copy_row(std::int64_t count, char* to, std::int64_t to_stride, const char* from,
              std::int64_t from_stride) noexcept {
  for (; count > 0; --count, to += to_stride, from += from_stride) {
    std::memcpy(to, from, sizeof(Number));
  }
}

struct copier {
  const copy_plan& plan;
  const copy_plan::numbers& to_strides;
  const copy_plan::numbers& from_strides;

  void copy_innermost(std::size_t axis, char* to, const char* from) const noexcept {
    const std::int64_t count = plan.extents[axis], size = plan.itemsize;
    const std::int64_t a = to_strides[axis], b = from_strides[axis];
    if (a == size && b == size) {
      std::memmove(to, from, static_cast<std::size_t>(count * size));
      return;
    }
    switch (size) {
      case 1:
        return copy_row<std::uint8_t>(count, to, a, from, b);
      case 2:
        return copy_row<std::uint16_t>(count, to, a, from, b);
      case 4:
        return copy_row<std::uint32_t>(count, to, a, from, b);
      case 8:
        return copy_row<std::uint64_t>(count, to, a, from, b);
      default:
        for (std::int64_t i = 0; i < count; ++i) {
          std::memcpy(to + i * a, from + i * b, static_cast<std::size_t>(size));
        }
    }
  }

  void copy_axis(std::size_t position, char* to, const char* from) const noexcept {
    if (position + 1 == static_cast<std::size_t>(plan.ndim))
      return copy_innermost(position, to, from);
    for (std::int64_t i = 0; i < plan.extents[position]; ++i) {
      copy_axis(position + 1, to + i * to_strides[position], from + i * from_strides[position]);
    }
  }
};

}  // namespace

bool copy_plan::is_block() const noexcept {
  return ndim == 0 || (ndim == 1 && to[0] == itemsize && from[0] == itemsize);
}

copy_plan::numbers copy_plan::packed() const noexcept {
  numbers strides{};
  std::int64_t next = itemsize;
  for (int axis = ndim; axis-- > 0;) {
    strides[static_cast<std::size_t>(axis)] = next;
    next *= extents[static_cast<std::size_t>(axis)];  // at most `size`
  }
  return strides;
}

copy_plan plan_copy(const layout& to, const layout& from) {
  const layout target = to.with_strides(), source = from.with_strides();
  copy_plan plan;
  plan.itemsize = target.itemsize();
  plan.size = multiply(volume(target), plan.itemsize);
  if (plan.size == 0) return plan;
  for (const int axis : stride_order(target)) {
    if (target.extents()[axis] == 1) continue;
    append(plan, target.extents()[axis], multiply(target.strides()[axis], plan.itemsize),
           multiply(source.strides()[axis], plan.itemsize));
  }
  return plan;
}

void copy_elements(const copy_plan& plan, void* to, const copy_plan::numbers& to_strides,
                   const void* from, const copy_plan::numbers& from_strides) noexcept {
  auto* const target = static_cast<char*>(to);
  const auto* const source = static_cast<const char*>(from);
  if (plan.ndim == 0) {
    std::memmove(target, source, static_cast<std::size_t>(plan.size));
  } else {
    copier{plan, to_strides, from_strides}.copy_axis(0, target, source);
  }
}

}  // namespace halfwarp::views
