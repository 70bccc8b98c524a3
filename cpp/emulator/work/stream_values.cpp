// SPDX-License-Identifier: Apache-2.0
// Writes, waits and reductions of stream values.
#include "emulator/work/stream_values.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <string>
#include <thread>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/memory/written_bytes.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/schedule/interruption.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator {
namespace {

constexpr std::chrono::microseconds poll_interval{20};
// Number of instructions of the step limit that one poll of the value counts as.
constexpr unsigned steps_per_poll = 1 << 15;

template <class Word>
Word& word_at(CUdeviceptr address) {
  return *reinterpret_cast<Word*>(the_driver().memory.view(address));
}

std::uint64_t load(CUdeviceptr address, unsigned bytes) {
  if (bytes == 8) return std::atomic_ref{word_at<std::uint64_t>(address)}.load();
  return std::atomic_ref{word_at<std::uint32_t>(address)}.load();
}

template <class Word>
bool is_satisfied(Word current, Word expected, unsigned flags) {
  switch (flags & ~CU_STREAM_WAIT_VALUE_FLUSH) {
    case CU_STREAM_WAIT_VALUE_GEQ:  // cyclic: a counter may wrap around
      return static_cast<std::make_signed_t<Word>>(current - expected) >= 0;
    case CU_STREAM_WAIT_VALUE_EQ:
      return current == expected;
    case CU_STREAM_WAIT_VALUE_AND:
      return (current & expected) != 0;
    default:
      return static_cast<Word>(~(current | expected)) != 0;
  }
}

bool is_satisfied(const CUstreamBatchMemOpParams& each) {
  const auto& wait = each.waitValue;
  const std::uint64_t current = load(wait.address, bytes_of(each));
  if (bytes_of(each) == 8) return is_satisfied<std::uint64_t>(current, wait.value64, wait.flags);
  return is_satisfied(static_cast<std::uint32_t>(current), static_cast<std::uint32_t>(wait.value),
                      wait.flags);
}

template <class Word>
void reduce(CUdeviceptr address, Word value, CUstreamAtomicReductionOpType type) {
  std::atomic_ref word{word_at<Word>(address)};
  if (type == CU_STREAM_ATOMIC_REDUCTION_OP_ADD) {
    word.fetch_add(value);
  } else if (type == CU_STREAM_ATOMIC_REDUCTION_OP_AND) {
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
  return each.waitValue.address;  // the same member as in writeValue
}

bool writes(const CUstreamBatchMemOpParams& each) noexcept {
  return each.operation != CU_STREAM_MEM_OP_WAIT_VALUE_32 &&
         each.operation != CU_STREAM_MEM_OP_WAIT_VALUE_64;
}

std::vector<byte_range> value_operations::ranges() const {
  std::vector<byte_range> all;
  for (const auto& each : operations_) {
    if (bytes_of(each)) all.push_back({address_of(each), bytes_of(each), byte_use::update});
  }
  return all;
}

void value_operations::describe(CUgraphNodeParams& params) const {
  params.type = CU_GRAPH_NODE_TYPE_BATCH_MEM_OP;
  params.memOp.count = static_cast<unsigned>(operations_.size());
  params.memOp.paramArray = operations_.data();
}

bool value_operations::waits_for_value() const noexcept {
  return std::ranges::any_of(operations_,
                             [](const auto& each) { return bytes_of(each) && !writes(each); });
}

failure value_operations::execute(stream& target) {
  for (const auto& each : operations_) {
    if (auto failed = execute_one(each, target)) return failed;
  }
  return {};
}

failure value_operations::check(const CUstreamBatchMemOpParams& each, stream& target) const {
  const auto area = area_of(each, device_);
  const auto problem = check_area(area);
  if (!problem) return {};
  return area_failure("value operation", area, *problem, target, writes(each));
}

failure value_operations::execute_one(const CUstreamBatchMemOpParams& each, stream& target) {
  if (bytes_of(each) == 0) return {};  // a barrier: earlier operations are complete
  if (auto failed = check(each, target)) return failed;
  if (const auto* states = the_driver().memory.states(); states && writes(each)) {
    states->mark(address_of(each), bytes_of(each), memory::written);
  }
  switch (each.operation) {
    case CU_STREAM_MEM_OP_WRITE_VALUE_32:
      std::atomic_ref{word_at<std::uint32_t>(each.writeValue.address)}.store(each.writeValue.value);
      return {};
    case CU_STREAM_MEM_OP_WRITE_VALUE_64:
      std::atomic_ref{word_at<std::uint64_t>(each.writeValue.address)}.store(
          each.writeValue.value64);
      return {};
    case CU_STREAM_MEM_OP_ATOMIC_REDUCTION: {
      const auto& params = each.atomicReduction;
      if (bytes_of(each) == 8) {
        reduce<std::uint64_t>(params.address, params.value, params.reductionOp);
      } else {
        reduce(params.address, static_cast<std::uint32_t>(params.value), params.reductionOp);
      }
      return {};
    }
    default:
      return wait_for(each, target);
  }
}

// Checks at each poll: the memory may be freed, or the context destroyed, during the wait.
failure value_operations::wait_for(const CUstreamBatchMemOpParams& each, stream& target) {
  if (is_satisfied(each)) return {};
  driver& d = the_driver();
  {
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(target);
  }
  const std::uint64_t before = interruptions.load(std::memory_order_relaxed);
  const std::uint64_t polls = d.settings.step_limit / steps_per_poll + 1;
  for (std::uint64_t i = 0; i < polls; ++i) {
    std::this_thread::sleep_for(poll_interval);
    if (target.owner().canceled() || lifecycle::is_ending()) return {};
    if (auto failed = check(each, target)) return failed;
    if (is_satisfied(each)) return {};
    if (interruptions.load(std::memory_order_relaxed) != before) {
      return unmet(each, target, report::fault_kind::interrupted, "SIGINT (Ctrl-C) ended the wait");
    }
  }
  return unmet(each, target, report::fault_kind::deadlock,
               "no operation writes the value: submit the write earlier or in another stream; "
               "option step_limit limits the wait");
}

failure value_operations::unmet(const CUstreamBatchMemOpParams& each, const stream& target,
                                report::fault_kind kind, std::string hint) const {
  const auto& wait = each.waitValue;
  const auto expected = bytes_of(each) == 8 ? wait.value64 : wait.value;
  report::fault f;
  f.kind = kind;
  f.address = wait.address;
  f.bytes = bytes_of(each);
  f.device = device_;
  f.stream = target.number();
  f.detail = "the stream waits for " + condition(wait.flags) + std::to_string(expected) + " at " +
             report::hexadecimal(wait.address) + ", where " +
             std::to_string(load(wait.address, bytes_of(each))) + " stays";
  f.hint = std::move(hint);
  f.seed = the_driver().settings.seed;
  return {report::code(f.kind), true, std::move(f)};
}

}  // namespace halfwarp::emulator
