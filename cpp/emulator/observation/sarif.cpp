// SPDX-License-Identifier: Apache-2.0
// Writes a SARIF log with the results and keys of cuda/core/emulation/sarif.py.
#include "emulator/observation/sarif.hpp"

#include <limits.h>
#include <unistd.h>

#include <cctype>
#include <cstring>
#include <set>
#include <utility>

#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

std::string place_key(const std::string& file, std::uint32_t line, std::uint32_t ptx_line) {
  return file + ":" + std::to_string(line ? line : ptx_line);
}

std::string key_of(const report::fault& f) {
  std::string here = place_key(f.source_file, f.source_line, f.ptx_line), earlier = ":0";
  if (f.earlier) {
    earlier = place_key(f.earlier->source_file, f.earlier->source_line, f.earlier->ptx_line);
  }
  if (earlier < here) std::swap(here, earlier);
  std::string key{report::name(f.kind)};
  for (const auto& part : {report::demangled(f.kernel), here, earlier}) key += " " + part;
  if (f.nearest && !f.nearest->created_at.empty()) key += " " + f.nearest->created_at;
  return f.kind == report::fault_kind::hazard ? key + " " + f.detail : key;
}

// Escapes a path as a reference to a resource needs it.
std::string escaped(const std::string& path) {
  constexpr char digits[] = "0123456789ABCDEF";
  std::string text;
  for (const unsigned char each : path) {
    if (std::isalnum(each) || std::strchr("/-._~", each)) {
      text += static_cast<char>(each);
    } else {
      text.append({'%', digits[each >> 4], digits[each & 15]});
    }
  }
  return text;
}

// Writes a place in a file of the program. Other places are left out.
void write_place(json_writer& json, const std::string& file, std::uint64_t line,
                 std::string_view role) {
  if (file.empty() || !line) return;
  char folder[PATH_MAX] = "";
  const std::string root = std::string{getcwd(folder, sizeof(folder)) ? folder : ""} + "/";
  const bool is_below = file[0] != '/' || file.starts_with(root);
  const std::string inside = escaped(file[0] == '/' && is_below ? file.substr(root.size()) : file);
  json.open_object().key("physicalLocation").open_object().key("artifactLocation").open_object();
  json.member("uri", is_below ? inside : "file://" + inside);
  if (is_below) json.member("uriBaseId", "SRCROOT");
  json.close().key("region").open_object().member("startLine", line).close().close();
  json.key("message").open_object().member("text", role).close().close();
}

void write_result(json_writer& json, const std::string& key, const report::fault& f) {
  json.open_object()
      .member("ruleId", "halfwarp/" + std::string{report::name(f.kind)})
      .member("level", "error")
      .member("occurrenceCount", f.count);
  json.key("message").open_object().member("text", report::full_text(f)).close();
  json.key("locations").open_array();
  write_place(json, f.source_file, f.source_line, "the access");
  json.close().key("relatedLocations").open_array();
  if (f.earlier) {
    write_place(json, f.earlier->source_file, f.earlier->source_line, "the earlier access");
  }
  json.close().key("partialFingerprints").open_object().member("halfwarpKey/v1", key).close();
  json.key("properties").open_object().member("seed", f.seed);
  json.member("kernel", report::demangled(f.kernel)).close().close();
}

}  // namespace

void sarif_log::add(const report::fault& fault) {
  const auto [known, is_new] = results_.try_emplace(key_of(fault), fault);
  if (!is_new) known->second.count += fault.count;
}

std::string sarif_log::text() const {
  std::set<std::string_view> kinds;
  for (const auto& [key, fault] : results_) kinds.insert(report::name(fault.kind));
  json_writer json;
  json.open_object()
      .member("$schema", "https://json.schemastore.org/sarif-2.1.0.json")
      .member("version", "2.1.0");
  json.key("runs").open_array().open_object().key("tool").open_object().key("driver").open_object();
  json.member("name", "halfwarp").key("rules").open_array();
  for (const std::string_view kind : kinds) {
    json.open_object().member("id", "halfwarp/" + std::string{kind}).member("name", kind).close();
  }
  json.close().close().close().key("results").open_array();
  for (const auto& [key, fault] : results_) write_result(json, key, fault);
  json.close().close().close().close();
  return json.text() + "\n";
}

}  // namespace halfwarp::emulator
