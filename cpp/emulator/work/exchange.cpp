// SPDX-License-Identifier: Apache-2.0
// Checks the memory of an exchange and advances it until it is complete.
#include "emulator/work/exchange.hpp"

#include <mutex>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/memory/written_bytes.hpp"
#include "emulator/stream/context.hpp"
#include "emulator/stream/schedule/interruption.hpp"
#include "emulator/work/memory_operations.hpp"

namespace halfwarp::emulator {

std::optional<failure> exchange::check_ranges(stream& target) const {
  for (const auto& range : ranges_) {
    if (range.bytes == 0) continue;
    const memory_area area{.first = range.first, .row_bytes = range.bytes, .device = device_};
    const auto problem = check_area(area);
    if (!problem) continue;
    return area_failure(title_, area, *problem, target, range.use == byte_use::write);
  }
  return {};
}

void exchange::note_writes() const {
  driver& d = the_driver();
  for (const auto& range : ranges_) {
    if (range.use != byte_use::write || range.bytes == 0) continue;
    if (const auto* states = d.memory.states()) {
      states->mark(range.first, range.bytes, memory::written);
    }
    if (d.settings.checks_for(check::race | check::init)) {
      d.writes.add({title_, {}, nullptr, d.memory.next_sequence(), range.first, range.bytes});
    }
  }
}

// Checks the memory after each wait, since the program may have freed it.
failure exchange::run(void* execution, stream& target, bool& is_complete) {
  driver& d = the_driver();
  std::vector<unsigned char*> views;
  for (const auto& range : ranges_) {
    views.push_back(range.bytes ? reinterpret_cast<unsigned char*>(d.memory.view(range.first))
                                : nullptr);
  }
  const std::uint64_t before = interruptions.load(std::memory_order_relaxed);
  for (bool has_waited = false;; has_waited = true) {
    if (auto failed = check_ranges(target)) return *std::move(failed);
    int code = CUDA_SUCCESS;
    const auto outcome = functions_.step(execution, views.data(), has_waited, &code);
    if (outcome == exchange_functions::done) {
      is_complete = true;
      return {};
    }
    if (outcome == exchange_functions::failed) {
      is_complete = true;
      return {static_cast<CUresult>(code), false, {}};
    }
    if (target.owner().canceled() || lifecycle::is_ending()) return {};
    if (interruptions.load(std::memory_order_relaxed) != before) {
      return {CUDA_ERROR_LAUNCH_FAILED, false, {}};
    }
    const std::lock_guard guard{d.lock};
    d.streams.may_wait(target);
    d.streams.demand_others();
  }
}

failure exchange::execute(stream& target) {
  bool is_complete = false;
  void* const execution = functions_.begin(functions_.data);
  failure result = run(execution, target, is_complete);
  functions_.end(execution, is_complete);
  if (!result) note_writes();
  return result;
}

}  // namespace halfwarp::emulator
