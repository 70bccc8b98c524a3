// SPDX-License-Identifier: Apache-2.0
#include "emulator/ptx/matrix_forms.hpp"

#include <algorithm>
#include <iterator>

namespace halfwarp::emulator::ptx {
namespace {

using q = qualifier;

constexpr matrix_shape shapes[] = {
    {q::m8n8k4, 8, 4},     {q::m8n8k16, 8, 16},     {q::m8n8k32, 8, 32},     {q::m8n8k128, 8, 128},
    {q::m16n8k4, 16, 4},   {q::m16n8k8, 16, 8},     {q::m16n8k16, 16, 16},   {q::m16n8k32, 16, 32},
    {q::m16n8k64, 16, 64}, {q::m16n8k128, 16, 128}, {q::m16n8k256, 16, 256},
};

constexpr wmma_shape wmma_shapes[] = {
    {q::m16n16k16, 16, 16, 16}, {q::m32n8k16, 32, 8, 16}, {q::m8n32k16, 8, 32, 16},
    {q::m16n16k8, 16, 16, 8},   {q::m8n8k4, 8, 8, 4},     {q::m8n8k32, 8, 8, 32},
    {q::m8n8k128, 8, 8, 128},
};

constexpr auto no_kind = q::unknown;
const matrix_family families[] = {
    {element_family::half,
     no_kind,
     {q::m16n8k8, q::m16n8k16},
     {q::m16n8k16, q::m16n8k32},
     {scalar_type::f16, scalar_type::f32}},
    {element_family::bfloat,
     no_kind,
     {q::m16n8k8, q::m16n8k16},
     {q::m16n8k16, q::m16n8k32},
     {scalar_type::f32}},
    {element_family::tf32,
     no_kind,
     {q::m16n8k4, q::m16n8k8},
     {q::m16n8k8, q::m16n8k16},
     {scalar_type::f32}},
    {element_family::small_float,
     no_kind,
     {q::m16n8k16, q::m16n8k32},
     {q::m16n8k64},
     {scalar_type::f16, scalar_type::f32}},
    {element_family::tiny_float,
     q::kind_f8f6f4,
     {q::m16n8k32},
     {q::m16n8k64},
     {scalar_type::f16, scalar_type::f32}},
    {element_family::tiny_float,
     q::kind_mxf8f6f4,
     {q::m16n8k32},
     {q::m16n8k64},
     {scalar_type::f32}},
    {element_family::tiny_float, q::kind_mxf4, {q::m16n8k64}, {q::m16n8k128}, {scalar_type::f32}},
    {element_family::tiny_float,
     q::kind_mxf4nvf4,
     {q::m16n8k64},
     {q::m16n8k128},
     {scalar_type::f32}},
    {element_family::f64,
     no_kind,
     {q::m8n8k4, q::m16n8k4, q::m16n8k8, q::m16n8k16},
     {},
     {scalar_type::f64}},
    {element_family::byte,
     no_kind,
     {q::m8n8k16, q::m16n8k16, q::m16n8k32},
     {q::m16n8k32, q::m16n8k64},
     {scalar_type::s32}},
    {element_family::nibble,
     no_kind,
     {q::m8n8k32, q::m16n8k32, q::m16n8k64},
     {q::m16n8k64, q::m16n8k128},
     {scalar_type::s32}},
    {element_family::bit,
     no_kind,
     {q::m8n8k128, q::m16n8k128, q::m16n8k256},
     {},
     {scalar_type::s32}},
};

template <class T>
bool contains(std::initializer_list<T> list, T value) {
  return std::find(list.begin(), list.end(), value) != list.end();
}

q kind_of(const mnemonic& m) {
  for (q word : {q::kind_f8f6f4, q::kind_mxf8f6f4, q::kind_mxf4, q::kind_mxf4nvf4}) {
    if (m.has(word)) return word;
  }
  return no_kind;
}

// With a word .kind, all formats of at most 8 bits mix. The kinds of 4 bits have one format.
bool has_types(const matrix_family& entry, scalar_type a, scalar_type b) {
  const auto fits = [&](scalar_type type) {
    if (entry.kind == q::kind_mxf4 || entry.kind == q::kind_mxf4nvf4) {
      return type == scalar_type::e2m1;
    }
    const element_family of = family_of(type);
    return of == entry.of || (entry.kind != no_kind && of == element_family::small_float);
  };
  return fits(a) && fits(b);
}

}  // namespace

element_family family_of(scalar_type type) noexcept {
  switch (type) {
    case scalar_type::f16:
      return element_family::half;
    case scalar_type::bf16:
      return element_family::bfloat;
    case scalar_type::tf32:
      return element_family::tf32;
    case scalar_type::e4m3:
    case scalar_type::e5m2:
      return element_family::small_float;
    case scalar_type::e3m2:
    case scalar_type::e2m3:
    case scalar_type::e2m1:
      return element_family::tiny_float;
    case scalar_type::f64:
      return element_family::f64;
    case scalar_type::s8:
    case scalar_type::u8:
      return element_family::byte;
    case scalar_type::s4:
    case scalar_type::u4:
      return element_family::nibble;
    case scalar_type::b1:
      return element_family::bit;
    default:
      return element_family::none;
  }
}

bool is_sparse(const mnemonic& m) noexcept { return m.has(q::sp) || m.has(q::sp_ordered_metadata); }

const matrix_shape* find_shape(const mnemonic& m) noexcept {
  const auto* const shape =
      std::ranges::find_if(shapes, [&](const matrix_shape& each) { return m.has(each.word); });
  return shape == std::end(shapes) ? nullptr : shape;
}

const matrix_family* find_family(const mnemonic& m) noexcept {
  const matrix_shape* const shape = find_shape(m);
  for (const matrix_family& each : families) {
    if (!shape || each.kind != kind_of(m) || !has_types(each, m.type(1), m.type(2))) continue;
    const bool fits = contains(is_sparse(m) ? each.sparse : each.dense, shape->word) &&
                      contains(each.accumulators, m.type(0)) && m.type(0) == m.type(3);
    return fits ? &each : nullptr;
  }
  return nullptr;
}

const wmma_shape* find_wmma_shape(const mnemonic& m) noexcept {
  const auto* const shape =
      std::ranges::find_if(wmma_shapes, [&](const wmma_shape& each) { return m.has(each.word); });
  return shape == std::end(wmma_shapes) ? nullptr : shape;
}

}  // namespace halfwarp::emulator::ptx
