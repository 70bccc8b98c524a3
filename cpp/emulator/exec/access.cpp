// SPDX-License-Identifier: Apache-2.0
// Looks up allocations and builds fault records.
#include "emulator/exec/access.hpp"

#include <sys/stat.h>

#include <cstring>
#include <optional>

#include "emulator/exec/program.hpp"
#include "emulator/exec/schedule/cluster.hpp"
#include "emulator/exec/schedule/state.hpp"

namespace halfwarp::emulator::exec {
namespace {

using memory::range_problem;
using report::fault_kind;

constexpr std::uint64_t cacheable_alignment = 32;  // offsets and addresses align alike

bool is_write(access requested) { return requested.kind != report::access_kind::load; }

fault_kind kind_of(range_problem problem) {
  switch (problem) {
    case range_problem::unmapped:
      return fault_kind::unmapped;
    case range_problem::out_of_bounds:
      return fault_kind::out_of_bounds;
    case range_problem::use_after_free:
      return fault_kind::use_after_free;
    case range_problem::wrong_device:
      return fault_kind::wrong_device;
    case range_problem::host_memory:
      return fault_kind::host_memory;
    case range_problem::read_only:
      return fault_kind::read_only;
  }
  return fault_kind::unmapped;
}

std::string hint_for(const report::fault& f, const memory::address_space& space) {
  switch (f.kind) {
    case fault_kind::unmapped:
      return f.address < 65536 ? "the pointer is null, or an index was added to a null pointer"
                               : "check the pointer and the index";
    case fault_kind::out_of_bounds:
      return "compare the index with the number of elements, and the grid with the data";
    case fault_kind::use_after_free:
      if (f.nearest && f.nearest->is_reserved) return std::string{report::hint_for_graph_memory};
      return f.nearest && f.nearest->freed_stream
                 ? "the allocation was freed by cuMemFreeAsync on stream " +
                       std::to_string(f.nearest->freed_stream) +
                       "; order the free after this kernel"
                 : "the allocation was freed before this kernel ran; keep it until then";
    case fault_kind::wrong_device:
      return "the memory belongs to device " + std::to_string(space.device_of(f.address)) +
             "; enable peer access first";
    case fault_kind::host_memory:
      return "the address is host memory that is not pinned; copy it to the device, or register it";
    case fault_kind::read_only:
      return "the address is a .const variable, which kernels may only read";
    case fault_kind::misaligned:
      return "an access of " + std::to_string(f.bytes) +
             " bytes needs an address that is a multiple of " + std::to_string(f.bytes);
    default:
      return {};
  }
}

// The host address of one lane's access, or its fault.
struct lane_result {
  std::uint64_t host = 0;
  std::optional<report::fault> fault;
};

struct generic_access {
  warp& w;
  const instruction& instr;
  access requested;
  bool needs_alignment = true;
  launch_state& launch = *w.block->launch;

  std::optional<memory::access_range> range(std::uint64_t at) const {
    int device = launch.request.entry->owner().device;
    auto match = launch.space.accessible_range(at, device, is_write(requested));
    if (match || launch.options.check_memory) return match;
    // Without checks, any byte of an arena is accessible.
    int owner = launch.space.device_of(at);
    if (owner < 0) return std::nullopt;
    std::uint64_t first = launch.space.device_arena_base(owner);
    std::uint64_t view = reinterpret_cast<std::uint64_t>(launch.space.view(first));
    return memory::access_range{first, first + memory::arena_bytes, view - first};
  }

  bool is_inside(const memory::access_range& r, std::uint64_t at) const {
    return at >= r.first && at < r.last && r.last - at >= requested.bytes;
  }

  report::fault fault_at(int lane, std::uint64_t at, fault_kind kind,
                         report::memory_space space) const {
    report::fault f = describe_fault(w, instr, lane);
    f.kind = kind;
    f.access = requested.kind;
    f.bytes = requested.bytes;
    f.address = at;
    f.space = space;
    return f;
  }

  lane_result in_shared_window(int lane, std::uint64_t at) const {
    std::uint64_t offset = at - launch.space.shared_window();
    if (const auto* const host = shared_bytes_at(w, offset, requested.bytes)) {
      return {reinterpret_cast<std::uint64_t>(host), {}};
    }
    report::fault f =
        fault_at(lane, offset, fault_kind::out_of_bounds, report::memory_space::shared);
    f.detail = describe_shared(w, offset);
    return {0, f};
  }

  lane_result in_local_window(int lane, std::uint64_t at) const {
    std::uint64_t offset = at - launch.space.local_window();
    bool fits = offset <= w.stack_top && w.stack_top - offset >= requested.bytes;
    std::uint64_t base = reinterpret_cast<std::uint64_t>(w.local);
    if (fits) return {base + static_cast<std::uint64_t>(lane) * w.local_stride + offset, {}};
    report::fault f =
        fault_at(lane, offset, fault_kind::out_of_bounds, report::memory_space::local);
    f.detail = "the thread has " + std::to_string(w.stack_top) + " bytes of local memory in use";
    return {0, f};
  }

