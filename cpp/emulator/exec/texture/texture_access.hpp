// SPDX-License-Identifier: Apache-2.0
// Looks up the image of a handle in a register, and raises a fault for an invalid handle.
#pragma once

#include <memory>

#include "emulator/exec/texture/texture_site.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

// Caches the object of the last handle, so that only a different handle needs a look-up.
class bound_image {
 public:
  bound_image(warp& w, const instruction& instr, bool is_surface, report::access_kind kind)
      : w_{w}, instr_{instr}, is_surface_{is_surface}, kind_{kind} {}

  // Throws kernel_fault for an invalid handle, and for an image whose memory was freed.
  const texture::binding& of(int lane, std::uint64_t handle);
  const std::byte* bytes() const noexcept { return bytes_; }
  [[noreturn]] void raise_outside(int lane, std::uint32_t size) const;

 private:
  [[noreturn]] void raise(int lane, report::fault_kind kind, std::string detail,
                          std::string hint) const;

  warp& w_;
  const instruction& instr_;
  bool is_surface_;
  report::access_kind kind_;
  std::uint64_t handle_ = 0;
  std::shared_ptr<const texture::binding> binding_;
  const std::byte* bytes_ = nullptr;
};

const texture_site& site_of(const warp& w, const instruction& instr) noexcept;

}  // namespace halfwarp::emulator::exec
