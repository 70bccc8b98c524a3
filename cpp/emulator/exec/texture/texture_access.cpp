// SPDX-License-Identifier: Apache-2.0
// Looks up texture and surface objects by handle.
#include "emulator/exec/texture/texture_access.hpp"

#include <string>
#include <utility>

#include "emulator/exec/access.hpp"
#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {

const texture_site& site_of(const warp& w, const instruction& instr) noexcept {
  return w.function->textures[instr.target];
}

void bound_image::raise(int lane, report::fault_kind kind, std::string detail,
                        std::string hint) const {
  report::fault f = describe_fault(w_, instr_, lane);
  f.kind = kind;
  f.access = kind_;
  f.space = report::memory_space::global;
  f.address = w_.at<std::uint64_t>(site_of(w_, instr_).handle)[lane];
  f.detail = std::move(detail);
  f.hint = std::move(hint);
  throw kernel_fault{std::move(f)};
}

const texture::binding& bound_image::of(int lane, std::uint64_t handle) {
  if (binding_ && handle == handle_) return *binding_;
  const launch_state& launch = *w_.block->launch;
  const char* const noun = is_surface_ ? "surface" : "texture";
  binding_ = launch.options.textures ? launch.options.textures->find(handle) : nullptr;
  const int device = launch.request.entry->owner().device;
  if (!binding_ || binding_->is_surface != is_surface_ || binding_->image.device != device) {
    raise(lane, report::fault_kind::unmapped,
          report::hexadecimal(handle) + " is the handle of no " + noun + " object of this device",
          std::string{"pass the number of a "} + noun +
              " object that lives until the kernel has completed");
  }
  handle_ = handle;
  const texture::image& image = binding_->image;
  if (launch.options.check_memory) {
    if (launch.space.check(image.base, image.bytes, device, false)) {
      raise(lane, report::fault_kind::use_after_free,
            std::string{"the memory of the "} + noun + " object was freed",
            "free the array or the buffer after the kernel has completed");
    }
  }
  bytes_ = launch.space.view(image.base);
  return *binding_;
}

void bound_image::raise_outside(int lane, std::uint32_t size) const {
  raise(lane, report::fault_kind::out_of_bounds,
        "an access of " + std::to_string(size) + " bytes outside of the surface",
        "the x coordinate of a surface is in bytes; cudaBoundaryModeZero and ...Clamp allow "
        "accesses outside of it");
}

}  // namespace halfwarp::emulator::exec
