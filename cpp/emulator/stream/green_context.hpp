// SPDX-License-Identifier: Apache-2.0
// A green context, and the resource descriptor that it is created from.
#pragma once

#include <memory>
#include <utility>

#include "emulator/device/resources.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {

// Never destroyed, as on a device.
class resource_descriptor : public object {
 public:
  static constexpr object_kind kind_of = object_kind::resource_descriptor;

  explicit resource_descriptor(const provision& value) : object{kind_of}, resources{value} {}

  const provision resources;
};

// The handle of a green context; `view` does the work. Destroyed with its primary context.
class green_context : public object {
 public:
  static constexpr object_kind kind_of = object_kind::green_context;

  explicit green_context(std::shared_ptr<context> view_context)
      : object{kind_of, view_context->root().id()}, view{std::move(view_context)} {}

  const std::shared_ptr<context> view;
};

}  // namespace halfwarp::emulator
