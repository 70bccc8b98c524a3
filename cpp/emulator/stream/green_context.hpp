// SPDX-License-Identifier: Apache-2.0
// A green context, and the description of resources that it is made of.
#pragma once

#include <memory>
#include <utility>

#include "emulator/device/resources.hpp"
#include "emulator/stream/context.hpp"

namespace halfwarp::emulator {

// Lives as long as the process, as on a device.
class resource_descriptor : public object {
 public:
  static constexpr object_kind kind_of = object_kind::resource_descriptor;

  explicit resource_descriptor(const provision& of) : object{kind_of}, given{of} {}

  const provision given;
};

// The handle; what works is the context behind it. It goes with its primary context.
class green_context : public object {
 public:
  static constexpr object_kind kind_of = object_kind::green_context;

  explicit green_context(std::shared_ptr<context> through)
      : object{kind_of, through->root().id()}, view{std::move(through)} {}

  const std::shared_ptr<context> view;
};

}  // namespace halfwarp::emulator
