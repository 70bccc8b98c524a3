// SPDX-License-Identifier: Apache-2.0
// A link by the driver: the link state, its options and its logs.
#include "core/module/link_state.hpp"

#include <cstring>
#include <utility>

namespace halfwarp::core {
namespace {

void add(link_facts& facts, CUjit_option name, void* value) {
  facts.names.push_back(name);
  facts.values.push_back(value);
}

// Allocates a log as zero pages, so that only the written part is committed.
std::unique_ptr<char[]> add_log(link_facts& facts, CUjit_option buffer, CUjit_option size) {
  auto log = std::make_unique<char[]>(link_facts::log_capacity);
  add(facts, buffer, log.get());
  add(facts, size, reinterpret_cast<void*>(link_facts::log_capacity));
  return log;
}

std::string log_text(const std::unique_ptr<char[]>& log) {
  return {log.get(), strnlen(log.get(), link_facts::log_capacity)};
}

}  // namespace

link_state_handle create_link_state(const std::vector<link_option>& options) {
  link_facts facts;
  for (const link_option& each : options) {
    add(facts, each.name, reinterpret_cast<void*>(each.value));
  }
  facts.error_log = add_log(facts, CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES);
  facts.info_log = add_log(facts, CU_JIT_INFO_LOG_BUFFER, CU_JIT_INFO_LOG_BUFFER_SIZE_BYTES);
  const auto count = static_cast<unsigned>(facts.names.size());
  CUjit_option* const names = facts.names.data();  // the move below does not change the addresses
  void** const values = facts.values.data();
  return link_state_handle::own(
      current_context(), std::move(facts), [count, names, values](CUlinkState* raw) {
        driver::call(driver::table->cuLinkCreate, count, names, values, raw);
      });
}

std::string error_log_of(const link_state_handle& link) { return log_text(link.facts().error_log); }

std::string info_log_of(const link_state_handle& link) { return log_text(link.facts().info_log); }

}  // namespace halfwarp::core
