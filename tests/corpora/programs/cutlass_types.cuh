// SPDX-License-Identifier: Apache-2.0
// The types of the corpus that have the bits of CUTLASS's types.
#pragma once
#include <cutlass/numeric_types.h>
#include "corpus.cuh"
template <class T>
struct native {
  using type = T;
};
template <>
struct native<cutlass::half_t> {
  using type = __half;
};
template <>
struct native<cutlass::bfloat16_t> {
  using type = __nv_bfloat16;
};
template <>
struct native<cutlass::tfloat32_t> {
  using type = float;
};
