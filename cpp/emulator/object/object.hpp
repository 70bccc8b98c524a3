// SPDX-License-Identifier: Apache-2.0
// The base class of all objects with a driver handle.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace halfwarp::emulator {

enum class object_kind : std::uint8_t {
  none,
  context,
  stream,
  event,
  module,
  library,
  kernel,
  function,
  memory_pool,
  graph,
  graph_node,
  graph_exec,
  user_object,
  conditional,
  link,
  physical_memory,
  address_reservation,
  green_context,
  resource_descriptor,
  array,
  mipmapped_array,
  texture_object,
  surface_object,
  graphics_resource,
  count_,
};

std::string_view name(object_kind kind) noexcept;  // "memory pool", ...

// A handle is no valid address: its top 16 bits are a tag outside of the address range, the next 8
// bits are the kind, the remaining bits a serial number. A stale or foreign handle is recognized.
namespace handle {

inline constexpr std::uint64_t tag = 0x0E4D;

constexpr std::uint64_t encode(object_kind kind, std::uint64_t id) noexcept {
  return tag << 48 | static_cast<std::uint64_t>(kind) << 40 | id << 4;
}
constexpr bool is_ours(std::uint64_t raw) noexcept { return raw >> 48 == tag && (raw & 15) == 0; }
constexpr object_kind kind_of(std::uint64_t raw) noexcept {
  const auto kind = raw >> 40 & 0xff;
  return kind < static_cast<std::uint64_t>(object_kind::count_) ? static_cast<object_kind>(kind)
                                                                : object_kind::none;
}
constexpr std::uint64_t id_of(std::uint64_t raw) noexcept { return (raw & 0xff'ffff'ffff) >> 4; }

}  // namespace handle

// A call that received the handle of an object.
struct object_user {
  std::string_view function;
  int thread = 0;
};

// Created by `object_table::make`, which assigns the id.
class object : public std::enable_shared_from_this<object> {
 public:
  explicit object(object_kind kind, std::uint64_t context_id = 0) noexcept
      : kind_{kind}, context_id_{context_id} {}
  virtual ~object() = default;
  object(const object&) = delete;  // a handle names exactly one object
  object& operator=(const object&) = delete;

  object_kind kind() const noexcept { return kind_; }
  std::uint64_t id() const noexcept { return id_; }
  // The id of the context whose destruction destroys the object, or 0.
  std::uint64_t context_id() const noexcept { return context_id_; }
  template <class Raw>
  Raw handle_as() const noexcept {
    return reinterpret_cast<Raw>(handle::encode(kind_, id_));
  }

  bool is_library_owned = false;  // owned by the package: left out of leak reports
  std::string created_at;         // call site if sites are traced

 private:
  friend class object_table;
  friend class objects_in_use;
  friend std::string overlapping_use(const object& subject);

  object_kind kind_;
  std::uint64_t id_ = 0;
  std::uint64_t context_id_;
  std::vector<object_user> users_;  // calls in progress
  object_user last_user_;           // the last call that ended
  std::uint64_t last_used_ = 0;     // the moment of its end
};

}  // namespace halfwarp::emulator
