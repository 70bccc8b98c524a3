// SPDX-License-Identifier: Apache-2.0
// Copies between a box of a tensor and shared memory.
#include <algorithm>
#include <cstring>

#include "emulator/exec/access.hpp"
#include "emulator/exec/async/bulk_reduce.hpp"
#include "emulator/exec/async/bulk_start.hpp"
#include "emulator/exec/async/tensor_map.hpp"
#include "emulator/exec/each_lane.hpp"
#include "emulator/exec/scalar/scalar.hpp"

namespace halfwarp::emulator::exec {
namespace {

using memory::tensor_map;
using memory::tensor_map_kind;
using report::access_kind;
using report::fault_kind;

constexpr std::int64_t chunk = 16;  // a swizzle moves chunks of 16 bytes

// A part of the box that is contiguous in the tensor and in its row of shared memory.
struct box_part {
  std::uint64_t offset = 0;  // in the box
  std::byte* at = nullptr;   // null: outside of the tensor
  std::uint32_t bytes = 0;
};

using coordinate = std::int64_t;
using coordinates = std::array<coordinate, 5>;

class box_walk {
 public:
  box_walk(warp& w, const instruction& instr, int lane, access_kind kind)
      : w_{w}, instr_{instr}, lane_{lane}, kind_{kind}, site_{bulk_of(w, instr)} {
    read_map();
    for (std::uint8_t i = 0; i < site_.coordinate_count; ++i) {
      start_[i] = w.at<std::int32_t>(site_.coordinates[i])[lane];
    }
    require_aligned_start();
  }

  const tensor_map& map() const { return map_; }
  std::uint32_t element_bytes() const {
    return static_cast<std::uint32_t>(tensor_map::element_sizes[map_.data_type]);
  }
  std::uint32_t bytes() const { return bytes_; }

  std::vector<box_part> run() {
    if (map_.kind == tensor_map_kind::im2col) {
      walk_pixels();
    } else if (site_.mode == tensor_mode::gather || site_.mode == tensor_mode::scatter) {
      for (int row = 0; row < 4; ++row) add_row({start_[0], start_[1 + row]}, extent_of(0));
    } else {
      walk_tile();
    }
    return std::move(parts_);
  }

 private:
  void read_map() {
    instruction any_space = instr_;
    any_space.flags = 0;
    any_space.immediate = 0;
    const std::uint64_t address = w_.at<std::uint64_t>(site_.map)[lane_];
    const std::byte* const bytes =
        locate_bytes(w_, any_space, lane_, address, {access_kind::load, sizeof map_});
    std::memcpy(&map_, bytes, sizeof map_);
    if (!map_.is_complete()) {
      raise("there is no tensor map at " + report::hexadecimal(address),
            "encode it with cuTensorMapEncodeTiled, and pass it as a __grid_constant__ parameter");
    }
    const bool is_im2col = map_.kind == tensor_map_kind::im2col;
    if (map_.rank != site_.rank || is_im2col != (site_.mode == tensor_mode::im2col)) {
      raise("the tensor map has " + std::to_string(map_.rank) + " dimensions, " +
                (is_im2col ? "im2col" : "tiled") + ", and the copy has " +
                std::to_string(site_.rank),
            "use the form of the copy that fits the map");
    }
  }

  // An H100 ends the kernel with CUDA_ERROR_ILLEGAL_INSTRUCTION for such a coordinate.
  void require_aligned_start() {
    if (start_[0] * static_cast<coordinate>(unit_bytes()) % chunk == 0) return;
    raise_copy(w_, instr_, lane_, fault_kind::misaligned,
               "coordinate " + std::to_string(start_[0]) +
                   " of the innermost dimension is no multiple of 16 bytes",
               "start the box at a multiple of 16 bytes");
  }

  // Returns the bytes of a step along the innermost dimension. An interleaved tensor has slices of
  // channels there, which a copy moves as a whole, whatever the element type [H200].
  std::uint32_t unit_bytes() const {
    return map_.interleave ? std::uint32_t{map_.interleave} * chunk : element_bytes();
  }

