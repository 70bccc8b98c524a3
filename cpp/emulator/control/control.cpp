// SPDX-License-Identifier: Apache-2.0
// The emulator's own C functions.
#include "emulator/control/control.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "emulator/api/entry_points.hpp"
#include "emulator/api/gate.hpp"
#include "emulator/api/module/module_call.hpp"
#include "emulator/control/compile_observer.hpp"
#include "emulator/control/intercepted_library.hpp"
#include "emulator/control/nvjitlink.hpp"
#include "emulator/control/nvrtc.hpp"
#include "emulator/control/records.hpp"
#include "emulator/driver/context_life.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/findings/profile_log.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"
#include "emulator/exec/marks.hpp"
#include "emulator/image/registry.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

namespace obstacle = lifecycle::obstacle;

bool is_running() {
  constexpr unsigned closed = obstacle::uninitialized | obstacle::forked;
  return (lifecycle::obstacles.load() & closed) == 0;
}

// Copies as much of `text` as fits, with a NUL, and returns the length of the whole text.
std::size_t copy_text(const std::string& text, char* buffer, std::size_t size) {
  if (size > 0) {
    const auto length = std::min(text.size(), size - 1);
    std::memcpy(buffer, text.data(), length);
    buffer[length] = '\0';
  }
  return text.size();
}

template <class Record>
std::size_t copy_record(Record record, char* buffer, std::size_t size) {
  if (!is_running()) return copy_text("null", buffer, size);
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  return copy_text(record(d), buffer, size);
}

void update_injection(const driver& d) {
  if (d.rules.is_armed()) {
    lifecycle::obstacles.fetch_or(obstacle::injecting);
  } else {
    lifecycle::obstacles.fetch_and(~obstacle::injecting);
  }
}

std::string error_text(int code) {
  const auto last = is_running() ? the_driver().faults.last() : std::nullopt;
  if (last && report::code(last->kind) == code) return report::first_line(*last);
  const auto& thread = this_thread();
  return thread.message_code == code ? thread.message : std::string{};
}

std::string device_table() {
  json_writer json;
  json.open_object();
  for (const auto& kind : all_architectures()) {
    const auto values = attributes_of(kind, 0);
    json.key(std::to_string(kind.major) + "." + std::to_string(kind.minor)).open_array();
    for (int i = 0; i < CU_DEVICE_ATTRIBUTE_MAX; ++i) json.value(values.find(i).value_or(0));
    json.close();
  }
  return json.close().text();
}

// Writes the canonical spelling of the value to `answer`; on false, the reason.
bool check_option(const char* name, const char* value, std::string& answer) {
  options scratch;
  answer = set_option(scratch, name, value);
  if (!answer.empty()) return false;
  answer = show_option(scratch, name);
  return true;
}

void describe(const device& source, halfwarp_emulated_device& result) {
  const CUuuid uuid = source.uuid();
  result = {};
  std::strcpy(result.name, device_name);
  std::memcpy(result.uuid, uuid.bytes, sizeof result.uuid);
  result.pci_domain = pci_domain;
  result.pci_bus = static_cast<unsigned>(source.number());
  result.major = source.kind().major;
  result.minor = source.kind().minor;
  result.multiprocessors = source.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
  result.cuda_version = CUDA_VERSION;
  result.memory_bus_width = source.attributes()[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH];
  result.memory_total = source.memory_bytes();
}

// Describes a device from the options, without cuInit, so that queries initialize no driver.
bool describe(int ordinal, halfwarp_emulated_device& result) {
  const options& chosen = lifecycle::chosen_options();
  if (!lifecycle::option_problem().empty() || ordinal < 0 || ordinal >= chosen.devices) {
    return false;
  }
  const auto [major, minor] = chosen.capability_of(ordinal);
  const auto& kind = *find_architecture(major, minor);
  describe(device{ordinal, ordinal, kind, chosen.memory, chosen.multiprocessors}, result);
  return true;
}

}  // namespace
}  // namespace halfwarp::emulator

#pragma GCC visibility push(default)

