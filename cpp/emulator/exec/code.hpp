// SPDX-License-Identifier: Apache-2.0
// Decoded functions of a kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "emulator/exec/async/bulk_site.hpp"
#include "emulator/exec/instruction.hpp"
#include "emulator/exec/matrix/matrix_site.hpp"
#include "emulator/exec/tensor/tensor_site.hpp"
#include "emulator/exec/texture/texture_site.hpp"
#include "emulator/ptx/ast.hpp"
#include "emulator/report/fault.hpp"

namespace halfwarp::emulator::exec {

class code_effects;

// Limit of local memory per thread on a device.
inline constexpr std::uint64_t max_frame_bytes = 512 << 10;

// Byte storage aligned to cache lines. Each value of 32 lanes starts on a line.
class lane_storage {
 public:
  void resize(std::size_t bytes);  // preserves old bytes; new bytes are zero
  std::byte* data() noexcept { return reinterpret_cast<std::byte*>(lines_.data()); }
  const std::byte* data() const noexcept {
    return reinterpret_cast<const std::byte*>(lines_.data());
  }
  std::size_t size() const noexcept { return lines_.size() * sizeof(line); }

 private:
  struct alignas(64) line {
    std::byte bytes[64];
  };
  std::vector<line> lines_;
};

// Copies a parameter between two frames for the lanes that call or return.
struct parameter_copy {
  enum class place : std::uint8_t { memory, slot };
  place from_place = place::memory, to_place = place::memory;
  // The caller's side is an offset in the frame or an operand_slot. The callee's side is the index
  // of the parameter or result.
  std::int32_t from = 0, to = 0;
  std::uint32_t bytes = 0;
};

struct call_site {
  bool is_builtin = false;   // the handler reads the arguments in place
  bool is_indirect = false;  // operand 0 of the instruction is the address of the function
  std::uint32_t callee = 0;  // index in kernel_code::functions, of a direct call
  std::vector<parameter_copy> arguments, results;
};

struct function_code {
  const ptx::function* source = nullptr;
  std::uint64_t address = 0;      // value of a pointer to the function
  std::vector<instruction> code;  // ends with a return
  lane_storage constants;
  std::uint32_t register_bytes = 0;  // all lanes
  std::uint32_t predicates = 1;      // predicate 0 is the carry flag
  std::uint32_t local_bytes = 0;     // .local variables, per thread
  std::uint32_t frame_bytes = 0;     // with parameters and results, per thread
  // Copy of a kernel's parameters in the frame, for kernels that use their address.
  std::uint32_t parameter_block = 0, parameter_block_bytes = 0;
  std::vector<std::uint32_t> parameter_offsets, result_offsets;  // in the frame
  std::vector<call_site> calls;
  std::vector<texture_site> textures;
  std::vector<matrix_site> matrices;
  std::vector<bulk_site> bulks;
  std::vector<tensor_site> tensors;
  bool reads_reserved_shared = false;  // reads the address of the driver's shared memory
  bool allocates_stack = false;        // by alloca
  // Has the same instructions at the same indices, faster, for runs that nothing follows.
  std::vector<instruction> tuned;
  // Instructions whose results are the same in all blocks of a launch. They run once per frame.
  std::vector<instruction> fixed;
  // By instruction, see decode/block_roles.hpp; empty if blocks take different ways.
  std::vector<std::uint8_t> roles;
  std::shared_ptr<code_effects> effects;  // for `roles`
  std::uint32_t passages = 0;             // see schedule/warp/passage.hpp
};

struct kernel_code {
  std::vector<function_code> functions;  // the entry first
  std::uint32_t static_shared_bytes = 0;
  bool reads_reserved_shared = false;
  std::uint32_t range_caches = 0;
  std::uint32_t local_bytes = 0;  // deepest chain of frames without recursion
  bool is_recursive = false;      // by direct calls
  bool allocates_stack = false;   // by alloca
  // Fault of the first unsupported instruction in the order of the text.
  std::optional<report::fault> refusal;
};

}  // namespace halfwarp::emulator::exec
