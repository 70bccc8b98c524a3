// SPDX-License-Identifier: Apache-2.0
// Follows the option `destroyed`: record a fault, abort the process, or print a note.
#include "emulator/driver/findings/misuse.hpp"

#include <cstdlib>
#include <utility>

namespace halfwarp::emulator {
namespace {

void report_misuse(driver& d, report::fault_kind kind, std::string detail, std::string hint) {
  if (d.settings.destroyed == destroyed_use::answer) {
    return d.report.note(report::name(kind), std::string{report::name(kind)} + ": " + detail);
  }
  report::fault fault;
  fault.kind = kind;
  fault.detail = std::move(detail);
  fault.hint = std::move(hint);
  fault.seed = d.settings.seed;
  d.faults.record(fault);
}

// Aborts if the option says so, since a GPU driver would have read freed memory.
void abort_if_requested(const driver& d) {
  if (d.settings.destroyed == destroyed_use::abort) std::abort();
}

std::string caller() {
  const auto& call = this_call();
  std::string text = std::string{call.function} + " on thread " + std::to_string(call.thread);
  return call.site.empty() ? text : text + ", called at " + call.site;
}

}  // namespace

void report_destroyed(driver& d, object_kind expected, std::uint64_t raw) {
  if (!d.reported_handles.emplace(raw, this_call().function).second) return;
  std::string detail = caller() + ", was given " + d.objects.describe(expected, raw);
  if (d.objects.was_destroyed_during_call(raw)) detail += ", destroyed during this call";
  report_misuse(d, report::fault_kind::destroyed_handle, std::move(detail),
                "a GPU driver reads freed memory here and may crash; keep the object until its "
                "last call has returned");
  abort_if_requested(d);
}

void report_destroyed_in_use(driver& d, const object& destroyed, const std::string& by_function,
                             const std::string& user) {
  const auto raw = reinterpret_cast<std::uint64_t>(destroyed.handle_as<void*>());
  if (!d.reported_handles.emplace(raw, this_call().function).second) return;
  std::string detail =
      "the handle of " + std::string{name(destroyed.kind())} + " " + std::to_string(destroyed.id());
  if (!destroyed.created_at.empty()) detail += ", created at " + destroyed.created_at;
  detail += ", was destroyed by " + by_function + " while " + user + " was using it";
  report_misuse(d, report::fault_kind::destroyed_in_use, std::move(detail),
                "a GPU driver does not serialize the two calls and may crash");
  abort_if_requested(d);
}

void report_freed(driver& d, report::fault_kind kind, const std::string& detail) {
  report_misuse(d, kind, caller() + ": " + detail, {});
}

}  // namespace halfwarp::emulator
