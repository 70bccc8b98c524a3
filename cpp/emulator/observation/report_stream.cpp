// SPDX-License-Identifier: Apache-2.0
// Writes reports as text, as JSON lines if the path ends in .jsonl, or as a SARIF log.
#include "emulator/observation/report_stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <span>
#include <utility>

#include "emulator/observation/json.hpp"

namespace halfwarp::emulator {
namespace {

void write_all(int file, std::string_view text) {
  while (!text.empty()) {
    const auto written = ::write(file, text.data(), text.size());
    if (written <= 0) return;  // a closed standard error must not fail a launch
    text.remove_prefix(static_cast<std::size_t>(written));
  }
}

void write_triple(json_writer& json, std::string_view key,
                  std::span<const std::uint32_t, 3> values) {
  json.key(key).open_array().value(values[0]).value(values[1]).value(values[2]).close();
}

void write_allocation(json_writer& json, const memory::allocation& a) {
  json.open_object()
      .member("base", a.base)
      .member("size", a.size)
      .member("is_live", a.is_live)
      .member("stream", a.stream)
      .member("freed_stream", a.freed_stream)
      .member("name", a.name)
      .member("created_at", a.created_at)
      .member("freed_at", a.freed_at)
      .close();
}

void write_earlier(json_writer& json, const report::earlier_access& access) {
  json.open_object().member("access", report::name(access.access));
  write_triple(json, "block_index", access.block_index);
  write_triple(json, "thread", access.thread);
  json.member("ptx_line", access.ptx_line)
      .member("source_file", access.source_file)
      .member("source_line", access.source_line)
      .member("instruction", access.instruction)
      .close();
}

}  // namespace

report_stream::report_stream(std::string target)
    : target_{std::move(target)},
      as_json_{target_.ends_with(".jsonl")},
      as_sarif_{target_.ends_with(".sarif")} {}

void report_stream::open() {
  if (file_ >= 0) return;
  const int end = as_sarif_ ? 0 : O_APPEND;
  file_ = target_ == "stderr" ? STDERR_FILENO
                              : ::open(target_.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | end, 0644);
  if (file_ >= 0) return;
  file_ = STDERR_FILENO;
  as_sarif_ = false;
  write_all(file_, "emulator: cannot write reports to '" + target_ + "'; they follow here\n");
}

// Writes the whole log, so that the file is valid whenever the process ends.
void report_stream::rewrite(const report::fault& record) {
  const std::lock_guard lock{mutex_};
  open();
  ++written_[std::string{report::name(record.kind)}];
  if (!as_sarif_) return write_all(file_, report::full_text(record));
  log_.add(record);
  if (ftruncate(file_, 0) == 0 && lseek(file_, 0, SEEK_SET) == 0) write_all(file_, log_.text());
}

void report_stream::write(std::string_view kind, const std::string& text) {
  const std::lock_guard lock{mutex_};
  open();
  const auto [tally, is_new] = written_.try_emplace(std::string{kind});
  ++tally->second;
  write_all(file_, text);
}

void report_stream::note(std::string_view kind, std::string_view text) {
  if (as_sarif_) return write_all(STDERR_FILENO, "emulator: " + std::string{text} + "\n");
  if (!as_json_) return write(kind, "emulator: " + std::string{text} + "\n");
  json_writer json;
  json.open_object().member("kind", kind).member("text", text).close();
  write(kind, json.text() + "\n");
}

void report_stream::fault(const report::fault& record) {
  if (as_sarif_) return rewrite(record);
  write(report::name(record.kind), as_json_ ? to_json(record) + "\n" : report::full_text(record));
}

std::map<std::string, std::uint64_t, std::less<>> report_stream::written() const {
  const std::lock_guard lock{mutex_};
  return written_;
}

std::string to_json(const report::fault& f) {
  json_writer json;
  json.open_object()
      .member("kind", report::name(f.kind))
      .member("code", static_cast<int>(report::code(f.kind)))
      .member("is_sticky", report::is_sticky(f.kind))
      .member("is_of_lifetime", report::is_of_lifetime(f.kind))
      .member("is_finding", report::is_finding(f.kind))
      .member("access", report::name(f.access))
      .member("bytes", f.bytes)
      .member("address", f.address)
      .member("kernel", report::demangled(f.kernel))
      .member("device", f.device)
      .member("stream", f.stream);
  write_triple(json, "grid", f.grid);
  write_triple(json, "block", f.block);
  write_triple(json, "block_index", f.block_index);
  write_triple(json, "thread", f.thread);
  json.member("other_threads", f.other_threads)
      .member("ptx_line", f.ptx_line)
      .member("source_file", f.source_file)
      .member("source_line", f.source_line)
      .member("instruction", f.instruction)
      .key("nearest");
  if (f.nearest) {
    write_allocation(json, *f.nearest);
  } else {
    json.null();
  }
  json.key("earlier");
  if (f.earlier) {
    write_earlier(json, *f.earlier);
  } else {
    json.null();
  }
  json.member("count", f.count)
      .member("detail", f.detail)
      .member("hint", f.hint)
      .member("seed", f.seed)
      .member("first_line", report::first_line(f))
      .member("text", report::full_text(f))
      .close();
  return json.text();
}

}  // namespace halfwarp::emulator