  lane_result locate(int lane, std::uint64_t at) const {
    bool is_shared = at - launch.space.shared_window() < memory::window_bytes;
    bool is_local = at - launch.space.local_window() < memory::window_bytes;
    if ((is_shared || is_local) && (instr.flags & access_flag::global_only)) {
      report::fault f = fault_at(lane, at, fault_kind::wrong_space, report::memory_space::global);
      f.detail = is_shared ? "the address is in shared memory" : "the address is in local memory";
      f.hint = "the pointer was converted to the global space, but never pointed there";
      return {0, f};
    }
    if (needs_alignment && at % requested.bytes) {
      report::fault f = fault_at(lane, at, fault_kind::misaligned, report::memory_space::generic);
      f.nearest = launch.space.nearest(at);
      f.hint = hint_for(f, launch.space);
      return {0, f};
    }
    if (is_shared) return in_shared_window(lane, at);
    if (is_local) return in_local_window(lane, at);
    auto match = range(at);
    if (match && is_inside(*match, at)) return {at + match->view_offset, {}};
    auto problem = launch.space.check(at, requested.bytes, launch.request.entry->owner().device,
                                      is_write(requested));
    report::fault f = fault_at(lane, at, problem ? kind_of(problem->problem) : fault_kind::unmapped,
                               report::memory_space::global);
    if (problem) f.nearest = problem->nearest;
    f.hint = hint_for(f, launch.space);
    return {0, f};
  }
};

// Caches a range, in generic addresses, if it contains the accesses of all lanes.
bool cache_range(generic_access& a, const std::uint64_t* address, const range_cache& candidate) {
  std::uint64_t misaligned = 0;
  for (lane_mask remaining = a.w.active; remaining; remaining &= remaining - 1) {
    std::uint64_t at =
        address[__builtin_ctz(remaining)] + static_cast<std::uint64_t>(a.instr.immediate);
    misaligned |= at;
    bool is_inside =
        at >= candidate.first && at < candidate.last && candidate.last - at >= a.requested.bytes;
    if (!is_inside) return false;
  }
  if (misaligned % a.requested.bytes) return false;
  if (candidate.first % cacheable_alignment == 0) a.w.ranges[a.instr.cache] = candidate;
  return true;
}

std::optional<range_cache> candidate_range(const generic_access& a, std::uint64_t at) {
  const memory::address_space& space = a.launch.space;
  if (at - space.shared_window() < memory::window_bytes) {
    if (a.instr.flags & access_flag::global_only) return std::nullopt;
    std::uint64_t first = space.shared_window();
    return range_cache{first, first + a.w.shared_bytes, 0, true};
  }
  auto match = a.range(at);
  if (!match) return std::nullopt;
  return range_cache{match->first, match->last, match->view_offset, false};
}

void count_other_threads(generic_access& a, const std::uint64_t* address, lane_mask remaining,
                         report::fault& first) {
  for (; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    std::uint64_t at = address[lane] + static_cast<std::uint64_t>(a.instr.immediate);
    lane_result result = a.locate(lane, at);
    first.other_threads += result.fault && result.fault->kind == first.kind;
  }
}

}  // namespace

lane_view find_lanes(warp& w, const instruction& instr, const std::uint64_t* address,
                     access requested) {
  generic_access a{w, instr, requested};
  std::uint64_t displacement = static_cast<std::uint64_t>(instr.immediate);
  std::uint64_t first = address[__builtin_ctz(w.active)] + displacement;
  if (auto candidate = candidate_range(a, first);
      candidate && cache_range(a, address, *candidate)) {
    std::uint64_t offset = candidate->is_shared
                               ? reinterpret_cast<std::uint64_t>(w.shared) - candidate->first
                               : candidate->view_offset;
    return {address, offset + displacement};
  }
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    lane_result result = a.locate(lane, address[lane] + displacement);
    if (result.fault) {
      count_other_threads(a, address, remaining & (remaining - 1), *result.fault);
      throw kernel_fault{*result.fault};
    }
    w.host_address[lane] = result.host;
  }
  return {w.host_address.data(), 0};
}

std::byte* locate_bytes(warp& w, const instruction& instr, int lane, std::uint64_t address,
                        access requested) {
  generic_access a{w, instr, requested, false};
  lane_result result = a.locate(lane, address);
  if (result.fault) throw kernel_fault{*result.fault};
  return reinterpret_cast<std::byte*>(result.host);
}

