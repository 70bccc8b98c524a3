// SPDX-License-Identifier: Apache-2.0
// From the handle in a register to the image, with the fault when it names none.
#pragma once

#include <memory>

#include "emulator/exec/texture/texture_site.hpp"
#include "emulator/exec/warp.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

// What one lane's handle names, looked up again only where the next lane has another one.
class bound_image {
 public:
  bound_image(warp& w, const instruction& in, bool is_surface, report::access_kind kind)
      : w_{w}, in_{in}, is_surface_{is_surface}, kind_{kind} {}

  // Throws kernel_fault for a handle of something else, and for an image whose memory is gone.
  const texture::binding& of(int lane, std::uint64_t handle);
  const std::byte* bytes() const noexcept { return bytes_; }
  [[noreturn]] void raise_outside(int lane, std::uint32_t size) const;

 private:
  [[noreturn]] void raise(int lane, report::fault_kind kind, std::string detail,
                          std::string hint) const;

  warp& w_;
  const instruction& in_;
  bool is_surface_;
  report::access_kind kind_;
  std::uint64_t handle_ = 0;
  std::shared_ptr<const texture::binding> found_;
  const std::byte* bytes_ = nullptr;
};

const texture_site& site_of(const warp& w, const instruction& in) noexcept;

}  // namespace halfwarp::emulator::exec
