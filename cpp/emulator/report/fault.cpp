// SPDX-License-Identifier: Apache-2.0
// Names, codes and text of faults.
#include "emulator/report/fault.hpp"

#include <cxxabi.h>

#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <memory>

namespace halfwarp::emulator::report {
namespace {

struct fault_entry {
  fault_kind kind;
  std::string_view name;
  CUresult code;
  bool is_sticky;
};

constexpr fault_entry faults[] = {
    {fault_kind::out_of_bounds, "out-of-bounds", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::use_after_free, "use-after-free", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::unmapped, "unmapped", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::wrong_device, "wrong-device", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::host_memory, "host-memory", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::stream_order, "stream-order", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::read_only, "read-only", CUDA_ERROR_ILLEGAL_ADDRESS, true},
    {fault_kind::misaligned, "misaligned", CUDA_ERROR_MISALIGNED_ADDRESS, true},
    {fault_kind::wrong_space, "wrong-space", CUDA_ERROR_INVALID_ADDRESS_SPACE, true},
    {fault_kind::stack_overflow, "stack-overflow", CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES, true},
    {fault_kind::device_assert, "device-assert", CUDA_ERROR_ASSERT, true},
    {fault_kind::trap, "trap", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::bad_call_target, "bad-call-target", CUDA_ERROR_INVALID_PC, true},
    {fault_kind::divergent_barrier, "divergent-barrier", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::member_mask, "member-mask", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::invalid_operand, "invalid-operand", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::tensor_memory, "tensor-memory", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::deadlock, "deadlock", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::lock_cycle, "lock-cycle", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::step_limit, "step-limit", CUDA_ERROR_LAUNCH_TIMEOUT, true},
    {fault_kind::destroyed_handle, "destroyed-handle", CUDA_ERROR_INVALID_HANDLE, false},
    {fault_kind::destroyed_in_use, "destroyed-in-use", CUDA_ERROR_INVALID_HANDLE, false},
    {fault_kind::double_free, "double-free", CUDA_ERROR_INVALID_VALUE, false},
    {fault_kind::freed_memory, "freed-memory", CUDA_ERROR_INVALID_VALUE, false},
    {fault_kind::not_supported, "not-supported", CUDA_ERROR_NOT_SUPPORTED, false},
    {fault_kind::interrupted, "interrupted", CUDA_ERROR_LAUNCH_TIMEOUT, true},
    {fault_kind::invalid_free, "invalid-free", CUDA_ERROR_LAUNCH_FAILED, true},
    {fault_kind::race, "race", CUDA_SUCCESS, false},
    {fault_kind::uninitialized, "uninitialized", CUDA_SUCCESS, false},
    {fault_kind::async_copy, "async-copy", CUDA_SUCCESS, false},
    {fault_kind::barrier, "barrier", CUDA_SUCCESS, false},
    {fault_kind::hazard, "hazard", CUDA_SUCCESS, false},
    {fault_kind::neighbor, "neighbor", CUDA_SUCCESS, false},
};

constexpr bool is_in_order() {
  for (std::size_t i = 0; i < std::size(faults); ++i) {
    if (static_cast<std::size_t>(faults[i].kind) != i) return false;
  }
  return true;
}
static_assert(is_in_order());

const fault_entry& entry(fault_kind kind) { return faults[static_cast<std::size_t>(kind)]; }

bool names_address(const fault& f) { return f.access != access_kind::none; }

std::string address_text(const fault& f) {
  if (f.space == memory_space::shared || f.space == memory_space::local) {
    std::string space = f.space == memory_space::shared ? "shared" : "local";
    return "byte " + std::to_string(f.address) + " of " + space + " memory";
  }
  return hexadecimal(f.address);
}

// Returns whether the nearest allocation is relevant: a null pointer is near none.
bool has_near_allocation(const fault& f) {
  constexpr std::uint64_t far_bytes = 1u << 20;
  return f.nearest && f.address + far_bytes >= f.nearest->base &&
         f.address <= f.nearest->end() + far_bytes;
}

// Returns whether no thread caused the fault: a lifetime error of the host or a blocked stream.
bool has_no_thread(const fault& f) {
  const bool is_of_host =
      f.kind == fault_kind::deadlock || f.kind == fault_kind::interrupted || is_finding(f.kind);
  return is_of_lifetime(f.kind) || (is_of_host && f.kernel.empty());
}

std::string access_text(const fault& f) {
  std::string text{name(f.kind)};
  if (!names_address(f)) return text;
  text += " " + std::string(name(f.access)) + " of " + std::to_string(f.bytes) + " bytes at ";
  return text + address_text(f);
}

// Returns whether the first line describes the distance to the nearest allocation.
bool is_about_allocation(const fault& f) {
  return names_address(f) && f.detail.empty() && f.kind != fault_kind::misaligned;
}

// Returns the source line of the instruction, or an empty text if it cannot be read.
std::string source_text(const fault& f) {
  std::ifstream file{f.source_file};
  std::string line;
  for (std::uint32_t number = 0; number < f.source_line; ++number) {
    if (!std::getline(file, line)) return {};
  }
  const std::size_t start = line.find_first_not_of(" \t");
  return start == line.npos ? std::string{} : line.substr(start);
}

void add_line(std::string& text, std::string_view label, const std::string& value) {
  if (value.empty()) return;
  text.append("  ").append(label).append(": ").append(value).append("\n");
}

std::string launch_text(const fault& f) {
  return "device " + std::to_string(f.device) + ", stream " + std::to_string(f.stream) + ", grid " +
         triple(f.grid) + ", block " + triple(f.block);
}

// Returns a line such as "thread (1,0,0) of block (0,0,0) wrote at a.cu:3, PTX line 17: a[i] = 0;".
std::string participant_text(const fault& f, std::string_view verb) {
  std::string text = "  thread " + triple(f.thread) + " of block " + triple(f.block_index) + " ";
  text.append(verb).append(" at ").append(place_text(f));
  const std::string source = source_text(f);
  return text + ": " + (source.empty() ? f.instruction : source) + "\n";
}

fault fault_at(const earlier_access& access) {
  fault f;
  f.block_index = access.block_index;
  f.thread = access.thread;
  f.ptx_line = access.ptx_line;
  f.source_file = access.source_file;
  f.source_line = access.source_line;
  f.instruction = access.instruction;
  return f;
}

// Returns the report of a check about a kernel: its threads, the memory, and how often it happened.
std::string finding_text(const fault& f) {
  const bool is_barrier = f.kind == fault_kind::barrier;
  const auto verb = [=](access_kind access, bool is_past) {
    if (access == access_kind::none)
      return is_barrier                         ? "executes or skips the barrier"
             : f.kind == fault_kind::async_copy ? "accesses the bytes"
                                                : "uses the value";
    if (access == access_kind::load) return is_past ? "read" : "reads";
    if (access == access_kind::store) return is_past ? "stored" : "stores";
    return is_past ? "updated" : "updates";
  };
  std::string text = first_line(f) + "\n" + participant_text(f, verb(f.access, false));
  if (f.earlier) text += participant_text(fault_at(*f.earlier), verb(f.earlier->access, true));
  if (has_near_allocation(f)) {
    add_line(text, "memory", allocation_text(f));
    add_line(text, "allocated at", f.nearest->created_at);
  }
  text += f.history;
  add_line(text, "hint", f.hint);
  add_line(text, "launch", launch_text(f));
  add_line(text, "count", f.count == 1 ? "once" : std::to_string(f.count) + " times");
  add_line(text, "seed", std::to_string(f.seed));
  return text;
}

}  // namespace

std::string triple(const std::array<std::uint32_t, 3>& v) {
  return "(" + std::to_string(v[0]) + "," + std::to_string(v[1]) + "," + std::to_string(v[2]) + ")";
}

std::string allocation_text(const fault& f) {
  if (!has_near_allocation(f)) return "no allocation is near";
  const memory::allocation& a = *f.nearest;
  const std::string_view state = a.is_live ? "live " : a.is_reserved ? "absent " : "freed ";
  std::string allocation_name = std::string(state) + std::to_string(a.size) + "-byte " +
                                (a.name.empty() ? "allocation" : "variable '" + a.name + "'") +
                                " at " + hexadecimal(a.base);
  if (f.address < a.base) {
    return std::to_string(a.base - f.address) + " bytes before the start of the " + allocation_name;
  }
  if (f.address >= a.end()) {
    return std::to_string(f.address - a.end()) + " bytes past the end of the " + allocation_name;
  }
  return std::to_string(f.address - a.base) + " bytes into the " + allocation_name;
}

std::string place_text(const fault& f) {
  std::string text;
  if (f.source_line) {
    text = (f.source_file.empty() ? "source line " : f.source_file + ":") +
           std::to_string(f.source_line) + ", ";
  }
  return text + "PTX line " + std::to_string(f.ptx_line);
}

std::string writer_text(const std::string& title, const earlier_access& by, std::string_view verb) {
  const std::string ending = " " + std::string{verb};
  if (!by.ptx_line) return title + ending;
  const std::string thread = "thread " + triple(by.thread) + " of block " + triple(by.block_index);
  return (title.empty() ? thread : title + ", " + thread + ",") + ending + " at " +
         place_text(fault_at(by));
}

std::string origin_lines(const fault& memory, const std::string& writer) {
  const bool is_of_kernel =
      memory.space == memory_space::shared || memory.space == memory_space::local;
  const std::string place = is_of_kernel ? address_text(memory) : allocation_text(memory);
  std::string text;
  add_line(text, "came from", place + ", which " + writer);
  if (memory.nearest) add_line(text, "allocated at", memory.nearest->created_at);
  return text;
}

std::string_view name(fault_kind kind) noexcept { return entry(kind).name; }
CUresult code(fault_kind kind) noexcept { return entry(kind).code; }
bool is_sticky(fault_kind kind) noexcept { return entry(kind).is_sticky; }
bool is_of_lifetime(fault_kind kind) noexcept {
  return kind >= fault_kind::destroyed_handle && kind <= fault_kind::freed_memory;
}

bool is_finding(fault_kind kind) noexcept { return kind >= fault_kind::race; }

std::string_view name(access_kind kind) noexcept {
  switch (kind) {
    case access_kind::load:
      return "load";
    case access_kind::store:
      return "store";
    case access_kind::atomic:
      return "atomic";
    case access_kind::none:
      break;
  }
  return "";
}

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) return name;  // "f" would demangle to the type float
  int status = 0;
  std::unique_ptr<char, decltype(&std::free)> text{
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free};
  return status == 0 && text ? std::string(text.get()) : name;
}

