// SPDX-License-Identifier: Apache-2.0
// Values that streams write and wait for.
#include "emulator/work/stream_values.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::chrono::microseconds pause{20};
// As many instructions of the step limit count as one look at the value.
constexpr unsigned steps_per_look = 1 << 15;

template <class Word>
Word& word_at(CUdeviceptr at) {
  return *reinterpret_cast<Word*>(the_driver().memory.view(at));
}

std::uint64_t load(CUdeviceptr at, unsigned bytes) {
  if (bytes == 8) return std::atomic_ref{word_at<std::uint64_t>(at)}.load();
  return std::atomic_ref{word_at<std::uint32_t>(at)}.load();
}

template <class Word>
bool is_met(Word there, Word wanted, unsigned flags) {
  switch (flags & ~CU_STREAM_WAIT_VALUE_FLUSH) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic: a counter may wrap around
      return static_cast<std::make_signed_t<Word>>(there - wanted) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return there == wanted;
    case CU_STREAM_WAIT_VALUE_AND:
      return (there & wanted) != 0;
    default:
      return static_cast<Word>(~(there | wanted)) != 0;
  }
}

bool is_met(const CUstreamBatchMemOpParams& each) {
  const auto& wait = each.waitValue;
  const std::uint64_t there = load(wait.address, bytes_of(each));
  if (bytes_of(each) == 8) return is_met<std::uint64_t>(there, wait.value64, wait.flags);
  return is_met(static_cast<std::uint32_t>(there), static_cast<std::uint32_t>(wait.value),
                wait.flags);
}

template <class Word>
void reduce(CUdeviceptr at, Word value, CUstreamAtomicReductionOpType how) {
  std::atomic_ref word{word_at<Word>(at)};
  if (how == CU_STREAM_ATOMIC_REDUCTION_OP_ADD) {
    word.fetch_add(value);
  } else if (how == CU_STREAM_ATOMIC_REDUCTION_OP_AND) {
    word.fetch_and(value);
  } else {
    word.fetch_or(value);
  }
}

memory_area area_of(const CUstreamBatchMemOpParams& each, int device) {
  return {.first = address_of(each), .row_bytes = bytes_of(each), .device = device};
}

std::string condition(unsigned flags) {
  constexpr const char* words[] = {"at least ", "exactly ", "a bit of ", "a zero bit outside "};
  return words[flags & 3];
}

}  // namespace

unsigned bytes_of(const CUstreamBatchMemOpParams& each) noexcept {
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WAIT_VALUE_32:
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      return 4;
    case CU_STREAM_MEM_OP_WAIT_VALUE_64:
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      return 8;
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION:
      return each.atomicReduction.dataType == CU_STREAM_ATOMIC_REDUCTION_UNSIGNED_64 ? 8 : 4;
    default:
      return 0;
  }
}

CUdeviceptr address_of(const CUstreamBatchMemOpParams& each) noexcept {
  if (each.operation == CU_STREAM_MEM_OP_ATOMIC_REDUCTION) return each.atomicReduction.address;
  return each.waitValue.address;  // where a value to write has its own
}

bool writes(const CUstreamBatchMemOpParams& each) noexcept {
  return each.operation != CU_STREAM_MEM_OP_WAIT_VALUE_32 &&
         each.operation != CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

failure value_operations::execute(stream& in) {
  for (const auto& each : what_) {
    if (auto failed = execute_one(each, in)) return failed;
  }
  return {};
}

failure value_operations::check(const CUstreamBatchMemOpParams& each, stream& in) const {
  const auto area = area_of(each, device_);
  const auto problem = check_area(area);
  if (!problem) return {};
  return area_failure("operation on a value", area, *problem, in, writes(each));
}

failure value_operations::execute_one(const CUstreamBatchMemOpParams& each, stream& in) {
  if (bytes_of(each) == 0) return {};  // what a barrier orders is done already
  if (auto failed = check(each, in)) return failed;
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      std::atomic_ref{word_at<std::uint32_t>(each.writeValue.address)}.store(each.writeValue.value);
      return {};
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      std::atomic_ref{word_at<std::uint64_t>(each.writeValue.address)}.store(
          each.writeValue.value64);
      return {};
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION: {
      const auto& given = each.atomicReduction;
      if (bytes_of(each) == 8) {
        reduce<std::uint64_t>(given.address, given.value, given.reductionOp);
      } else {
        reduce(given.address, static_cast<std::uint32_t>(given.value), given.reductionOp);
      }
      return {};
    }
    default:
      return wait_for(each, in);
  }
}

// The memory may be freed, and the context destroyed, while the stream waits.
failure value_operations::wait_for(const CUstreamBatchMemOpParams& each, stream& in) {
  if (is_met(each)) return {};
  driver& d = the_driver();
  {
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(in);
  }
  const std::uint64_t looks = d.settings.step_limit / steps_per_look + 1;
  for (std::uint64_t i = 0; i < looks; ++i) {
    std::this_thread::sleep_for(pause);
    if (in.owner().cancelled() || lifecycle::is_ending()) return {};
    if (auto failed = check(each, in)) return failed;
    if (is_met(each)) return {};
  }
  const auto& wait = each.waitValue;
  const auto wanted = bytes_of(each) == 8 ? wait.value64 : wait.value;
  report::fault f;
  f.kind = report::fault_kind::deadlock;
  f.address = wait.address;
  f.bytes = bytes_of(each);
  f.device = device_;
  f.stream = in.number();
  f.detail = "the stream waits for " + condition(wait.flags) + std::to_string(wanted) + " at " +
             report::hexadecimal(wait.address) + ", where " +
             std::to_string(load(wait.address, bytes_of(each))) + " stays";
  f.hint =
      "nothing writes the value: submit what does before, or on another stream; option "
      "step_limit says how long is waited";
  f.seed = d.settings.seed;
  return {report::code(f.kind), true, std::move(f)};
}

}  // namespace halfwarp::emulator
