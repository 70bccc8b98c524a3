// SPDX-License-Identifier: Apache-2.0
// Splits a mnemonic into opcode, qualifiers, types and state spaces.
#include "emulator/ptx/mnemonic.hpp"

#include <charconv>

namespace halfwarp::emulator::ptx {
namespace {

template <class T, std::size_t n>
bool append(std::array<T, n>& list, std::uint8_t& count, T value) noexcept {
  if (count == n) return false;
  list[count++] = value;
  return true;
}

std::uint8_t vector_width(std::string_view word) noexcept {
  const bool is_width =
      word.size() == 2 && word[0] == 'v' && (word[1] == '2' || word[1] == '4' || word[1] == '8');
  return is_width ? static_cast<std::uint8_t>(word[1] - '0') : 0;
}

// Reads m64nNkK, a shape of a warpgroup. Returns false for another word.
bool read_warpgroup_shape(mnemonic& m, std::string_view word) noexcept {
  constexpr std::string_view rows = "m64n";
  if (!word.starts_with(rows)) return false;
  const char* const end = word.data() + word.size();
  const auto [separator, n_error] = std::from_chars(word.data() + rows.size(), end, m.columns);
  if (n_error != std::errc{} || separator == end || *separator != 'k') return false;
  const auto [last, k_error] = std::from_chars(separator + 1, end, m.depth);
  return k_error == std::errc{} && last == end;
}

// Returns false if the word is unknown or its list is full.
bool classify(mnemonic& m, std::string_view word) noexcept {
  if (const auto word_qualifier = find_qualifier(word); word_qualifier != qualifier::unknown) {
    m.qualifier_set.set(static_cast<std::size_t>(word_qualifier));
    return append(m.qualifier_list, m.qualifier_count, word_qualifier);
  }
  if (const auto type = find_type(word); type != scalar_type::none) {
    return append(m.type_list, m.type_count, type);
  }
  if (const auto space = find_space(word); space != state_space::generic) {
    return append(m.space_list, m.space_count, space);
  }
  if (read_warpgroup_shape(m, word)) return true;
  m.vector_width = vector_width(word);
  if (m.vector_width != 0) return true;
  m.vector_width = 1;
  return false;
}

}  // namespace

mnemonic make_mnemonic(std::string_view text) noexcept {
  mnemonic m;
  m.text = text;
  std::size_t dot = text.find('.');
  m.opcode = find_opcode(text.substr(0, dot));
  m.has_unknown_word = m.opcode == opcode::unknown;
  while (dot != std::string_view::npos) {
    const std::size_t next = text.find('.', dot + 1);
    const std::size_t length = next == std::string_view::npos ? next : next - dot - 1;
    if (!classify(m, text.substr(dot + 1, length))) m.has_unknown_word = true;
    dot = next;
  }
  return m;
}

}  // namespace halfwarp::emulator::ptx