std::string hexadecimal(std::uint64_t value) {
  char digits[19];
  std::snprintf(digits, sizeof(digits), "0x%llx", static_cast<unsigned long long>(value));
  return digits;
}

std::string first_line(const fault& f) {
  if (has_no_thread(f)) return std::string{name(f.kind)} + ": " + f.detail;
  if (f.kind == fault_kind::race) {
    return "race: " + f.detail + " of " + std::to_string(f.bytes) + " bytes at " + address_text(f) +
           " in kernel '" + demangled(f.kernel) + "'";
  }
  if (is_finding(f.kind)) {
    const bool names_space = f.space == memory_space::shared || f.space == memory_space::local;
    return std::string{name(f.kind)} + ": " + f.detail +
           (names_space ? ", " + address_text(f) : "") + ", in kernel '" + demangled(f.kernel) +
           "'";
  }
  if (f.kind == fault_kind::not_supported) {
    return "kernel '" + demangled(f.kernel) + "' needs an instruction that is not emulated, " +
           place_text(f) + ": " + f.instruction + " (" + f.detail + ")";
  }
  std::string text = access_text(f) + " by kernel '" + demangled(f.kernel) + "' block " +
                     triple(f.block_index) + " thread " + triple(f.thread) + ", " + place_text(f);
  std::string detail = is_about_allocation(f) ? allocation_text(f) : f.detail;
  return detail.empty() ? text : text + ": " + detail;
}

