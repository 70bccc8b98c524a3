// SPDX-License-Identifier: Apache-2.0
// User objects, which graphs retain for the program, and references to them.
#pragma once

#include <cuda.h>

#include <cstdint>
#include <map>
#include <memory>

#include "emulator/driver/driver.hpp"
#include "emulator/object/object.hpp"

namespace halfwarp::emulator {

// Guarded by the driver's lock. Releasing the last reference destroys the handle and calls the
// destructor in a thread of the driver.
class user_object : public object {
 public:
  static constexpr object_kind kind_of = object_kind::user_object;

  user_object(void* data, CUhostFn destroy, std::uint64_t references)
      : object{kind_of}, data_{data}, destroy_{destroy}, by_program_{references} {}

  // References of the program, of which at most `by_program` can be released or moved.
  std::uint64_t by_program() const noexcept { return by_program_; }
  void retain(std::uint64_t count) noexcept { by_program_ += count; }
  void release(std::uint64_t count);
  void move_to_graph(std::uint64_t count) noexcept;
  // References of graphs.
  void retain_for_graph(std::uint64_t count) noexcept { by_graphs_ += count; }
  void release_by_graph(std::uint64_t count);

 private:
  void destroy_if_unused();

  void* data_;
  CUhostFn destroy_;
  std::uint64_t by_program_, by_graphs_ = 0;
};

// The references that a graph or its executable graph owns. Guarded by the driver's lock.
class user_references {
 public:
  user_references() = default;
  ~user_references() { clear(); }
  user_references(const user_references& other) : held_{other.held_} { retain_all(); }
  user_references& operator=(const user_references& other);

  // Adds references that are already counted.
  void add(const std::shared_ptr<user_object>& target, std::uint64_t count);
  // Retains and adds the references of `other`.
  void add(const user_references& other);
  // Releases references; returns false if fewer are held.
  bool remove(const user_object& target, std::uint64_t count);
  void clear();

 private:
  struct share {
    std::shared_ptr<user_object> object;
    std::uint64_t count = 0;
  };
  void retain_all() const;

  std::map<std::uint64_t, share> held_;  // by id, for a reproducible order of release
};

}  // namespace halfwarp::emulator
