// SPDX-License-Identifier: Apache-2.0
// Finds the PTX in the inputs of a linker.
#include "emulator/link/input.hpp"

#include <algorithm>
#include <functional>

#include "emulator/image/host_code.hpp"

namespace halfwarp::emulator::link {
namespace {

// Functions of libcudadevrt that compilers of Python call. The last block to arrive flips the
// highest bit of the grid's counter: the first block adds what all others leave to 2^31.
constexpr std::string_view device_runtime = R"(.version 7.0
.target sm_50
.address_size 64
.visible .func (.param .b64 handle) cudaCGGetIntrinsicHandle(.param .b32 scope) {
  .reg .b32 %scope;
  .reg .b64 %handle;
  ld.param.u32 %scope, [scope];
  cvt.u64.u32 %handle, %scope;
  st.param.b64 [handle], %handle;
  ret;
}
.visible .func (.param .b32 status) cudaCGSynchronize(.param .b64 handle, .param .b32 flags) {
  .reg .pred %is;
  .reg .b32 %r<8>;
  .reg .b64 %counter;
  bar.sync 0;
  mov.u32 %r0, %tid.x;
  mov.u32 %r1, %tid.y;
  or.b32 %r0, %r0, %r1;
  mov.u32 %r1, %tid.z;
  or.b32 %r0, %r0, %r1;
  setp.ne.u32 %is, %r0, 0;
  @%is bra done;
  mov.u32 %r0, %envreg1;
  mov.u32 %r1, %envreg2;
  mov.b64 %counter, {%r1, %r0};
  mov.u32 %r0, %nctaid.x;
  mov.u32 %r1, %nctaid.y;
  mul.lo.u32 %r0, %r0, %r1;
  mov.u32 %r1, %nctaid.z;
  mul.lo.u32 %r0, %r0, %r1;
  sub.u32 %r2, 0x80000001, %r0;
  mov.u32 %r0, %ctaid.x;
  mov.u32 %r1, %ctaid.y;
  or.b32 %r0, %r0, %r1;
  mov.u32 %r1, %ctaid.z;
  or.b32 %r0, %r0, %r1;
  setp.eq.u32 %is, %r0, 0;
  selp.u32 %r2, %r2, 1, %is;
  membar.gl;
  atom.global.add.u32 %r3, [%counter], %r2;
wait:
  ld.volatile.global.u32 %r4, [%counter];
  xor.b32 %r4, %r4, %r3;
  setp.ge.s32 %is, %r4, 0;
  @%is bra wait;
  membar.gl;
done:
  bar.sync 0;
  mov.u32 %r0, 0;
  st.param.b32 [status], %r0;
  ret;
}
)";

// Returns whether a library is libcudadevrt, by the name of its object. It has PTX for the newest
// devices alone. The emulator runs what kernels launch by itself.
bool is_device_runtime(image::bytes data) noexcept {
  const std::string_view text{reinterpret_cast<const char*>(data.data()), data.size()};
  constexpr std::string_view member = "cuda_device_runtime.o";
  const std::boyer_moore_horspool_searcher name{member.begin(), member.end()};
  return text.starts_with("!<arch>\n") && std::search(text.begin(), text.end(), name) != text.end();
}

}  // namespace

std::optional<image::image_error> add_input(std::vector<ptx_input>& inputs, std::string_view name,
                                            image::bytes data, std::uint32_t architecture,
                                            image::cubin_registry& registry) {
  if (is_device_runtime(data)) {
    inputs.push_back({"libcudadevrt", std::string{device_runtime}});
    return std::nullopt;
  }
  auto images = image::fat_binaries_in(data);
  if (images.empty()) images.push_back(data);
  for (const image::bytes bytes : images) {
    auto result = image::find_ptx(bytes, architecture, registry);
    if (!result) return std::move(result.error);
    inputs.push_back({std::string{name}, std::move(result.source->text)});
  }
  return std::nullopt;
}

}  // namespace halfwarp::emulator::link
