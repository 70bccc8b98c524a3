// SPDX-License-Identifier: Apache-2.0
// The cells of the memory that a launch accesses, and what one access of a warp does to them.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "emulator/exec/check/order.hpp"
#include "emulator/exec/check/runs/load_run.hpp"

namespace halfwarp::emulator::exec::race {

inline constexpr std::uint32_t page_bytes = 4096, line_words = 16, page_words = page_bytes / 4;

// The cells of a page. Accesses of neighboring lanes to neighboring words use the cells of lines;
// other accesses give the words cells of their own.
struct page {
  struct word_cells {
    std::array<cell, page_words> writer, reader;
  };
  std::array<cell, page_words / line_words> writer, reader;
  std::unique_ptr<word_cells> words;
};

// The thread and the instruction of an access.
struct accessor {
  launch_order& order;
  block_order& block;
  std::uint32_t warp = 0;
  bool is_shared = false;  // the memory belongs to the block
  bool is_write = false;
  cell mine;                   // the segment, scope and site of the access; the lane is added
  bool is_in_cluster = false;  // the memory belongs to a block of a cluster

  warp_order& clocks() const { return block.warps[warp]; }
  // Segments before this one cannot race with the access.
  std::uint32_t oldest() const {
    if (is_in_cluster) return block.cluster_first;
    return is_shared ? block.first : order.segments.first();
  }
  // The kind of a reader's cell that adds nothing to the readers of several warps.
  cell_kind common() const { return is_shared ? cell_kind::of_block : cell_kind::of_grid; }
  // Segments before this one are ordered before the access.
  std::uint32_t limit() const { return is_shared ? clocks().full : order.segments.first(); }
};

enum class conflict : std::uint8_t { write_write, write_read, read_write, proxies };

// Receives accesses that race. `first` is the earlier access, `lane` the lane of the second.
class conflict_listener {
 public:
  virtual ~conflict_listener() = default;
  // Returns whether an atomic access of a part of the bytes makes two strong accesses race.
  virtual bool has_other_width(cell first) const = 0;
  virtual void on_conflict(conflict kind, cell first, const accessor& by, std::uint32_t lane,
                           std::uint64_t address) = 0;
};

class shadow {
 public:
  explicit shadow(conflict_listener& listener) : listener_{listener} {}

  // An access of one lane to at most 4 bytes of one word at a host address.
  void access(const accessor& by, std::uint64_t address, std::uint32_t bytes, std::uint32_t lane);
  // Accesses of 16 lanes to 16 words in order, from `lane` on.
  void access_half(const accessor& by, std::uint64_t address, std::uint32_t lane);
  // This function does so for a line that no word splits, and that others accessed only before the
  // limit, or read. It returns false, without a change, for another line.
  bool pass_line(const accessor& by, std::uint64_t address, std::uint32_t lane);
  // A read of one word by a half of a warp.
  void read_uniform(const accessor& by, std::uint64_t address, std::uint32_t lane);
  // This function does so for a word that others wrote only before the limit.
  bool pass_uniform(const accessor& by, std::uint64_t address, std::uint32_t lane);
  // Reads of words by a half of a warp. `nearest` is the address of the least distance. This
  // function returns false for words that need a comparison of clocks, perhaps after a change for
  // others.
  bool read_words(const accessor& by, std::uint64_t nearest, std::uint32_t lane,
                  const load_group& group);
  // Reads of lines of shared memory, each by both halves of a warp, as above.
  bool read_lines(const accessor& by, std::uint64_t nearest, const load_group& group);
  // Counts changes of cells by `pass_line`, `pass_uniform` and functions that compare clocks.
  std::uint64_t changes() const { return changes_; }
  // Returns the writer of a word, for strong reads that observe it.
  cell writer_of(std::uint64_t address);

  // Visits the last writers in ascending order: the host address, the number of bytes, the cell.
  template <class Visitor>
  void each_writer(Visitor&& visit) const {
    std::vector<std::uint64_t> numbers;
    for (const auto& [number, p] : pages_) numbers.push_back(number);
    std::ranges::sort(numbers);
    for (const std::uint64_t number : numbers) {
      const page* const p = pages_.at(number).get();
      for (std::uint32_t i = 0; i < page_words / line_words; ++i) {
        const std::uint64_t first = number * page_bytes + std::uint64_t{i} * line_words * 4;
        if (p->writer[i].kind() == cell_kind::words) {
          for (std::uint32_t n = 0; n < line_words; ++n) {
            visit_word(first + std::uint64_t{n} * 4, p->words->writer[i * line_words + n], visit);
          }
        } else if (p->writer[i].segment()) {
          visit(first, line_words * 4, p->writer[i]);
        }
      }
    }
  }

