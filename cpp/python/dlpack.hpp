// SPDX-License-Identifier: Apache-2.0
// DLPack: the tensor structures of versions 0.8 and 1.x, and their capsules.
#pragma once

#include <Python.h>

#include <cstdint>

namespace halfwarp::python::dlpack {

enum class device_type : std::int32_t { cpu = 1, cuda = 2, cuda_host = 3, cuda_managed = 13 };

struct device {
  device_type type;
  std::int32_t id;
};

struct data_type {
  std::uint8_t code;  // as in DLPack's header
  std::uint8_t bits;
  std::uint16_t lanes;
};

struct tensor {
  void* data;
  device location;
  std::int32_t ndim;
  data_type dtype;
  std::int64_t* shape;
  std::int64_t* strides;
  std::uint64_t byte_offset;
};

struct managed_tensor {
  tensor content;
  void* context;
  void (*deleter)(managed_tensor*);
};

struct version {
  std::uint32_t major, minor;
};

struct versioned_tensor {
  version number;
  void* context;
  void (*deleter)(versioned_tensor*);
  std::uint64_t flags;
  tensor content;
};

inline constexpr version supported_version{1, 2};
inline constexpr std::uint8_t signed_integer = 0;
// Flags of a versioned tensor.
inline constexpr std::uint64_t read_only = 1, is_copied = 2, is_subbyte_padded = 4;
inline constexpr char capsule_name[] = "dltensor";
inline constexpr char versioned_capsule_name[] = "dltensor_versioned";

/// Checks the layout against the published C header.
static_assert(sizeof(tensor) == 48 && sizeof(managed_tensor) == 64 &&
              sizeof(versioned_tensor) == 80);

/// Returns a capsule over memory of `owner`; extents and strides are copied. The capsule, or its
/// consumer, holds one reference to `owner`. New reference, or null with an error set.
PyObject* export_tensor(PyObject* owner, const tensor& content, std::uint64_t flags,
                        bool is_versioned);

/// Returns a tensor without a capsule; its deleter releases it. Null with an error set.
versioned_tensor* export_managed(PyObject* owner, const tensor& content, std::uint64_t flags);

}  // namespace halfwarp::python::dlpack