  // Returns the elements of the box along a dimension. A box has one slice of channels, which the
  // last dimension but one of an interleaved tensor numbers [H200].
  coordinate extent_of(std::size_t i) const {
    if (map_.interleave && i == map_.rank - 2u) return 1;
    const coordinate stride = map_.element_strides[i];
    return (map_.box[i] + stride - 1) / stride;
  }

  void walk_tile() {
    coordinates count{1, 1, 1, 1, 1};
    for (std::size_t i = 0; i < map_.rank; ++i) count[i] = extent_of(i);
    const coordinate rows = count[1] * count[2] * count[3] * count[4];
    for (coordinate row = 0; row < rows; ++row) {
      coordinates at = start_;
      coordinate number = row;
      for (std::size_t i = 1; i < map_.rank; ++i) {
        at[i] += number % count[i] * map_.element_strides[i];
        number /= count[i];
      }
      add_row(at, count[0]);
    }
  }

  // Base positions run over the bounding box of the pixels, image after image.
  void walk_pixels() {
    const std::size_t spatial = map_.rank - 2u, first = map_.interleave ? 0 : 1;
    const coordinate channels = map_.interleave ? 1 : map_.box[0];
    coordinates base = start_;
    for (std::uint32_t pixel = 0; pixel < map_.box[1]; ++pixel) {
      coordinates at = base;
      for (std::size_t i = 0; i < spatial; ++i) at[first + i] += offset_at(i);
      add_row(at, channels);
      std::size_t i = 0;
      for (; i < spatial; ++i) {
        const std::size_t axis = first + i;
        base[axis] += map_.element_strides[axis];
        const auto last = static_cast<coordinate>(map_.extents[axis]) - 1 + map_.corners[3 + i];
        if (base[axis] <= last) break;
        base[axis] = map_.corners[i];
      }
      if (i == spatial) ++base[1 + spatial];
    }
  }

  coordinate offset_at(std::size_t i) const {
    return i < site_.offset_count ? w_.at<std::uint16_t>(site_.offsets[i])[lane_] : 0;
  }

  bool is_row_inside(const coordinates& at) const {
    for (std::size_t i = 1; i < map_.rank; ++i) {
      if (at[i] < 0 || at[i] >= static_cast<coordinate>(map_.extents[i])) return false;
    }
    return true;
  }

  // Adds the elements of a row, in runs inside and outside of the tensor.
  void add_row(coordinates at, coordinate count) {
    const bool is_inside = is_row_inside(at);
    const coordinate step = map_.kind == tensor_map_kind::im2col ? 1 : map_.element_strides[0];
    const std::uint32_t bytes = unit_bytes();
    std::uint64_t at_row = end_;
    end_ += row_pitch(count * static_cast<coordinate>(bytes));
    bytes_ += static_cast<std::uint32_t>(count) * bytes;
    for (coordinate done = 0; done < count;) {
      const coordinate x = at[0] + done * step;
      const bool is_part_inside = is_inside && is_column_inside(x);
      coordinate run = 1;
      while (done + run < count && (step == 1 || !is_part_inside) &&
             (is_inside && is_column_inside(x + run * step)) == is_part_inside) {
        ++run;
      }
      const auto run_bytes = static_cast<std::uint32_t>(run) * bytes;
      std::byte* const source = is_part_inside ? element(at, x, run_bytes) : nullptr;
      parts_.push_back({at_row, source, run_bytes});
      at_row += run_bytes;
      done += run;
    }
  }

  // The rows of a swizzled box are as wide as the swizzle, even if the box is not [H100].
  std::uint64_t row_pitch(coordinate row_bytes) const {
    const std::uint64_t narrowest = 16;
    const bool is_padded = map_.swizzle != CU_TENSOR_MAP_SWIZZLE_NONE && !map_.interleave;
    return is_padded ? narrowest << map_.swizzle : static_cast<std::uint64_t>(row_bytes);
  }