 private:
  struct bytes_of_word {
    std::array<cell, 4> writer, reader;
  };

  template <class Visitor>
  void visit_word(std::uint64_t first, cell writer, Visitor&& visit) const {
    if (writer.kind() != cell_kind::split) {
      if (writer.segment()) visit(first, 4, writer);
      return;
    }
    const auto& parts = split_words_.at(first / 4).writer;
    for (std::uint32_t i = 0; i < 4; ++i) {
      if (parts[i].segment()) visit(first + i, 1, parts[i]);
    }
  }

  page& page_of(std::uint64_t address);
  page& find_page(std::uint64_t number);
  void access_slowly(const accessor& by, page& p, std::uint64_t address, std::uint32_t bytes,
                     std::uint32_t lane);
  void access_cell(const accessor& by, cell& writer, cell& reader, std::uint64_t address,
                   std::uint32_t lane);
  void access_part(const accessor& by, page& p, std::uint64_t address, std::uint32_t count,
                   std::uint32_t lane);
  static bool are_words_past(const page& p, std::uint32_t line, std::uint32_t limit);
  static void set_reader(page& p, std::uint32_t word, cell reader);
  static bool is_other_reader(const accessor& by, cell reader);
  bool read_line(const accessor& by, page& p, std::uint64_t address, std::uint32_t lane);
  bool check(const accessor& by, cell before, std::uint64_t address, std::uint32_t lane,
             const conflict* kind);

  conflict_listener& listener_;
  std::uint64_t changes_ = 0;
  std::unordered_map<std::uint64_t, std::unique_ptr<page>> pages_;
  std::unordered_map<std::uint64_t, bytes_of_word> split_words_;
  struct known_page {
    std::uint64_t number = ~0ull;
    page* cells = nullptr;
  };
  std::array<known_page, 256> known_{};  // by the lowest bits of the number
};

inline std::uint32_t word_in_page(std::uint64_t address) {
  return static_cast<std::uint32_t>(address % page_bytes / 4);
}

inline page& shadow::page_of(std::uint64_t address) {
  const std::uint64_t number = address / page_bytes;
  const known_page& known = known_[number % known_.size()];
  return number == known.number ? *known.cells : find_page(number);
}

// A marker of words or parts has the highest segment, so it is not past.
[[gnu::always_inline]] inline bool shadow::pass_line(const accessor& by, std::uint64_t address,
                                                     std::uint32_t lane) {
  if (address % (line_words * 4) != 0) return false;
  page& p = page_of(address);
  const std::uint32_t line = word_in_page(address) / line_words, limit = by.limit();
  cell &writer = p.writer[line], &reader = p.reader[line];
  const cell mine = by.mine.with_lane(lane).as_run();
  const auto is_past = [&](cell each) {
    return each.segment() < limit || each.is_same_access(mine);
  };
  if (!is_past(writer)) return false;
  if (!is_past(reader)) {
    if (!by.is_write) return reader.kind() == by.common() || read_line(by, p, address, lane);
    if (reader.kind() != cell_kind::words || !are_words_past(p, line, limit)) return false;
  }
  (by.is_write ? writer : reader) = mine;
  if (by.is_write) reader = {};
  ++changes_;
  return true;
}

[[gnu::always_inline]] inline bool shadow::pass_uniform(const accessor& by, std::uint64_t address,
                                                        std::uint32_t lane) {
  page& p = page_of(address);
  const std::uint32_t word = word_in_page(address), limit = by.limit();
  const cell writer = p.writer[word / line_words], line = p.reader[word / line_words];
  if (writer.segment() >= limit) return false;
  const cell mine = by.mine.with_lane(lane == 0 ? low_half : high_half);
  const bool has_words = line.kind() == cell_kind::words;
  const cell reader = has_words ? p.words->reader[word] : line.of_word(word % line_words);
  if (reader == mine) return true;
  if (reader.segment() >= limit) return reader.kind() == by.common();
  ++changes_;
  if (has_words) {
    p.words->reader[word] = mine;
  } else {
    set_reader(p, word, mine);
  }
  return true;
}

// Returns whether an access is ordered before a lane of the accessor's warp.
bool is_ordered(const accessor& by, cell before, std::uint32_t lane);

}  // namespace halfwarp::emulator::exec::race
