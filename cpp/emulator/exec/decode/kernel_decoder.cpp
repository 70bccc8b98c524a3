// SPDX-License-Identifier: Apache-2.0
// Decodes the functions of a kernel, computes its stack depth and records a refusal.
#include "emulator/exec/decode/kernel_decoder.hpp"

#include <algorithm>

#include "emulator/exec/access.hpp"
#include "emulator/exec/decode/function_decoder.hpp"
#include "emulator/exec/decode/kernel_layout.hpp"

namespace halfwarp::emulator::exec {
namespace {

constexpr std::uint32_t return_address_bytes = 16;  // as frames are laid out at a call

// Computes the stack bytes of the deepest call chain. Recursion ends a chain, and an indirect call
// may reach any function.
class depth_finder {
 public:
  explicit depth_finder(kernel_code& code)
      : code_{code}, is_on_chain_(code.functions.size()), depths_(code.functions.size()) {}

  std::uint64_t depth(std::uint32_t function) {
    if (is_on_chain_[function]) {
      code_.is_recursive = true;
      return 0;
    }
    if (depths_[function]) return *depths_[function];
    is_on_chain_[function] = true;
    std::uint64_t callee_depth = 0;
    for (const call_site& site : code_.functions[function].calls) {
      if (site.is_builtin) continue;
      if (!site.is_indirect)
        callee_depth = std::max(callee_depth, return_address_bytes + depth(site.callee));
      for (std::uint32_t i = 1; site.is_indirect && i < code_.functions.size(); ++i) {
        callee_depth = std::max(callee_depth, return_address_bytes + depth(i));
      }
    }
    is_on_chain_[function] = false;
    depths_[function] = code_.functions[function].frame_bytes + callee_depth;
    return *depths_[function];
  }

 private:
  kernel_code& code_;
  std::vector<bool> is_on_chain_;
  std::vector<std::optional<std::uint64_t>> depths_;  // depth per visited function
};

report::fault refusal_of(const program& owner, const ptx::function& entry, const ptx::function& f,
                         const function_decoder::refused& r) {
  report::fault fault;
  fault.kind = report::fault_kind::not_supported;
  fault.kernel = entry.name;
  fault.device = owner.device;
  set_source(fault, *owner.source, f, r.instruction);
  fault.detail = r.reason;
  return fault;
}

std::unique_ptr<kernel_code> decode(const program& owner, std::uint32_t entry) {
  auto code = std::make_unique<kernel_code>();
  kernel_layout layout = compute_layout(*owner.source, entry);
  code->static_shared_bytes = layout.static_shared_bytes;
  for (std::uint32_t index : layout.functions) {
    const ptx::function& f = owner.source->functions[index];
    function_decoder decoder{owner, f, layout, code->range_caches};
    code->functions.push_back(decoder.run());
    code->functions.back().address = owner.function_address(index);
    code->allocates_stack |= code->functions.back().allocates_stack;
    code->reads_reserved_shared |= code->functions.back().reads_reserved_shared;
    for (const auto& r : decoder.refused_instructions()) {
      report::fault refused = refusal_of(owner, owner.source->functions[entry], f, r);
      bool is_first = !code->refusal || refused.ptx_line < code->refusal->ptx_line;
      if (is_first) code->refusal = refused;
    }
  }
  if (code->refusal) return code;
  std::uint64_t depth = depth_finder{*code}.depth(0);
  if (depth > max_frame_bytes) {
    std::string reason = "the deepest call chain needs " + std::to_string(depth) +
                         " bytes of local memory, the limit is " + std::to_string(max_frame_bytes);
    const ptx::function& f = owner.source->functions[entry];
    code->refusal = refusal_of(owner, f, f, {0, std::move(reason)});
  }
  code->local_bytes = static_cast<std::uint32_t>(std::min(depth, max_frame_bytes));
  return code;
}

}  // namespace

const kernel_code& code_of(const program& owner, std::uint32_t entry) {
  std::lock_guard lock{owner.mutex};
  std::unique_ptr<kernel_code>& code = owner.decoded[entry];
  if (!code) code = decode(owner, entry);
  return *code;
}

}  // namespace halfwarp::emulator::exec
