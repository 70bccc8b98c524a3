// SPDX-License-Identifier: Apache-2.0
// Comparison of accesses with the cells of earlier accesses.
#include "emulator/exec/check/shadow.hpp"

#include <utility>

namespace halfwarp::emulator::exec::race {
namespace {

constexpr cell words_marker{~0u, cell_kind::words, scope::weak, 0, 0};
constexpr cell split_marker{~0u, cell_kind::split, scope::weak, 0, 0};

// Gives each word of a line its own cell.
void expand(cell& line, cell* words) {
  if (line.kind() == cell_kind::words) return;
  for (std::uint32_t i = 0; i < line_words; ++i) words[i] = line.of_word(i);
  line = words_marker;
}

cell* words_of(page& p, std::uint32_t word, bool is_write) {
  if (!p.words) p.words = std::make_unique<page::word_cells>();
  auto& words = is_write ? p.words->writer : p.words->reader;
  expand((is_write ? p.writer : p.reader)[word / line_words],
         &words[word / line_words * line_words]);
  return &words[word];
}

cell current(const page& p, std::uint32_t word, bool is_write) {
  const cell line = (is_write ? p.writer : p.reader)[word / line_words];
  if (line.kind() != cell_kind::words) return line.of_word(word % line_words);
  return (is_write ? p.words->writer : p.words->reader)[word];
}

// Returns the newest segment of a line's words.
std::uint32_t newest_of(const cell* words) {
  std::uint64_t newest = 0;
  for (std::uint32_t i = 0; i < line_words; ++i) newest = std::max(newest, words[i].bits());
  return static_cast<std::uint32_t>(newest >> 32);
}

// Returns whether the segments of a line precede a limit, or the line has the same access.
bool is_line_past(cell line, const cell* words, cell mine, std::uint32_t limit) {
  if (line.kind() != cell_kind::words) return line.segment() < limit || line.is_same_access(mine);
  return newest_of(words) < limit;
}

bool is_of_block(const accessor& by, cell before) {
  return by.is_shared || (before.kind() != cell_kind::of_grid &&
                          by.order.segments.block_of(before.segment()) == by.block.number);
}

// Strong accesses within each other's scope do not race.
bool is_morally_strong(const accessor& by, cell before) {
  const scope least = std::min(before.access_scope(), by.mine.access_scope());
  return least > scope::cta || (least == scope::cta && is_of_block(by, before));
}

bool are_lanes_ordered(const warp_order& w, std::uint32_t segment, std::uint32_t lane,
                       std::uint32_t other) {
  for (std::uint32_t i = 0; i < warp_size; ++i) {
    if (!(lanes_named(lane) >> i & 1)) continue;
    for (std::uint32_t j = 0; j < warp_size; ++j) {
      const bool is_named = i != j && (lanes_named(other) >> j & 1);
      if (is_named && segment >= w.lanes[i * warp_size + j]) return false;
    }
  }
  return true;
}

// Returns the cell for two readers of which neither is ordered before the other.
cell merged(const accessor& by, cell readers, cell added) {
  if (by.order.is_exact) return by.order.readers.with(readers, added);
  const scope least = std::min(readers.access_scope(), added.access_scope());
  const std::uint32_t newest = added.segment();  // both follow the same barriers
  const phases& segments = by.order.segments;
  if (!is_of_block(by, readers)) return {newest, cell_kind::of_grid, least, 0, added.site()};
  const bool is_of_warp =
      readers.kind() == cell_kind::one && segments.warp_of(readers.segment()) == by.warp;
  return {newest, is_of_warp ? cell_kind::one : cell_kind::of_block, least,
          is_of_warp ? many_lanes : 0, added.site()};
}

}  // namespace

bool is_ordered(const accessor& by, cell before, std::uint32_t lane) {
  const std::uint32_t segment = before.segment();
  if (segment < by.oldest()) return true;
  const warp_order& w = by.clocks();
  const bool has_acquired = w.acquired && !w.acquired->is_empty();
  if (before.kind() == cell_kind::of_grid) return has_acquired;  // the readers are not known
  const phases& segments = by.order.segments;
  const std::uint32_t block = segments.block_of(segment), warp = segments.warp_of(segment);
  if (block == by.block.number) {
    if (segment < w.full) return true;
    const bool is_one_warp = before.kind() != cell_kind::of_block;
    if (is_one_warp && warp == by.warp) {
      if (segment < w.self || (before.lane() == lane && lane < warp_size)) return true;
      if (!w.lanes.empty() && are_lanes_ordered(w, segment, lane, before.lane())) return true;
    } else if (is_one_warp && !w.warps.empty() && segment < w.warps[warp])
      return true;
  }
  return has_acquired && w.acquired->is_ordered(block, warp, before);
}

page& shadow::find_page(std::uint64_t number) {
  auto& place = pages_[number];
  if (!place) place = std::make_unique<page>();
  known_[number % known_.size()] = {number, place.get()};
  return *place;
}

// Returns whether all accesses of a cell are ordered before the lane. Reports others as `kind`.
bool shadow::check(const accessor& by, cell before, std::uint64_t address, std::uint32_t lane,
                   const conflict* kind) {
  if (before.segment() < by.oldest()) return true;
  bool are_ordered = true;
  by.order.readers.each(before, [&](cell each) {
    each = each.of_word(word_in_page(address) % line_words);
    if (is_ordered(by, each, lane)) return;
    are_ordered = false;
    if (kind && (!is_morally_strong(by, each) || listener_.has_other_width(each))) {
      listener_.on_conflict(*kind, each, by, lane, address);
    }
  });
  return are_ordered;
}

// Replaces the cells of a word. An update observes the strong write before it, so the last writer
// stands for all.
void shadow::access_cell(const accessor& by, cell& writer, cell& reader, std::uint64_t address,
                         std::uint32_t lane) {
  const cell mine = by.mine.with_lane(lane);
  const conflict of_writer = by.is_write ? conflict::write_write : conflict::write_read;
  const conflict of_reader = conflict::read_write;
  check(by, writer, address, lane, &of_writer);
  const bool is_after_reads = check(by, reader, address, lane, by.is_write ? &of_reader : nullptr);
  if (by.is_write) {
    // A strong write of the same thread does not order its plain write for others.
    const bool hides_plain = writer.access_scope() == scope::weak &&
                             mine.access_scope() != scope::weak &&
                             writer.segment() == mine.segment() && writer.lane() == mine.lane();
    if (!hides_plain) writer = mine;
    if (is_after_reads) reader = {};
  } else {
    reader = is_after_reads ? mine : merged(by, reader, mine);
  }
}

void shadow::access_slowly(const accessor& by, page& p, std::uint64_t address, std::uint32_t bytes,
                           std::uint32_t lane) {
  const std::uint32_t word = word_in_page(address);
  cell& writer = *words_of(p, word, true);
  cell& reader = *words_of(p, word, false);
  const bool is_split = writer.kind() == cell_kind::split;
  if (bytes >= 4 && !is_split) return access_cell(by, writer, reader, address, lane);
  bytes_of_word& parts = split_words_[address / 4];
  if (!is_split) {
    parts.writer.fill(writer);
    parts.reader.fill(reader);
    writer = reader = split_marker;
  }
  for (std::uint32_t i = 0; i < bytes; ++i) {
    const auto at = static_cast<std::uint32_t>((address + i) % 4);
    access_cell(by, parts.writer[at], parts.reader[at], address + i, lane);
  }
}

bool shadow::are_words_past(const page& p, std::uint32_t line, std::uint32_t limit) {
  return newest_of(&p.words->reader[std::size_t{line} * line_words]) < limit;
}

void shadow::set_reader(page& p, std::uint32_t word, cell reader) {
  *words_of(p, word, false) = reader;
}

// The common case needs no comparison of clocks: the cells are older than the last barrier of the
// block, or of the same lane since then.
void shadow::access(const accessor& by, std::uint64_t address, std::uint32_t bytes,
                    std::uint32_t lane) {
  page& p = page_of(address);
  const std::uint32_t word = word_in_page(address), limit = by.limit();
  const cell writer = current(p, word, true), reader = current(p, word, false);
  const cell mine = by.mine.with_lane(lane);
  const auto is_past = [&](cell each) {  // of another scope: not the same access
    return each.segment() < limit || each.is_same_access(mine);
  };
  if (bytes == 4 && is_past(writer) && is_past(reader)) {
    *words_of(p, word, by.is_write) = mine;
    return;
  }
  access_slowly(by, p, address, bytes, lane);
}

void shadow::access_half(const accessor& by, std::uint64_t address, std::uint32_t lane) {
  ++changes_;
  const std::uint32_t first = word_in_page(address) % line_words;
  access_part(by, page_of(address), address, line_words - first, lane);
  if (first == 0) return;
  const std::uint32_t done = line_words - first;
  const std::uint64_t next_line = address + std::uint64_t{done} * 4;
  access_part(by, page_of(next_line), next_line, first, lane + done);
}

// Accesses words of one line by neighboring lanes. An access of all words that is ordered after the
// earlier ones gives the words one cell again.
void shadow::access_part(const accessor& by, page& p, std::uint64_t address, std::uint32_t count,
                         std::uint32_t lane) {
  const std::uint32_t line = word_in_page(address) / line_words, limit = by.limit();
  cell &writer = p.writer[line], &reader = p.reader[line];
  const cell mine = by.mine.with_lane(lane).as_run();
  const auto is_past = [&](bool of_writer) {
    const cell* const words =
        !p.words ? nullptr : (of_writer ? p.words->writer : p.words->reader).data();
    return is_line_past(of_writer ? writer : reader, words + line * line_words, mine, limit);
  };
  if (count == line_words && is_past(true)) {
    if (is_past(false)) {
      (by.is_write ? writer : reader) = mine;
      if (by.is_write) reader = {};
      return;
    }
    if (!by.is_write && read_line(by, p, address, lane)) return;
  }
  for (std::uint32_t i = 0; i < count; ++i) {
    access(by, address + std::uint64_t{i} * 4, 4, lane + i);
  }
}

// Returns whether a reader of shared memory is another warp without an order, by a quick test.
inline bool shadow::is_other_reader(const accessor& by, cell reader) {
  const warp_order& w = by.clocks();
  const bool is_one = reader.kind() == cell_kind::one || reader.kind() == cell_kind::run;
  return is_one && by.is_shared && !by.order.is_exact && !w.acquired && w.warps.empty() &&
         by.order.segments.warp_of(reader.segment()) != by.warp && reader.segment() >= w.full;
}

// Adds readers to a line that other warps have read. Returns false if its words differ.
bool shadow::read_line(const accessor& by, page& p, std::uint64_t address, std::uint32_t lane) {
  ++changes_;
  cell& reader = p.reader[word_in_page(address) / line_words];
  if (reader.kind() == by.common()) return true;
  if (reader.kind() == cell_kind::words) return false;
  const cell mine = by.mine.with_lane(lane).as_run();
  if (is_other_reader(by, reader)) {
    reader = merged(by, reader, mine);
    return true;
  }
  const std::uint64_t start = address / (line_words * 4) * (line_words * 4);
  if (check(by, reader, start, lane, nullptr)) {
    reader = mine;
    return true;
  }
  if (by.order.is_exact) {
    reader = by.order.readers.with(reader, mine);
    return true;
  }
  cell before = reader;
  if (before.kind() == cell_kind::run) {
    before = {before.segment(), cell_kind::one, before.access_scope(), many_lanes, before.site()};
  }
  reader = merged(by, before, by.mine.with_lane(many_lanes));
  return true;
}

void shadow::read_uniform(const accessor& by, std::uint64_t address, std::uint32_t lane) {
  ++changes_;
  page& p = page_of(address);
  const std::uint32_t word = word_in_page(address), limit = by.limit();
  const cell writer = current(p, word, true), reader = current(p, word, false);
  const std::uint32_t half = lane == 0 ? low_half : high_half;
  const cell mine = by.mine.with_lane(half);
  if (writer.segment() < limit) {  // a split word has the highest segment
    if (reader == mine || (reader.segment() >= limit && reader.kind() == by.common())) return;
    if (reader.segment() < limit) {
      *words_of(p, word, false) = mine;
      return;
    }
  }
  access_slowly(by, p, address, 4, half);
}

bool shadow::read_words(const accessor& by, std::uint64_t nearest, std::uint32_t lane,
                        const load_group& group) {
  constexpr std::uint32_t line_bytes = line_words * 4;
  page& p = page_of(nearest);
  const std::uint32_t word = word_in_page(nearest), line = word / line_words, limit = by.limit();
  const bool is_simple = nearest % line_bytes + group.extent <= line_bytes &&
                         p.writer[line].segment() < limit &&
                         p.reader[line].kind() == cell_kind::words;
  if (!is_simple) return false;
  const cell half = by.mine.with_lane(lane == 0 ? low_half : high_half);
  for (const following_load& load : group.loads) {
    cell& reader = p.words->reader[word + (load.distance - group.nearest) / 4];
    const cell mine = half.with_site(load.site);
    if (reader.segment() < limit) {
      reader = mine;
    } else if (reader != mine) {
      return false;
    }
  }
  return true;
}

bool shadow::read_lines(const accessor& by, std::uint64_t nearest, const load_group& group) {
  if (nearest % (line_words * 4) != 0 || by.order.is_exact) return false;
  const std::uint32_t limit = by.limit();
  const cell both = by.mine.with_lane(many_lanes);
  for (const following_load& load : group.loads) {
    const std::uint64_t address = nearest + load.distance - group.nearest;
    page& p = page_of(address);
    const std::uint32_t line = word_in_page(address) / line_words;
    cell& reader = p.reader[line];
    const bool is_line = address % (line_words * 4) == 0 && p.writer[line].segment() < limit;
    if (!is_line) return false;
    if (reader.segment() < limit) {
      reader = both.with_site(load.site);
      ++changes_;
    } else if (reader.kind() != cell_kind::of_block) {
      if (!is_other_reader(by, reader)) return false;
      reader = merged(by, reader, both.with_site(load.site));
      ++changes_;
    }
  }
  return true;
}

cell shadow::writer_of(std::uint64_t address) {
  return current(page_of(address), word_in_page(address), true);
}

}  // namespace halfwarp::emulator::exec::race
