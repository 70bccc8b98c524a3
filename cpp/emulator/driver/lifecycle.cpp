// SPDX-License-Identifier: Apache-2.0
// Creates the driver once, and keeps fork and exit from hanging or crashing.
#include "emulator/driver/lifecycle.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/findings/leaks.hpp"
#include "emulator/driver/findings/misuse.hpp"
#include "emulator/driver/findings/profile_log.hpp"
#include "emulator/driver/thread.hpp"
#include "emulator/driver/visible_devices.hpp"

namespace halfwarp::emulator {
namespace {

constinit driver* instance = nullptr;

struct parsed_options {
  options chosen;
  std::string problem;
};

const parsed_options& read_once() {
  static const parsed_options* const parsed = [] {
    auto* result = new parsed_options;
    result->problem = read_environment(result->chosen);
    return result;
  }();
  return *parsed;
}

std::string choice_reason;        // set before the first call
std::uint64_t whole_process = 0;  // session of option `profile`

void write_line(const std::string& text) {
  const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  (void)written;  // an error cannot be reported
}

std::string notice(const options& chosen) {
  const std::string summary =
      chosen.mode == run_mode::null
          ? "the null driver answers CUDA calls: nothing runs, results mean nothing"
          : "CUDA is emulated: kernels run on the CPU, timings say nothing about a GPU";
  return "halfwarp: " + summary + " (" + lifecycle::library_path() + ", CUDA " +
         std::to_string(CUDA_VERSION / 1000) + "." + std::to_string(CUDA_VERSION % 1000 / 10) +
         ", mode " + std::string{mode_name(chosen.mode)} + ", seed " + std::to_string(chosen.seed) +
         (choice_reason.empty() ? "" : ", because " + choice_reason) + ")\n";
}

void after_fork_in_child() { lifecycle::obstacles.fetch_or(lifecycle::obstacle::forked); }

// Several processes may append to the file.
void write_profile(driver& d) {
  const std::string& path = d.settings.profile;
  if (!the_profile_log().append(whole_process, path)) {
    d.report.note("exit", "the profile cannot be written to '" + path + "'");
  }
}

void tell_unused_rules(const driver& d) {
  for (const std::string& rule : d.faults.unused_rules()) {
    write_line("emulator: " + rule + ": no report matched this suppression\n");
  }
}

// Drops queued work at exit, since waiting for it might never end.
void at_exit() {
  const auto before = lifecycle::obstacles.fetch_or(lifecycle::obstacle::ended);
  if (before & lifecycle::obstacle::forked) return;
  driver& d = the_driver();
  const std::unique_lock guard{d.lock};
  if (const auto pending = d.streams.pending()) {
    d.report.note("exit", "the process ends with " + std::to_string(pending) +
                              " operations still queued; they are dropped");
  }
  if (!d.settings.profile.empty()) write_profile(d);
  for (const std::string& line : d.forms.lines()) d.report.note("fidelity", line);
  if (d.settings.checks_for(check::leak)) report_leaks(d);
  if (d.tells_unused_rules) tell_unused_rules(d);
}

// Starts a process, which runs the program's fork handlers as a GPU driver's helper would.
void run_helper() {
  char name[] = "true";
  char* arguments[] = {name, nullptr};
  const auto child = ::fork();
  if (child == 0) {
    ::execv("/bin/true", arguments);
    ::_exit(127);
  }
  if (child > 0) ::waitpid(child, nullptr, 0);
}

struct creation {
  CUresult code = CUDA_SUCCESS;
  std::string problem;
};

creation make_driver() {
  const auto& [chosen, problem] = read_once();
  if (!problem.empty()) return {CUDA_ERROR_INVALID_VALUE, problem};
  const char* const variable = std::getenv("CUDA_VISIBLE_DEVICES");
  const auto visible = visible_devices(chosen, variable);
  if (visible.empty()) {
    return {CUDA_ERROR_NO_DEVICE, "CUDA_VISIBLE_DEVICES='" + std::string{variable} +
                                      "' selects none of the " + std::to_string(chosen.devices) +
                                      " emulated devices; unset it to select all"};
  }
  if (chosen.fork_in_init) run_helper();
  if (!chosen.profile.empty()) {
    whole_process = the_profile_log().open(exec::profile_detail::accesses, true);
  }
  auto created = std::make_unique<driver>(chosen, visible);
  if (created->rules.arm(chosen.fail, created->problem); !created->problem.empty()) {
    return {CUDA_ERROR_INVALID_VALUE, created->problem};
  }
  instance = created.release();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atexit(at_exit);
  return {};
}

}  // namespace

namespace {

// The option was accepted when it was set, so the file has been read once.
suppressions known_findings(const options& chosen) {
  if (chosen.suppress.empty()) return {};
  std::string problem;
  return suppressions::read(chosen.suppress, problem).value_or(suppressions{});
}

}  // namespace

driver::driver(const options& chosen, std::span<const int> visible)
    : settings{chosen},
      memory{{static_cast<int>(visible.size()), chosen.memory, chosen.seed,
              chosen.checks_for(check::init), chosen.checks_for(check::neighbor)}},
      report{chosen.report},
      faults{report, known_findings(chosen), chosen.is_strict},
      streams{chosen, lock, faults, rules} {
  for (const int number : visible) {
    const auto [major, minor] = chosen.capability_of(number);
    const auto* kind = find_architecture(major, minor);
    const int ordinal = static_cast<int>(devices.size());
    devices.push_back(
        std::make_unique<device>(ordinal, number, *kind, chosen.memory, chosen.multiprocessors));
  }
  if (chosen.checks_for(check::hazard)) streams.check_hazards(memory);
  objects.on_conflict = [this](const object& destroyed, const std::string& by,
                               const std::string& user) {
    report_destroyed_in_use(*this, destroyed, by, user);
  };
}

driver& the_driver() noexcept { return *instance; }

namespace lifecycle {

constinit std::atomic<unsigned> obstacles{obstacle::uninitialized | obstacle::unannounced};

const options& chosen_options() { return read_once().chosen; }

const std::string& option_problem() { return read_once().problem; }

std::string library_path() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&library_path), &info) && info.dli_fname
             ? info.dli_fname
             : "libcuda_emulated.so";
}

void set_choice_reason(std::string_view reason) { choice_reason = reason; }

void announce() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto& [chosen, problem] = read_once();
    write_line(notice(chosen));
    if (!problem.empty()) write_line("halfwarp: " + problem + "\n");
    const bool needs_sites = chosen.checks_for(check::hazard);
    if (chosen.traces || needs_sites) obstacles.fetch_or(obstacle::tracing);
    obstacles.fetch_and(~obstacle::unannounced);
  });
}

CUresult initialize() noexcept {
  static std::mutex once;
  const std::lock_guard lock{once};
  if (instance) return CUDA_SUCCESS;
  try {
    const auto [code, problem] = make_driver();
    this_thread().note(code, problem);
    if (code != CUDA_SUCCESS) return code;
  } catch (const std::exception& e) {
    this_thread().note(CUDA_ERROR_OPERATING_SYSTEM,
                       std::string{"the emulator cannot start: "} + e.what());
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  if (instance->rules.is_armed()) obstacles.fetch_or(obstacle::injecting);
  obstacles.fetch_and(~obstacle::uninitialized);
  return CUDA_SUCCESS;
}

}  // namespace lifecycle
}  // namespace halfwarp::emulator
