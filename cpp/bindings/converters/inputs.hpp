// SPDX-License-Identifier: Apache-2.0
// Converters of inputs, one per kind; the interpreter and the specialized calls use the same ones.
#pragma once

#include "bindings/converters/attributes.hpp"
#include "bindings/converters/frame.hpp"
#include "bindings/converters/lists/lists.hpp"
#include "bindings/kernel_params/kernel_params.hpp"
#include "bindings/memory/memory.hpp"
#include "bindings/objects/object_arguments.hpp"

namespace halfwarp::bindings {

// Members of a converter:
//   prepare(frame, C position, record): converts or reserves; false with a bare error message
// Optional members:
//   complete(...): second pass, after all other parameters have their values
//   result(frame, C position, record, output position): a new reference (outputs; outputs.hpp)
// A member that accepts any frame (`auto`) lets a specialized call use a light frame.
template <kind K>
struct parameter;

template <kind K>
  requires(is_integer(K))
struct parameter<K> {
  static bool prepare(auto& c, int i, const param& p) {
    return number_argument<K>(c.argument(p), c.w[i]);
  }
};

template <>
struct parameter<kind::plain_handle> {
  static bool prepare(auto& c, int i, const param& p) {
    return integer_argument<kind::i64>(c.argument(p), c.w[i]);
  }
};

template <kind K>
  requires(K == kind::f32 || K == kind::f64)
struct parameter<K> {
  static bool prepare(auto& c, int i, const param& p) {
    return float_argument(c.argument(p), K, c.w[i]);
  }
};

template <>
struct parameter<kind::enumeration> {
  static bool prepare(auto& c, int i, const param& p) {
    return enum_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <>
struct parameter<kind::handle32> {
  static bool prepare(auto& c, int i, const param& p) {
    return handle32_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <>
struct parameter<kind::handle64> {
  static bool prepare(auto& c, int i, const param& p) {
    return handle64_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <>
struct parameter<kind::handle_pointer> {
  static bool prepare(auto& c, int i, const param& p) {
    return handle_pointer_argument(c.argument(p), c.lib, p.type, c.w[i]);
  }
};

template <kind K>
  requires(K == kind::structure || K == kind::structure_value)
struct parameter<K> {
  static bool prepare(auto& c, int i, const param& p) {
    return structure_argument(c.argument(p), c.lib, p.type, K == kind::structure, c.w[i]);
  }
};

template <>
struct parameter<kind::address> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    return address_argument(c.argument(p), c.memory, c.w[i]);
  }
};

template <>
struct parameter<kind::text> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    return text_argument(c.argument(p), c.memory, c.w[i]);
  }
};

template <>
struct parameter<kind::text_output> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    return text_output_argument(c.argument(p), c.memory, c.w[i], c.cell[i]);
  }
};

template <>
struct parameter<kind::kernel_params> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    return kernel_params_argument(c.argument(p), c.memory, c.w[i]);
  }
};

template <>
struct parameter<kind::raw_pointer> {
  static bool prepare(auto& c, int i, const param& p) {
    return raw_pointer_argument(c.argument(p), c.w[i]);
  }
};

template <>
struct parameter<kind::color> {
  static bool prepare(has_memory auto& c, int i, const param& p) {
    return color_argument(c.argument(p), c.memory, c.w[i]);
  }
};

template <kind K>
  requires(is_list(K))
struct parameter<K> {
  static bool prepare(frame& c, int i, const param& p) {
    return list_argument(c, i, p, c.argument(p));
  }
  static bool complete(frame& c, int i, const param& p) { return check_list_length(c, i, p); }
};

template <kind K>
  requires(K == kind::short_list_handle32 || K == kind::short_list_handle64)
struct parameter<K> {
  static bool prepare(frame& c, int i, const param& p) {
    return short_list_argument(c, i, p, c.argument(p));
  }
};

// Second pass: the type of the value depends on another argument, the attribute.
template <>
struct parameter<kind::attribute_value> {
  static bool prepare(frame&, int, const param&) { return true; }
  static bool complete(frame& c, int i, const param& p) { return attribute_argument(c, i, p); }
};

template <>
struct parameter<kind::attribute_options> {
  static bool prepare(frame&, int, const param&) { return true; }
  static bool complete(frame& c, int i, const param& p) {
    return attribute_options_argument(c, i, p);
  }
};

template <>
struct parameter<kind::attribute_size> {
  static bool prepare(frame& c, int i, const param&) { return c.point_to_cell(i); }
};

}  // namespace halfwarp::bindings