namespace {

[[noreturn]] void raise_offset_fault(warp& w, const instruction& instr, access requested,
                                     report::memory_space space, std::uint64_t size,
                                     std::uint64_t (*offset)(warp&, const instruction&, int)) {
  std::optional<report::fault> first;
  for (lane_mask remaining = w.active; remaining; remaining &= remaining - 1) {
    int lane = __builtin_ctz(remaining);
    std::uint64_t at = offset(w, instr, lane);
    bool is_outside = at > size || size - at < requested.bytes;
    if (!is_outside && at % requested.bytes == 0) continue;
    fault_kind kind = is_outside ? fault_kind::out_of_bounds : fault_kind::misaligned;
    if (first) {
      first->other_threads += kind == first->kind;
      continue;
    }
    first = describe_fault(w, instr, lane);
    first->kind = kind;
    first->access = requested.kind;
    first->bytes = requested.bytes;
    first->address = at;
    first->space = space;
  }
  launch_state& launch = *w.block->launch;
  const memory::address_space& spaces = launch.space;
  bool is_generic = first->address - spaces.shared_window() < memory::window_bytes ||
                    first->address - spaces.local_window() < memory::window_bytes;
  if (is_generic) {
    first->kind = fault_kind::wrong_space;
    first->detail = "the operand is a generic address";
    first->hint = "convert the pointer to the space of the instruction first";
  } else if (first->kind == fault_kind::misaligned) {
    first->hint = hint_for(*first, spaces);
  } else if (space == report::memory_space::shared) {
    std::uint32_t dynamic = launch.request.dynamic_shared_bytes;
    first->detail = "the block has " + std::to_string(size) + " bytes of shared memory";
    first->hint = dynamic || launch.code.static_shared_bytes == 0
                      ? "index is beyond the dynamic shared memory size " +
                            std::to_string(dynamic) + " given at launch"
                      : "index is beyond the shared memory that the kernel declares";
  } else {
    first->detail = "the thread has " + std::to_string(size) + " bytes of local memory in use";
    first->hint = "index is beyond an array of the thread";
  }
  throw kernel_fault{*first};
}

}  // namespace

void raise_shared_fault(warp& w, const instruction& instr, access requested,
                        std::uint64_t (*offset)(warp&, const instruction&, int lane)) {
  raise_offset_fault(w, instr, requested, report::memory_space::shared, w.shared_bytes, offset);
}

void raise_local_fault(warp& w, const instruction& instr, access requested,
                       std::uint64_t (*offset)(warp&, const instruction&, int lane)) {
  raise_offset_fault(w, instr, requested, report::memory_space::local, w.stack_top, offset);
}

report::fault describe_fault(const warp& w, const instruction& instr, int lane) {
  const block_state& block = *w.block;
  const launch_state& launch = *block.launch;
  const launch_request& request = launch.request;
  report::fault f;
  f.kernel = request.entry->name();
  f.device = request.entry->owner().device;
  f.stream = request.stream;
  f.grid = {request.grid.x, request.grid.y, request.grid.z};
  f.block = {request.block.x, request.block.y, request.block.z};
  f.block_index = block.index;
  for (int axis = 0; axis < 3; ++axis) f.thread[axis] = w.thread[axis][lane];
  f.seed = launch.options.seed;
  set_source(f, *request.entry->owner().source, *w.function->source, instr.source);
  return f;
}

namespace {

// Joins the lines of an instruction, since calls span several lines.
std::string on_one_line(std::string_view text) {
  std::string line;
  for (char c : text) {
    bool is_space = c == ' ' || c == '\t' || c == '\n' || c == '\r';
    if (!is_space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  return line;
}

}  // namespace

void set_source(report::fault& f, const ptx::module& owner, const ptx::function& function,
                std::uint32_t index) {
  if (index >= function.instructions.size()) return;
  const ptx::instruction& source = function.instructions[index];
  f.ptx_line = source.line;
  f.instruction = on_one_line(source.text);
  if (source.location == ptx::no_index) return;
  const ptx::source_location& location = function.locations[source.location];
  f.source_line = location.line;
  // A program that was compiled from memory names a file that does not exist.
  std::string path{owner.file_path(location.file)};
  struct stat facts;
  if (stat(path.c_str(), &facts) == 0 && S_ISREG(facts.st_mode)) f.source_file = std::move(path);
}

bool read_generic(warp& w, int lane, std::uint64_t address, void* to, std::uint32_t bytes) {
  instruction none;
  generic_access a{w, none, {report::access_kind::load, 1}};
  auto* out = static_cast<std::byte*>(to);
  for (std::uint32_t i = 0; i < bytes; ++i) {
    lane_result result = a.locate(lane, address + i);
    if (result.fault) return false;
    out[i] = *reinterpret_cast<const std::byte*>(result.host);
  }
  return true;
}

}  // namespace halfwarp::emulator::exec
