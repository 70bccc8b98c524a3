// SPDX-License-Identifier: Apache-2.0
// Writes the state of the driver as JSON.
#include "emulator/control/records.hpp"

#include <map>

#include "emulator/api.hpp"
#include "emulator/api/gate.hpp"
#include "emulator/device/memory_pool.hpp"
#include "emulator/driver/findings/leaks.hpp"
#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

void write_live(json_writer& json, const driver& d) {
  struct sum {
    std::uint64_t count = 0, bytes = 0;
  };
  std::map<std::string, sum> kinds;
  for (const auto& each : live_records(d)) {
    auto& total = kinds[each.kind];
    ++total.count;
    total.bytes += each.bytes;
  }
  json.key("live").open_object();
  for (const auto& [kind, total] : kinds) {
    json.key(kind).open_object().member("count", total.count).member("bytes", total.bytes).close();
  }
  json.close();
}

void write_calls(json_writer& json) {
  json.key("calls").open_object();
  for (unsigned i = 0; i < api::function_count; ++i) {
    if (const auto count = api::call_count(i)) json.member(api::function_names[i], count);
  }
  json.close();
}

void write_devices(json_writer& json, const driver& d) {
  json.key("devices").open_array();
  for (const auto& each : d.devices) {
    const auto usage = d.memory.device_usage(each->ordinal());
    json.open_object()
        .member("bytes_used", usage.used)
        .member("bytes_high", usage.high_water)
        .member("bytes_total", usage.capacity)
        .member("primary_retains", each->primary_retains)
        .close();
  }
  json.close();
}

}  // namespace

std::string options_record(const options& source) {
  json_writer json;
  json.open_object();
  for (const auto name : option_names()) json.member(name, show_option(source, name));
  return json.close().text();
}

std::string stats_record(const driver& d) {
  json_writer json;
  json.open_object();
  write_live(json, d);
  write_calls(json);
  write_devices(json, d);
  json.member("launches", d.launches.load())
      .member("instructions", d.instructions.load())
      .member("faults", d.faults.count())
      .key("reports")
      .open_object();
  for (const auto& [kind, count] : d.report.written()) json.member(kind, count);
  return json.close().close().text();
}

std::string leaks_record(const driver& d) {
  json_writer json;
  json.open_array();
  for (const auto& each : live_records(d)) {
    json.open_object()
        .member("kind", each.kind)
        .member("id", each.id)
        .member("bytes", each.bytes)
        .member("device", each.device)
        .member("pool", each.pool)
        .member("stream", each.stream)
        .member("name", each.name)
        .member("created_at", each.created_at)
        .close();
  }
  return json.close().text();
}

std::string fault_record(const driver& d) {
  const auto last = d.faults.last();
  return last ? to_json(*last) : "null";
}

std::string faults_record(const driver& d) {
  std::string text;
  for (const auto& each : d.faults.faults()) text += (text.empty() ? "[" : ",") + to_json(each);
  return text.empty() ? "[]" : text + "]";
}

std::string unused_rules_record(driver& d) {
  d.tells_unused_rules = false;
  json_writer json;
  json.open_array();
  for (const std::string& rule : d.faults.unused_rules()) json.value(rule);
  return json.close().text();
}

}  // namespace halfwarp::emulator
