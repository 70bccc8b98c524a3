// SPDX-License-Identifier: Apache-2.0
// The functions of the emulator for libraries that exchange data between ranks.
#include <cstdio>
#include <memory>
#include <vector>

#include "emulator/api/call.hpp"
#include "emulator/control/control.h"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/sharing/process.hpp"
#include "emulator/work/exchange.hpp"

namespace halfwarp::emulator {
namespace {

constexpr unsigned number(exchange_functions::outcome value) { return value; }
static_assert(number(exchange_functions::done) == halfwarp_exchange_done);
static_assert(number(exchange_functions::failed) == halfwarp_exchange_failed);

std::shared_ptr<exchange> make_exchange(const halfwarp_exchange& source) {
  std::vector<byte_range> ranges;
  for (size_t i = 0; i < source.range_count; ++i) {
    const auto& range = source.ranges[i];
    ranges.push_back(
        {range.address, range.bytes, range.is_write ? byte_use::write : byte_use::read});
  }
  const exchange_functions functions{source.data, source.begin, source.step, source.end,
                                     source.release};
  return std::make_shared<exchange>(source.title, source.device, std::move(ranges), functions);
}

}  // namespace
}  // namespace halfwarp::emulator

#pragma GCC visibility push(default)

extern "C" {

using namespace halfwarp::emulator;

int halfwarp_emulator_enqueue_exchange(void* stream, const struct halfwarp_exchange* source) {
  if (lifecycle::chosen_options().mode == run_mode::null) {  // nothing runs
    source->release(source->data);
    return CUDA_SUCCESS;
  }
  return api::run_locked([&](api::call& c) {
    const auto target = c.stream_of(static_cast<CUstream>(stream));
    const auto work = make_exchange(*source);
    try {
      c.submit(*target, work);
    } catch (...) {
      work->disown();
      throw;
    }
  });
}

unsigned halfwarp_emulator_nccl_limit(void) { return lifecycle::chosen_options().nccl_limit; }

void halfwarp_emulator_report(const char* kind, const char* text) {
  if (!halfwarp_emulator_is_active()) {
    std::fprintf(stderr, "emulator: %s\n", text);
    return;
  }
  the_driver().report.note(kind, text);
}

uint64_t halfwarp_emulator_process_start(int number) { return sharing::start_of(number); }

}  // extern "C"

#pragma GCC visibility pop