extern "C" {

using namespace halfwarp::emulator;

int halfwarp_emulator_is_active(void) { return is_running(); }

int halfwarp_emulator_select_per_thread_streams(int is_selected) {
  return api::per_thread_streams::select(is_selected != 0);
}

int halfwarp_emulator_allow_undefined(void* link_state) {
  const CUresult code = api::run_locked(
      [&](api::call& c) { api::allow_undefined(c, static_cast<CUlinkState>(link_state)); });
  return code == CUDA_SUCCESS;
}

int halfwarp_emulator_is_announced(void) {
  return (lifecycle::obstacles.load() & obstacle::unannounced) == 0;
}

size_t halfwarp_emulator_option_problem(char* text, size_t size) {
  return copy_text(lifecycle::option_problem(), text, size);
}

int halfwarp_emulator_check_option(const char* name, const char* value, char* text, size_t size) {
  std::string answer;
  const bool is_valid = check_option(name, value, answer);
  copy_text(answer, text, size);
  return is_valid;
}

size_t halfwarp_emulator_device_table(char* text, size_t size) {
  return copy_text(device_table(), text, size);
}

size_t halfwarp_emulator_options(char* text, size_t size) {
  return copy_text(options_record(lifecycle::chosen_options()), text, size);
}

size_t halfwarp_emulator_stats(char* text, size_t size) {
  return copy_record(stats_record, text, size);
}

size_t halfwarp_emulator_leaks(char* text, size_t size) {
  return copy_record(leaks_record, text, size);
}

size_t halfwarp_emulator_last_fault(char* text, size_t size) {
  return copy_record(fault_record, text, size);
}

size_t halfwarp_emulator_faults(char* text, size_t size) {
  return copy_record(faults_record, text, size);
}

size_t halfwarp_emulator_unused_suppressions(char* text, size_t size) {
  return copy_record(unused_rules_record, text, size);
}

size_t halfwarp_emulator_origins(uint64_t address, uint64_t bytes, char* text, size_t size) {
  if (!is_running()) return copy_text("[]", text, size);
  const driver& d = the_driver();
  const int device = std::max(d.memory.device_of(address), 0);
  if (const auto problem = d.memory.check(address, bytes, device, false)) {
    report::fault f;
    f.address = problem->first_bad;
    f.nearest = problem->nearest;
    const std::string place =
        report::hexadecimal(problem->first_bad) + " is " + report::allocation_text(f);
    return copy_text(json_writer{}.open_object().member("problem", place).close().text(), text,
                     size);
  }
  return copy_text(d.writes.origins(d.memory, address, bytes), text, size);
}

uint64_t halfwarp_emulator_profile_open(int detail, int is_merged) {
  using exec::profile_detail;
  return the_profile_log().open(detail > 1 ? profile_detail::accesses : profile_detail::executions,
                                is_merged != 0);
}

size_t halfwarp_emulator_profile_read(uint64_t session, char* text, size_t size) {
  return copy_text(the_profile_log().text(session), text, size);
}

void halfwarp_emulator_profile_close(uint64_t session) { the_profile_log().close(session); }

size_t halfwarp_emulator_error_text(int code, char* text, size_t size) {
  return copy_text(error_text(code), text, size);
}

int halfwarp_emulator_repair(void) {
  if (!is_running()) return 0;
  driver& d = the_driver();
  driver_guard guard{d.lock};
  return repair_contexts(d, guard);
}

void halfwarp_emulator_settle(void) {
  if (!is_running()) return;
  driver& d = the_driver();
  driver_guard guard{d.lock};
  synchronize_contexts(d, guard);
}

void halfwarp_emulator_reset(void) {
  if (!is_running()) return;
  driver& d = the_driver();
  driver_guard guard{d.lock};
  reset_contexts(d, guard);
  d.rules.clear();
  update_injection(d);
  api::reset_call_counts();
}

uint64_t halfwarp_emulator_arm(const char* rules, char* text, size_t size) {
  std::string problem = "the emulator is not active";
  if (is_running()) {
    driver& d = the_driver();
    if (const auto id = d.rules.arm(rules, problem)) {
      update_injection(d);
      return id;
    }
  }
  copy_text(problem, text, size);
  return 0;
}

uint64_t halfwarp_emulator_disarm(uint64_t rule, uint64_t* seen) {
  *seen = 0;
  if (!is_running()) return 0;
  driver& d = the_driver();
  const auto hits = d.rules.disarm(rule, *seen);
  update_injection(d);
  return hits;
}

void halfwarp_emulator_set_call_site_source(int (*source)(char* text, int size)) {
  set_call_site_source(source);
}

void* halfwarp_emulator_in_place_of(const char* function, void* real) {
  if (real == nullptr || control::is_ours(real)) return real;
  try {
    const std::string_view name = control::parse_exported_name(function).name;
    if (name.starts_with("nvrtc")) return control::replace_nvrtc(function, real);
    if (name.starts_with("nvJitLink")) return control::replace_nvjitlink(function, real);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory: compiled code cannot be emulated\n", stderr);
  }
  return real;
}

void halfwarp_emulator_observe_compiles(void (*observer)(const char* json, size_t size)) {
  control::set_compile_observer(observer);
}

size_t halfwarp_emulator_mark_counts(char* text, size_t size) {
  json_writer json;
  json.open_array();
  for (const std::uint64_t each : exec::mark_totals()) json.value(each);
  return copy_text(json.close().text(), text, size);
}

void halfwarp_emulator_register_cubin(const void* cubin, size_t size, const char* ptx) {
  image::compiled_cubins().add({static_cast<const std::byte*>(cubin), size}, ptx);
}

void halfwarp_emulator_substitute_ptx(const char* ptx, const char* substitute) {
  image::substitute_ptx(ptx, substitute);
}

int halfwarp_emulator_device(int ordinal, halfwarp_emulated_device* device) {
  lifecycle::announce();
  return describe(ordinal, *device);
}

halfwarp_emulated_use halfwarp_emulator_use(int number) {
  if (!is_running()) return {};
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  for (const auto& each : d.devices) {
    if (each->number() != number) continue;
    const auto used = d.memory.device_usage(each->ordinal()).used;
    return {used, each->primary_retains > 0 || used > 0};
  }
  return {};  // not visible to this process
}

void halfwarp_emulator_own(const void* handle) {
  if (!is_running()) return;
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  d.objects.mark_library_owned(reinterpret_cast<std::uint64_t>(handle));
}

void halfwarp_emulator_graphics_object(unsigned name, uint64_t bytes, uint64_t width,
                                       uint64_t height, int format, unsigned channels) {
  if (!is_running()) return;
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  graphics_object description{bytes, {}};
  description.picture.Width = width;
  description.picture.Height = height;
  description.picture.Format = static_cast<CUarray_format>(format);
  description.picture.NumChannels = channels;
  if (bytes || width) {
    d.graphics[name] = description;
  } else {
    d.graphics.erase(name);
  }
}

}  // extern "C"

#pragma GCC visibility pop