std::string full_text(const fault& f) {
  const bool is_of_kernel = is_finding(f.kind) && !f.kernel.empty();
  if (is_of_kernel) return finding_text(f);
  std::string text = first_line(f) + "\n";
  if (has_no_thread(f)) {
    if (is_finding(f.kind) && f.nearest) {
      add_line(text, "memory", allocation_text(f));
      add_line(text, "allocated at", f.nearest->created_at);
    }
    text += f.history;
    add_line(text, "hint", f.hint);
    return text;
  }
  if (f.kind != fault_kind::not_supported) {
    add_line(text, "launch", launch_text(f));
    if (f.other_threads) {
      add_line(text, "other threads",
               std::to_string(f.other_threads) + " of the same warp with the same fault");
    }
    bool is_allocation =
        names_address(f) && f.space != memory_space::shared && f.space != memory_space::local;
    if (is_allocation && !is_about_allocation(f)) add_line(text, "nearest", allocation_text(f));
  }
  add_line(text, "source", source_text(f));
  add_line(text, "instruction", f.instruction);
  if (has_near_allocation(f)) {
    const memory::allocation& a = *f.nearest;
    if (a.stream) add_line(text, "allocated on stream", std::to_string(a.stream));
    add_line(text, "allocated at", a.created_at);
    add_line(text, "freed at", a.freed_at);
  }
  add_line(text, "hint", f.hint);
  add_line(text, "seed", std::to_string(f.seed));
  return text;
}

}  // namespace halfwarp::emulator::report
