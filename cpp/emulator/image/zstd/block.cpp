// SPDX-License-Identifier: Apache-2.0
// Decodes blocks by RFC 8878, section 3.1.1.3.
#include "emulator/image/zstd/block.hpp"

namespace halfwarp::emulator::image::zstd {
namespace {

// Literals are stored plain, as one repeated byte, or as codes of a new or of the previous table.
enum literals_type : unsigned { plain, repeated, coded, coded_again };
enum table_mode : unsigned { predefined, one_symbol, described, previous };

constexpr std::uint64_t max_literals = 128 << 10;

// Number and extra bits of a length.
struct length_code {
  std::uint32_t base;
  std::uint8_t bits;
};

constexpr unsigned literal_length_codes = 36, match_length_codes = 53, offset_codes = 32;

// Codes below `plain_codes` are the number itself. Each row has the extra bits of later codes.
template <unsigned count>
constexpr std::array<length_code, count> length_codes(unsigned plain_codes, std::uint32_t first,
                                                      const std::uint8_t* extra_bits) {
  std::array<length_code, count> codes{};
  std::uint32_t base = first;
  for (unsigned i = 0; i < count; ++i) {
    const std::uint8_t bits = i < plain_codes ? 0 : extra_bits[i - plain_codes];
    codes[i] = {base, bits};
    base += std::uint32_t{1} << bits;
  }
  return codes;
}

constexpr std::uint8_t literal_bits[] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  6,
                                         7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr std::uint8_t match_bits[] = {1, 1, 1, 1,  2,  2,  3,  3,  4,  4, 5,
                                       7, 8, 9, 10, 11, 12, 13, 14, 15, 16};
constexpr auto literal_lengths = length_codes<literal_length_codes>(16, 0, literal_bits);
constexpr auto match_lengths = length_codes<match_length_codes>(32, 3, match_bits);

constexpr std::int16_t default_literal_lengths[] = {4, 3, 2, 2, 2, 2, 2, 2, 2,  2,  2,  2,
                                                    2, 1, 1, 1, 2, 2, 2, 2, 2,  2,  2,  2,
                                                    2, 3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1};
constexpr std::int16_t default_match_lengths[] = {
    1, 4, 3, 2, 2, 2, 2, 2, 2, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1,  1,  1,  1,  1,  1,  1, 1,
    1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1, -1, -1};
constexpr std::int16_t default_offsets[] = {1, 1, 1, 1, 1, 1, 2, 2, 2, 1,  1,  1,  1,  1, 1,
                                            1, 1, 1, 1, 1, 1, 1, 1, 1, -1, -1, -1, -1, -1};

struct table_rules {
  std::span<const std::int16_t> defaults;
  unsigned default_accuracy, max_accuracy, symbols;
};

constexpr table_rules literal_rules{default_literal_lengths, 6, 9, literal_length_codes};
constexpr table_rules offset_rules{default_offsets, 5, 8, offset_codes};
constexpr table_rules match_rules{default_match_lengths, 6, 9, match_length_codes};

void select_table(fse_table& table, unsigned mode, bytes& block, const table_rules& rules) {
  switch (mode) {
    case predefined:
      table = fse_table{rules.defaults, rules.default_accuracy};
      break;
    case one_symbol: {
      const unsigned symbol = take_byte(block);
      require(symbol < rules.symbols);
      table = fse_table{static_cast<std::uint8_t>(symbol)};
      break;
    }
    case described:
      table = read_fse_table(block, rules.max_accuracy, rules.symbols - 1);
      break;
    default:
      require(!table.is_empty());
  }
}

std::uint64_t read_sequence_count(bytes& block) {
  constexpr unsigned two_bytes = 128, three_bytes = 255, most_of_two = 0x7f00;
  const unsigned first = take_byte(block);
  if (first < two_bytes) return first;
  const unsigned second = take_byte(block);
  if (first < three_bytes) return (first - two_bytes) << 8 | second;
  return second + (take_byte(block) << 8) + most_of_two;
}

std::uint64_t little_endian(bytes data) {
  return bits_at(data, 0, 8 * static_cast<unsigned>(data.size()));
}

}  // namespace

void block_decoder::append(bytes data) {
  require(data.size() <= limit_ - out_.size());
  out_.append(as_text(data));
}

void block_decoder::copy(std::uint64_t offset, std::uint64_t count) {
  require(offset > 0 && offset <= out_.size() - frame_start_ && count <= limit_ - out_.size());
  // Copies byte by byte, because source and destination may overlap.
  for (std::uint64_t i = 0; i < count; ++i) out_.push_back(out_[out_.size() - offset]);
}

// The values 1 to 3 stand for the offsets of the last sequences.
std::uint64_t block_decoder::offset_of(std::uint64_t value, bool has_literals) {
  auto& [newest, second, third] = last_offsets_;
  std::uint64_t offset = value - 3;
  if (value <= 3) {
    const std::uint64_t index = has_literals ? value - 1 : value;
    if (index == 0) return newest;
    offset = index == 1 ? second : index == 2 ? third : newest - 1;
    if (index != 1) third = second;
  } else {
    third = second;
  }
  second = newest;
  return newest = offset;
}

std::string block_decoder::read_literals(bytes& block) {
  require(!block.empty());
  const auto header = std::to_integer<unsigned>(block[0]);
  const unsigned type = header & 3, format = header >> 2 & 3;
  if (type == coded || type == coded_again) return read_coded_literals(block, type, format);
  const unsigned header_bytes = format % 2 == 0 ? 1 : format == 1 ? 2 : 3;
  const std::uint64_t size = little_endian(take(block, header_bytes)) >> (format % 2 == 0 ? 3 : 4);
  require(size <= max_literals);
  if (type == plain) return std::string{as_text(take(block, size))};
  return std::string(size, static_cast<char>(take_byte(block)));
}

std::string block_decoder::read_coded_literals(bytes& block, unsigned type, unsigned format) {
  const unsigned header_bytes = format < 2 ? 3 : format + 2;
  const unsigned size_bits = format < 2 ? 10 : format == 2 ? 14 : 18;
  const std::uint64_t header = little_endian(take(block, header_bytes)) >> 4;
  const std::uint64_t mask = (std::uint64_t{1} << size_bits) - 1;
  const std::uint64_t size = header & mask;
  bytes data = take(block, header >> size_bits & mask);
  require(size <= max_literals);
  if (type == coded) literal_codes_ = read_huffman_table(data);
  require(!literal_codes_.is_empty());
  std::string literals;
  literals.reserve(size);
  if (format == 0) {
    literal_codes_.decode(data, size, literals);
    return literals;
  }
  const bytes sizes = take(data, 6);  // of the first three of four streams
  const std::uint64_t part = (size + 3) / 4;
  require(part * 3 <= size);
  for (unsigned i = 0; i < 3; ++i) {
    literal_codes_.decode(take(data, number_at<std::uint16_t>(sizes, 2 * i)), part, literals);
  }
  literal_codes_.decode(data, size - 3 * part, literals);
  return literals;
}

void block_decoder::run_sequences(bytes block, bytes literals) {
  const std::uint64_t count = read_sequence_count(block);
  if (count == 0) {
    require(block.empty());
    return append(literals);
  }
  const unsigned modes = take_byte(block);
  select_table(literal_lengths_, modes >> 6, block, literal_rules);
  select_table(offsets_, modes >> 4 & 3, block, offset_rules);
  select_table(match_lengths_, modes >> 2 & 3, block, match_rules);
  backward_bits source{block};
  fse_state literal_state{literal_lengths_, source}, offset_state{offsets_, source},
      match_state{match_lengths_, source};
  for (std::uint64_t i = 0; i < count; ++i) {
    const unsigned offset_bits = offset_state.symbol();
    const length_code& match = match_lengths[match_state.symbol()];
    const length_code& literal = literal_lengths[literal_state.symbol()];
    const std::uint64_t offset = (std::uint64_t{1} << offset_bits) + source.read(offset_bits);
    const std::uint64_t match_length = match.base + source.read(match.bits);
    const std::uint64_t literal_length = literal.base + source.read(literal.bits);
    append(take(literals, literal_length));
    copy(offset_of(offset, literal_length > 0), match_length);
    if (i + 1 == count) break;
    literal_state.advance(source);
    match_state.advance(source);
    offset_state.advance(source);
    require(source.left() >= 0);
  }
  require(source.left() == 0);
  append(literals);
}

void block_decoder::decode(bytes block) {
  const std::string literals = read_literals(block);
  run_sequences(block, std::as_bytes(std::span{literals}));
}

}  // namespace halfwarp::emulator::image::zstd
