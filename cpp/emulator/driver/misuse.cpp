// SPDX-License-Identifier: Apache-2.0
// Reports by the option `destroyed`: keep the fault, end the process, or only note it.
#include "emulator/driver/misuse.hpp"

#include <cstdlib>
#include <utility>

namespace halfwarp::emulator {
namespace {

void tell(driver& d, report::fault_kind kind, std::string what, std::string hint) {
  if (d.settings.destroyed == destroyed_use::answer) {
    return d.report.note(report::name(kind), std::string{report::name(kind)} + ": " + what);
  }
  report::fault told;
  told.kind = kind;
  told.detail = std::move(what);
  told.hint = std::move(hint);
  told.seed = d.settings.seed;
  d.faults.record(told);
}

// The driver of a GPU would by now have read memory that is no longer the object's.
void end_as_on_hardware(const driver& d) {
  if (d.settings.destroyed == destroyed_use::abort) std::abort();
}

std::string caller() {
  const auto& call = this_call();
  std::string text = std::string{call.function} + " on thread " + std::to_string(call.thread);
  return call.site.empty() ? text : text + ", called at " + call.site;
}

}  // namespace

void tell_destroyed(driver& d, object_kind expected, std::uint64_t raw) {
  if (!d.told.emplace(raw, this_call().function).second) return;
  std::string what = caller() + ", was given " + d.objects.describe(expected, raw);
  if (d.objects.was_destroyed_during_call(raw)) what += ", while this call was under way";
  tell(d, report::fault_kind::destroyed_handle, std::move(what),
       "a GPU's driver reads freed memory here, and may end the process; keep the object until "
       "its last call has returned");
  end_as_on_hardware(d);
}

void tell_destroyed_in_use(driver& d, const object& gone, const std::string& by,
                           const std::string& user) {
  const auto raw = reinterpret_cast<std::uint64_t>(gone.handle_as<void*>());
  if (!d.told.emplace(raw, this_call().function).second) return;
  std::string what =
      "the handle of " + std::string{name(gone.kind())} + " " + std::to_string(gone.id());
  if (!gone.created_at.empty()) what += ", created at " + gone.created_at;
  what += ", was destroyed by " + by + " while " + user + " was using it";
  tell(d, report::fault_kind::destroyed_in_use, std::move(what),
       "nothing keeps the two calls apart on a GPU, where this may end the process");
  end_as_on_hardware(d);
}

void tell_freed(driver& d, report::fault_kind kind, const std::string& what) {
  tell(d, kind, caller() + ": " + what, {});
}

}  // namespace halfwarp::emulator
