// SPDX-License-Identifier: Apache-2.0
// The emulator's own C functions.
#include "emulator/control/control.h"

#include <algorithm>
#include <cstring>
#include <string>

#include "emulator/api/gate.hpp"
#include "emulator/control/followed.hpp"
#include "emulator/control/nvjitlink.hpp"
#include "emulator/control/nvrtc.hpp"
#include "emulator/control/records.hpp"
#include "emulator/driver/context_life.hpp"
#include "emulator/driver/driver.hpp"
#include "emulator/driver/lifecycle.hpp"
#include "emulator/driver/thread.hpp"
#include "emulator/object/current_call.hpp"
#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

namespace obstacle = lifecycle::obstacle;

bool is_running() {
  constexpr unsigned closed = obstacle::uninitialised | obstacle::forked;
  return (lifecycle::obstacles.load() & closed) == 0;
}

std::size_t hand_over(const std::string& text, char* into, std::size_t size) {
  if (size > 0) {
    const auto length = std::min(text.size(), size - 1);
    std::memcpy(into, text.data(), length);
    into[length] = '\0';
  }
  return text.size();
}

template <class Record>
std::size_t hand_over_record(Record record, char* into, std::size_t size) {
  if (!is_running()) return hand_over("null", into, size);
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  return hand_over(record(d), into, size);
}

void note_injection(const driver& d) {
  if (d.rules.is_armed()) {
    lifecycle::obstacles.fetch_or(obstacle::injecting);
  } else {
    lifecycle::obstacles.fetch_and(~obstacle::injecting);
  }
}

std::string text_behind(int code) {
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

// The value in its canonical spelling; false: `answer` says what is wrong with it.
bool check_option(const char* name, const char* value, std::string& answer) {
  options scratch;
  answer = set_option(scratch, name, value);
  if (!answer.empty()) return false;
  answer = show_option(scratch, name);
  return true;
}

void describe(const device& of, halfwarp_emulated_device& into) {
  const CUuuid uuid = of.uuid();
  into = {};
  std::strcpy(into.name, device_name);
  std::memcpy(into.uuid, uuid.bytes, sizeof into.uuid);
  into.pci_domain = pci_domain;
  into.pci_bus = static_cast<unsigned>(of.ordinal());
  into.major = of.kind().major;
  into.minor = of.kind().minor;
  into.multiprocessors = of.attributes()[CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT];
  into.cuda_version = CUDA_VERSION;
  into.memory_bus_width = of.attributes()[CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH];
  into.memory_total = of.memory_bytes();
}

// The devices that cuInit makes, or would make: who only looks at devices starts no driver.
bool describe(int ordinal, halfwarp_emulated_device& into) {
  const options& chosen = lifecycle::chosen_options();
  if (!lifecycle::option_problem().empty() || ordinal < 0 || ordinal >= chosen.devices) {
    return false;
  }
  const auto [major, minor] = chosen.capability_of(ordinal);
  const auto& kind = *find_architecture(major, minor);
  describe(device{ordinal, kind, chosen.memory, chosen.multiprocessors}, into);
  return true;
}

}  // namespace
}  // namespace halfwarp::emulator

#pragma GCC visibility push(default)

extern "C" {

using namespace halfwarp::emulator;

int halfwarp_emulator_is_active(void) { return is_running(); }

int halfwarp_emulator_is_announced(void) {
  return (lifecycle::obstacles.load() & obstacle::unannounced) == 0;
}

size_t halfwarp_emulator_option_problem(char* text, size_t size) {
  return hand_over(lifecycle::option_problem(), text, size);
}

int halfwarp_emulator_check_option(const char* name, const char* value, char* text, size_t size) {
  std::string answer;
  const bool is_good = check_option(name, value, answer);
  hand_over(answer, text, size);
  return is_good;
}

size_t halfwarp_emulator_device_table(char* text, size_t size) {
  return hand_over(device_table(), text, size);
}

size_t halfwarp_emulator_options(char* text, size_t size) {
  return hand_over(options_record(lifecycle::chosen_options()), text, size);
}

size_t halfwarp_emulator_stats(char* text, size_t size) {
  return hand_over_record(stats_record, text, size);
}

size_t halfwarp_emulator_leaks(char* text, size_t size) {
  return hand_over_record(leaks_record, text, size);
}

size_t halfwarp_emulator_last_fault(char* text, size_t size) {
  return hand_over_record(fault_record, text, size);
}

size_t halfwarp_emulator_faults(char* text, size_t size) {
  return hand_over_record(faults_record, text, size);
}

size_t halfwarp_emulator_error_text(int code, char* text, size_t size) {
  return hand_over(text_behind(code), text, size);
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
  settle_contexts(d, guard);
}

void halfwarp_emulator_reset(void) {
  if (!is_running()) return;
  driver& d = the_driver();
  driver_guard guard{d.lock};
  reset_contexts(d, guard);
  d.rules.clear();
  note_injection(d);
  api::forget_calls();
}

uint64_t halfwarp_emulator_arm(const char* rules, char* text, size_t size) {
  std::string problem = "the emulator is not active";
  if (is_running()) {
    driver& d = the_driver();
    if (const auto id = d.rules.arm(rules, problem)) {
      note_injection(d);
      return id;
    }
  }
  hand_over(problem, text, size);
  return 0;
}

uint64_t halfwarp_emulator_disarm(uint64_t rule, uint64_t* seen) {
  *seen = 0;
  if (!is_running()) return 0;
  driver& d = the_driver();
  const auto hits = d.rules.disarm(rule, *seen);
  note_injection(d);
  return hits;
}

void halfwarp_emulator_set_call_site_source(int (*source)(char* text, int size)) {
  set_call_site_source(source);
}

void* halfwarp_emulator_in_place_of(const char* function, void* real) {
  if (real == nullptr || control::is_ours(real)) return real;
  try {
    const std::string_view name = control::parsed(function).name;
    if (name.starts_with("nvrtc")) return control::in_place_of_nvrtc(function, real);
    if (name.starts_with("nvJitLink")) return control::in_place_of_nvjitlink(function, real);
  } catch (const std::bad_alloc&) {
    std::fputs("emulator: out of memory: what is compiled cannot be run here\n", stderr);
  }
  return real;
}

int halfwarp_emulator_device(int ordinal, halfwarp_emulated_device* device) {
  lifecycle::announce();
  return describe(ordinal, *device);
}

halfwarp_emulated_use halfwarp_emulator_use(int ordinal) {
  if (!is_running()) return {};
  driver& d = the_driver();
  const std::lock_guard guard{d.lock};
  const auto used = d.memory.device_usage(ordinal).used;
  const device& of = *d.devices[static_cast<std::size_t>(ordinal)];
  return {used, of.primary_retains > 0 || used > 0};
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
  graphics_object is{bytes, {}};
  is.picture.Width = width;
  is.picture.Height = height;
  is.picture.Format = static_cast<CUarray_format>(format);
  is.picture.NumChannels = channels;
  if (bytes || width) {
    d.graphics[name] = is;
  } else {
    d.graphics.erase(name);
  }
}

}  // extern "C"

#pragma GCC visibility pop