  bool is_column_inside(coordinate x) const {
    return x >= 0 && x < static_cast<coordinate>(map_.extents[0]);
  }

  std::byte* element(const coordinates& at, coordinate x, std::uint32_t bytes) {
    std::uint64_t address = map_.address + static_cast<std::uint64_t>(x) * unit_bytes();
    for (std::size_t i = 1; i < map_.rank; ++i) {
      address += static_cast<std::uint64_t>(at[i]) * map_.strides[i - 1];
    }
    return locate_bytes(w_, instr_, lane_, address, {kind_, bytes});
  }

  [[noreturn]] void raise(std::string detail, std::string hint) {
    raise_copy(w_, instr_, lane_, fault_kind::unmapped, std::move(detail), std::move(hint));
  }

  warp& w_;
  const instruction& instr_;
  int lane_;
  access_kind kind_;
  const bulk_site& site_;
  tensor_map map_{};
  coordinates start_{};
  std::vector<box_part> parts_;
  std::uint64_t end_ = 0;    // of the rows in the box
  std::uint32_t bytes_ = 0;  // of all elements
};

// Returns where a byte of the box lies: the swizzle exchanges address bits.
std::uint64_t swizzled(std::uint64_t at, std::uint8_t swizzle) {
  switch (swizzle) {
    case CU_TENSOR_MAP_SWIZZLE_32B:
      return at ^ (at >> 3 & 0x10);
    case CU_TENSOR_MAP_SWIZZLE_64B:
      return at ^ (at >> 3 & 0x30);
    case CU_TENSOR_MAP_SWIZZLE_128B:
      return at ^ (at >> 3 & 0x70);
    default:
      return at;
  }
}

// Sixteen bytes of what a load writes for elements outside of the tensor, of any type [H200].
struct fill_pattern {
  alignas(16) std::uint16_t halves[8];
};
constexpr fill_pattern zeros{}, nans{{outside_nan, outside_nan, outside_nan, outside_nan,
                                      outside_nan, outside_nan, outside_nan, outside_nan}};

const std::byte* fill_of(const tensor_map& map) {
  const bool is_nan = map.fill == CU_TENSOR_MAP_FLOAT_OOB_FILL_NAN_REQUEST_ZERO_FMA;
  return reinterpret_cast<const std::byte*>(is_nan ? &nans : &zeros);
}

// Visits the parts of a box in pieces that lie in one chunk of shared memory.
template <class Visit>
void for_each_piece(const std::vector<box_part>& parts, std::uint64_t first, std::uint8_t swizzle,
                    Visit&& visit) {
  for (const box_part& part : parts) {
    for (std::uint32_t done = 0; done < part.bytes;) {
      const std::uint64_t at = first + part.offset + done;
      const bool is_whole = swizzle == CU_TENSOR_MAP_SWIZZLE_NONE && part.at;
      const std::uint32_t room =
          is_whole ? part.bytes : static_cast<std::uint32_t>(chunk - at % chunk);
      const std::uint32_t bytes = std::min(part.bytes - done, room);
      visit(swizzled(at, swizzle), part.at ? part.at + done : nullptr, bytes);
      done += bytes;
    }
  }
}

void require_aligned(warp& w, const instruction& instr, int lane, std::uint64_t offset) {
  constexpr std::uint64_t alignment = 128;
  if (offset % alignment == 0) return;
  raise_copy(w, instr, lane, fault_kind::misaligned,
             "the address " + std::to_string(offset) +
                 " in shared memory of a tensor copy is no multiple of 128",
             "align the buffer in shared memory to 128 bytes, with a swizzle to 1024");
}

// Loads of tf32 elements round to nearest even, and give each NaN one pattern; the fill for
// elements outside of the tensor stays [H200].
void round_to_tf32(std::byte* to, const std::byte* from, std::size_t bytes) {
  constexpr std::uint32_t infinity = 0x7f80'0000, nan = 0x7fff'e000;
  const bool is_fill = from == reinterpret_cast<const std::byte*>(&nans);
  for (std::size_t at = 0; at < bytes; at += sizeof(std::uint32_t)) {
    std::uint32_t bits = 0;
    std::memcpy(&bits, from + at, sizeof bits);
    const std::uint32_t magnitude = bits & ~(std::uint32_t{1} << 31);
    if (!is_fill && magnitude != infinity) bits = magnitude > infinity ? nan : nearest_tf32(bits);
    std::memcpy(to + at, &bits, sizeof bits);
  }
}

void load_box(warp& w, const instruction& instr, int lane) {
  box_walk walk{w, instr, lane, access_kind::load};
  const std::vector<box_part> parts = walk.run();
  const std::byte* const fill = fill_of(walk.map());
  for (const bulk_target& target : targets_of(w, instr, lane)) {
    require_aligned(w, instr, lane, target.to & (block_window_bytes - 1));
    bulk_copy copy;
    if (walk.map().has_tf32()) copy.operation = round_to_tf32;
    for_each_piece(parts, target.to, walk.map().swizzle,
                   [&](std::uint64_t at, const std::byte* from, std::uint32_t bytes) {
                     std::byte* const to =
                         shared_range(w, instr, lane, at, bytes, access_kind::store);
                     copy.pieces.push_back({from ? from : fill, to, bytes});
                   });
    start_to_barrier(w, instr, lane, target, walk.bytes(), std::move(copy));
  }
}

ptx::scalar_type reduced_type(const tensor_map& map, ptx::qualifier operation) {
  using enum ptx::scalar_type;
  constexpr ptx::scalar_type types[] = {u8,  u16, u32,  s32, u64, s64, f16,
                                        f32, f64, bf16, f32, f32, f32};
  const bool is_bitwise = operation == ptx::qualifier::and_ || operation == ptx::qualifier::or_ ||
                          operation == ptx::qualifier::xor_;
  if (!is_bitwise) return types[map.data_type];
  return tensor_map::element_sizes[map.data_type] == 8 ? b64 : b32;
}

void store_box(warp& w, const instruction& instr, int lane) {
  const bulk_site& site = bulk_of(w, instr);
  box_walk walk{w, instr, lane, access_kind::store};
  const std::vector<box_part> parts = walk.run();
  const std::uint64_t first = w.at<std::uint64_t>(site.from)[lane];
  require_aligned(w, instr, lane, first);
  bulk_copy copy;
  if (site.operation != ptx::qualifier::unknown) {
    const ptx::scalar_type type = reduced_type(walk.map(), site.operation);
    const bool is_flushed = walk.map().is_flushed() && site.operation == ptx::qualifier::add;
    copy.operation = is_flushed ? &add_flushed : find_reduction(site.operation, type);
    if (!copy.operation) {
      raise_copy(w, instr, lane, fault_kind::trap,
                 "there is no such reduction for the element type of the tensor map",
                 "use a type of the table of cp.reduce.async.bulk");
    }
  }
  for_each_piece(
      parts, first, walk.map().swizzle, [&](std::uint64_t at, std::byte* to, std::uint32_t bytes) {
        const std::byte* const from = shared_range(w, instr, lane, at, bytes, access_kind::load);
        if (to) copy.pieces.push_back({from, to, bytes});
      });
  start_in_group(w, instr, lane, std::move(copy));
}

}  // namespace

void run_tensor_copy(warp& w, const instruction& instr) {
  for_each_lane(w.active, [&](int lane) {
    switch (bulk_of(w, instr).direction) {
      case bulk_direction::shared_to_global:
        store_box(w, instr, lane);
        break;
      case bulk_direction::prefetch:
        box_walk{w, instr, lane, access_kind::load}.run();
        break;
      default:
        load_box(w, instr, lane);
    }
  });
}

}  // namespace halfwarp::emulator::exec
