// SPDX-License-Identifier: Apache-2.0
// Makes the driver once, and sees to it that fork and exit neither hang nor crash.
#include "emulator/driver/lifecycle.hpp"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <mutex>

#include "emulator/driver/driver.hpp"
#include "emulator/driver/leaks.hpp"
#include "emulator/driver/misuse.hpp"
#include "emulator/driver/thread.hpp"

namespace halfwarp::emulator {
namespace {

constinit driver* instance = nullptr;

struct reading {
  options chosen;
  std::string problem;
};

const reading& read_once() {
  static const reading* const result = [] {
    auto* made = new reading;
    made->problem = read_environment(made->chosen);
    return made;
  }();
  return *result;
}

std::string reason;  // written before the first call

void write_line(const std::string& text) {
  const auto written = ::write(STDERR_FILENO, text.data(), text.size());
  (void)written;  // nowhere to complain to
}

std::string notice(const options& chosen) {
  const std::string what =
      chosen.mode == run_mode::null
          ? "the null driver answers CUDA calls: nothing runs, results mean nothing"
          : "CUDA is emulated: kernels run on the CPU, timings say nothing about a GPU";
  return "halfwarp: " + what + " (" + lifecycle::library_path() + ", CUDA " +
         std::to_string(CUDA_VERSION / 1000) + "." + std::to_string(CUDA_VERSION % 1000 / 10) +
         ", mode " + std::string{mode_name(chosen.mode)} + ", seed " + std::to_string(chosen.seed) +
         (reason.empty() ? "" : ", because " + reason) + ")\n";
}

void after_fork_in_child() { lifecycle::obstacles.fetch_or(lifecycle::obstacle::forked); }

// Work that is still queued is dropped: waiting for it could take for ever.
void at_exit() {
  const auto before = lifecycle::obstacles.fetch_or(lifecycle::obstacle::ended);
  if (before & lifecycle::obstacle::forked) return;
  driver& d = the_driver();
  const std::unique_lock guard{d.lock};
  if (const auto pending = d.streams.pending()) {
    d.report.note("exit", "the process ends with " + std::to_string(pending) +
                              " operations still queued; they are dropped");
  }
  if (d.settings.checks_for(check::leak)) report_leaks(d);
}

// The driver of a GPU may start a helper program, and so runs the fork handlers of the process.
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

std::string make_driver() {
  const auto& [chosen, problem] = read_once();
  if (!problem.empty()) return problem;
  if (chosen.fork_in_init) run_helper();
  auto made = std::make_unique<driver>(chosen);
  if (made->rules.arm(chosen.fail, made->problem); !made->problem.empty()) return made->problem;
  instance = made.release();
  pthread_atfork(nullptr, nullptr, after_fork_in_child);
  std::atexit(at_exit);
  return {};
}

}  // namespace

driver::driver(const options& chosen)
    : settings{chosen},
      memory{{chosen.devices, chosen.memory, chosen.seed}},
      report{chosen.report},
      faults{report},
      streams{chosen.mode, chosen.seed, lock, faults, rules} {
  for (int i = 0; i < chosen.devices; ++i) {
    const auto [major, minor] = chosen.capability_of(i);
    const auto* kind = find_architecture(major, minor);
    devices.push_back(std::make_unique<device>(i, *kind, chosen.memory, chosen.multiprocessors));
  }
  objects.on_conflict = [this](const object& gone, const std::string& by, const std::string& user) {
    tell_destroyed_in_use(*this, gone, by, user);
  };
}

driver& the_driver() noexcept { return *instance; }

namespace lifecycle {

constinit std::atomic<unsigned> obstacles{obstacle::uninitialised | obstacle::unannounced};

const options& chosen_options() { return read_once().chosen; }

const std::string& option_problem() { return read_once().problem; }

std::string library_path() {
  Dl_info info{};
  return dladdr(reinterpret_cast<const void*>(&library_path), &info) && info.dli_fname
             ? info.dli_fname
             : "libcuda_emulated.so";
}

void explain_choice(std::string_view why) { reason = why; }

void announce() noexcept {
  static std::once_flag once;
  std::call_once(once, [] {
    const auto& [chosen, problem] = read_once();
    write_line(notice(chosen));
    if (!problem.empty()) write_line("halfwarp: " + problem + "\n");
    if (chosen.traces) obstacles.fetch_or(obstacle::tracing);
    obstacles.fetch_and(~obstacle::unannounced);
  });
}

CUresult initialise() noexcept {
  static std::mutex once;
  const std::lock_guard lock{once};
  if (instance) return CUDA_SUCCESS;
  try {
    const std::string problem = make_driver();
    this_thread().note(CUDA_ERROR_INVALID_VALUE, problem);
    if (!problem.empty()) return CUDA_ERROR_INVALID_VALUE;
  } catch (const std::exception& e) {
    this_thread().note(CUDA_ERROR_OPERATING_SYSTEM,
                       std::string{"the emulator cannot start: "} + e.what());
    return CUDA_ERROR_OPERATING_SYSTEM;
  }
  if (instance->rules.is_armed()) obstacles.fetch_or(obstacle::injecting);
  obstacles.fetch_and(~obstacle::uninitialised);
  return CUDA_SUCCESS;
}

}  // namespace lifecycle
}  // namespace halfwarp::emulator
