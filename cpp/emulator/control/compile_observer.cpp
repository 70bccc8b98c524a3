// SPDX-License-Identifier: Apache-2.0
// Records the sources of NVRTC programs for the observer.
#include "emulator/control/compile_observer.hpp"

#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "emulator/control/intercepted_library.hpp"
#include "emulator/observation/json.hpp"

namespace halfwarp::emulator::control {
namespace {

struct source {
  std::string text, name;
  std::vector<std::pair<std::string, std::string>> headers;  // name and content
  std::vector<std::string> expressions;
};

std::atomic<compile_observer> current_observer{nullptr};
thread_local bool is_observer_running = false;

// Never destroyed: programs are destroyed until the process ends. interception_lock() guards it.
std::map<void*, source>& sources() {
  static auto* const all = new std::map<void*, source>;
  return *all;
}

const char* text_of(const char* text) { return text == nullptr ? "" : text; }

void write_texts(json_writer& json, std::string_view key, const auto& texts) {
  json.key(key).open_array();
  for (const auto& each : texts) json.value(std::string_view{each});
  json.close();
}

std::string json_of(const source& compiled, std::span<const char* const> options,
                    const std::string& ptx) {
  json_writer json;
  json.open_object().member("text", compiled.text).member("name", compiled.name);
  json.key("headers").open_array();
  for (const auto& [name, content] : compiled.headers) {
    json.open_array().value(name).value(content).close();
  }
  json.close();
  write_texts(json, "expressions", compiled.expressions);
  write_texts(json, "options", options);
  return json.member("ptx", ptx.c_str()).close().text();
}

}  // namespace

bool is_observing() noexcept { return current_observer && !is_observer_running; }

void set_compile_observer(compile_observer observer) noexcept { current_observer = observer; }

void record_source(void* program, const char* text, const char* name, int headers,
                   const char* const* contents, const char* const* names) noexcept {
  if (!is_observing()) return;
  try {
    source created{text_of(text), text_of(name), {}, {}};
    for (int i = 0; i < headers; ++i) created.headers.emplace_back(names[i], contents[i]);
    const std::lock_guard guard{interception_lock()};
    sources()[program] = std::move(created);
  } catch (const std::bad_alloc&) {
    erase_source(program);
  }
}

void record_expression(void* program, const char* expression) noexcept {
  const std::lock_guard guard{interception_lock()};
  const auto match = sources().find(program);
  if (match == sources().end()) return;
  try {
    match->second.expressions.emplace_back(expression);
  } catch (const std::bad_alloc&) {
    sources().erase(match);
  }
}

void erase_source(void* program) noexcept {
  const std::lock_guard guard{interception_lock()};
  sources().erase(program);
}

bool is_observed(void* program) noexcept {
  if (!is_observing()) return false;
  const std::lock_guard guard{interception_lock()};
  return sources().contains(program);
}

void report_compilation(void* program, std::span<const char* const> options,
                        const std::string& ptx) {
  std::string json;
  {
    const std::lock_guard guard{interception_lock()};
    const auto match = sources().find(program);
    if (match == sources().end()) return;
    json = json_of(match->second, options, ptx);
  }
  const compile_observer observer = current_observer;
  if (observer == nullptr) return;
  is_observer_running = true;
  observer(json.data(), json.size());
  is_observer_running = false;
}

}  // namespace halfwarp::emulator::control
