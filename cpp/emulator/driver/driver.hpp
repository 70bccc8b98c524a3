// SPDX-License-Identifier: Apache-2.0
// The state of the emulated driver: one per process, never destroyed.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "emulator/device/array.hpp"
#include "emulator/device/device.hpp"
#include "emulator/device/managed_ranges.hpp"
#include "emulator/driver/callback_thread.hpp"
#include "emulator/driver/findings/form_log.hpp"
#include "emulator/image/registry.hpp"
#include "emulator/memory/address_space.hpp"
#include "emulator/object/object_table.hpp"
#include "emulator/observation/fault_log.hpp"
#include "emulator/observation/injection.hpp"
#include "emulator/observation/report_stream.hpp"
#include "emulator/observation/write_log.hpp"
#include "emulator/settings/options.hpp"
#include "emulator/stream/schedule/scheduler.hpp"
#include "emulator/texture/binding.hpp"

namespace halfwarp::emulator {

struct capture;
class graph_memory;

// Memory of another process that cuIpcOpenMemHandle mapped.
struct opened_handle {
  CUipcMemHandle handle;
  memory::address address = 0;
  unsigned references = 0;
};

// Created by lifecycle::initialize from the options. Never freed: worker threads may use it until
// the process ends.
struct driver {
  driver(const options& chosen, std::span<const int> visible);  // numbers of devices

  const options settings;
  std::string problem;  // of the options, during initialization
  std::mutex lock;      // guards every member that is not documented as thread-safe
  object_table objects;
  std::set<std::pair<std::uint64_t, std::string_view>>
      reported_handles;  // destroyed handles, with the function of the report
  std::vector<std::unique_ptr<device>> devices;
  std::shared_ptr<memory_pool> host_pool, current_host_pool;  // for pinned memory
  std::vector<std::shared_ptr<memory_pool>> pools;  // every pool that holds or may hold memory
  std::set<std::uint64_t> synchronous;              // sequences of allocations with ..._SYNC_MEMOPS
  std::set<std::uint64_t> being_freed;              // sequences of allocations whose free is queued
  memory::address_space memory;
  managed_ranges managed;
  report_stream report;
  fault_log faults;
  write_log writes;
  form_log forms;  // if option `fidelity` is set
  injection rules;
  scheduler streams;
  std::map<unsigned, graphics_object> graphics;  // by the name of the graphics library
  texture::binding_table textures;
  std::atomic<std::uint64_t> launches{0}, instructions{0};
  std::vector<std::shared_ptr<capture>> captures;  // in progress
  std::uint64_t captures_begun = 0;
  std::map<memory::address, std::weak_ptr<graph_memory>> graph_memories;  // by address
  std::set<std::shared_ptr<graph_memory>> unfreed;  // allocations that outlived their launch
  std::map<memory::address, opened_handle> opened_handles;  // by address
  callback_thread callbacks;                                // destructors of user objects
  std::uint64_t grids = 0;                                  // number of launches, for %gridid
  CUprocessState process_state = CU_PROCESS_STATE_RUNNING;  // of checkpoints
  bool tells_unused_rules = true;  // of known findings, at the end of the process
};

// Returns the driver. Call only after lifecycle::initialize succeeded; the gate ensures this.
driver& the_driver() noexcept;

}  // namespace halfwarp::emulator
