// SPDX-License-Identifier: Apache-2.0
// Tensor maps, their changes by kernels, and copies with them.
#include <numeric>

#include "copying_kernel.hpp"
#include "emulator/exec/async/tensor_map.hpp"

namespace halfwarp::tests {
namespace {

using memory::tensor_map;
using memory::tensor_map_kind;

// A map of 4 rows of 16 words.
tensor_map rows_of_words(memory::address base) {
  tensor_map map{};
  map.signature = tensor_map::valid_signature;
  map.address = base;
  map.rank = 2;
  map.data_type = CU_TENSOR_MAP_DATA_TYPE_UINT32;
  map.extents[0] = 16;
  map.extents[1] = 4;
  map.strides[0] = 64;
  map.element_strides[0] = map.element_strides[1] = 1;
  map.box[0] = 8;
  map.box[1] = 2;
  return map;
}

TEST(tensor_maps, are_complete_with_the_fields_of_their_rank) {
  const auto is_complete = [](auto&& change) {
    tensor_map map = rows_of_words(4096);
    change(map);
    return map.is_complete();
  };
  EXPECT_TRUE(is_complete([](tensor_map&) {}));
  EXPECT_TRUE(is_complete([](tensor_map& map) { map.signature = 0; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.signature = 1; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.rank = 0; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.rank = 3; }));  // no third box
  for (const int rank : {1, 2, 3, 4, 5, 6}) {
    const auto with_boxes = [&](tensor_map& map) {
      map.rank = static_cast<std::uint8_t>(rank);
      for (int i = 2; i < 5; ++i) map.element_strides[i] = 1, map.box[i] = 1;
    };
    EXPECT_EQ(is_complete(with_boxes), rank <= 5) << rank;
    for (int i = 0; i < 5; ++i) {
      EXPECT_EQ(is_complete([&](tensor_map& map) { with_boxes(map), map.box[i] = 0; }),
                i >= rank && rank <= 5);
      EXPECT_EQ(is_complete([&](tensor_map& map) { with_boxes(map), map.element_strides[i] = 0; }),
                i >= rank && rank <= 5);
    }
    for (const int interleave : {0, 1, 2, 3}) {
      EXPECT_EQ(is_complete([&](tensor_map& map) {
                  with_boxes(map), map.interleave = static_cast<std::uint8_t>(interleave);
                }),
                rank <= 5 && (rank < 3 ? interleave == 0 : interleave <= 2));
    }
  }
  EXPECT_TRUE(is_complete([](tensor_map& map) { map.data_type = 12; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.data_type = 13; }));
  EXPECT_TRUE(is_complete([](tensor_map& map) { map.swizzle = 3; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.swizzle = 4; }));
  EXPECT_TRUE(is_complete([](tensor_map& map) { map.fill = 1; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.fill = 2; }));
  EXPECT_FALSE(is_complete([](tensor_map& map) { map.kind = tensor_map_kind{2}; }));
  // An image has channels and pixels, whatever its rank.
  const auto image = [](std::uint16_t channels, std::uint16_t pixels) {
    return [=](tensor_map& map) {
      map.kind = tensor_map_kind::im2col;
      map.rank = 4;
      for (int i = 2; i < 5; ++i) map.element_strides[i] = 1;
      map.box[0] = channels;
      map.box[1] = pixels;
    };
  };
  EXPECT_TRUE(is_complete(image(1, 1)));
  EXPECT_FALSE(is_complete(image(0, 1)));
  EXPECT_FALSE(is_complete(image(1, 0)));
}

class tensor_copies : public copying_kernel {
 protected:
  tensor_copies() {
    numbers values(words);
    std::iota(values.begin(), values.end(), 100u);
    tensor = m.upload(values);
    set(rows_of_words(tensor));
  }
  void set(const tensor_map& value) { map = m.upload(std::vector<tensor_map>{value}); }
  template <class Change>
  void change(Change&& apply) {
    tensor_map value = rows_of_words(tensor);
    apply(value);
    set(value);
  }
  static std::string coordinates(const std::string& list) {
    std::string text;
    for (std::size_t n = 0, at = 0; at < list.size(); ++n) {
      const std::size_t end = std::min(list.find(' ', at), list.size());
      text += "mov.u32 r" + std::to_string(n) + ", " + list.substr(at, end - at) + ";";
      at = end + 1;
    }
    return text;
  }
  // A load of 2 rows of 8 words to shared memory at [s + to].
  static std::string load(const std::string& start, const std::string& to = "0") {
    return coordinates(start) +
           "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 64;\n"
           "cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes [s+" +
           to + "], [m, {r0, r1}], [bar];\n";
  }

  memory::address tensor = 0;
};

TEST_F(tensor_copies, replace_the_fields_of_a_map) {
  struct field {
    const char* name;
    std::uint64_t first, last;  // values that maps have
    std::size_t offset, size;
    int dimensions = 0;       // 0: of the whole map
    std::uint64_t above = 0;  // the map has the value and this
  };
  const field fields[] = {
      {"rank", 0, 4, offsetof(tensor_map, rank), 1, 0, 1},
      {"interleave_layout", 0, 2, offsetof(tensor_map, interleave), 1},
      {"swizzle_mode", 0, 3, offsetof(tensor_map, swizzle), 1},
      {"fill_mode", 0, 1, offsetof(tensor_map, fill), 1},
      {"box_dim", 1, 256, offsetof(tensor_map, box), 2, 5},
      {"global_dim", 1, ~0u, offsetof(tensor_map, extents), 8, 5},
      {"element_stride", 1, 8, offsetof(tensor_map, element_strides), 1, 5},
  };
  map = m.allocate(128);
  for (const field& each : fields) {
    const auto replace = [&](int dimension, std::uint64_t value) {
      return "mov.u32 n, " + std::to_string(value) + "; tensormap.replace.tile." + each.name +
             ".global.b1024.b32 [m], " +
             (each.dimensions ? std::to_string(dimension) + ", " : std::string{}) +
             (each.dimensions || each.above ? "n" : std::to_string(value)) + ";";
    };
    for (int i = 0; i < std::max(each.dimensions, 1); ++i) {
      for (const std::uint64_t value : {each.first, each.last}) {
        std::vector<std::uint8_t> expected(128, 0x77);
        std::memcpy(m.view<std::uint8_t>(map), expected.data(), 128);
        EXPECT_EQ(detail_of(replace(i, value)), "") << each.name << value;
        const std::uint64_t written = value + each.above;
        std::memcpy(expected.data() + each.offset + static_cast<std::size_t>(i) * each.size,
                    &written, each.size);
        EXPECT_EQ(m.download<std::uint8_t>(map, 128), expected) << each.name << i;
      }
    }
    const auto refused = [&](int dimension, std::uint64_t value) {
      const auto fault = run(replace(dimension, value)).fault;
      ASSERT_TRUE(fault) << each.name << value;
      EXPECT_EQ(fault->kind, fault_kind::unmapped);
      EXPECT_EQ(fault->detail,
                "no tensor map has the value " + std::to_string(value) + " in this field");
    };
    if (each.first) refused(0, each.first - 1);
    if (each.last < ~0u) refused(0, each.last + 1);
    if (each.dimensions) refused(each.dimensions, each.first);
  }
}

// The PTX manual and cuda.h number the types differently.
TEST_F(tensor_copies, replace_the_type_of_a_map) {
  constexpr CUtensorMapDataType types[] = {
      CU_TENSOR_MAP_DATA_TYPE_UINT8,       CU_TENSOR_MAP_DATA_TYPE_UINT16,
      CU_TENSOR_MAP_DATA_TYPE_UINT32,      CU_TENSOR_MAP_DATA_TYPE_INT32,
      CU_TENSOR_MAP_DATA_TYPE_UINT64,      CU_TENSOR_MAP_DATA_TYPE_INT64,
      CU_TENSOR_MAP_DATA_TYPE_FLOAT16,     CU_TENSOR_MAP_DATA_TYPE_FLOAT32,
      CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ, CU_TENSOR_MAP_DATA_TYPE_FLOAT64,
      CU_TENSOR_MAP_DATA_TYPE_BFLOAT16,    CU_TENSOR_MAP_DATA_TYPE_TFLOAT32,
      CU_TENSOR_MAP_DATA_TYPE_TFLOAT32_FTZ};
  for (std::size_t n = 0; n < std::size(types); ++n) {
    EXPECT_EQ(detail_of("tensormap.replace.tile.elemtype.global.b1024.b32 [m], " +
                        std::to_string(n) + ";"),
              "");
    EXPECT_EQ(m.view<tensor_map>(map)->data_type, types[n]) << n;
  }
}

TEST_F(tensor_copies, replace_addresses_and_strides_of_16_bytes) {
  const auto replace = [&](const std::string& field, const std::string& value, int dimension = 3) {
    return detail_of("mov.u64 v, " + value + "; tensormap.replace.tile." + field +
                     ".global.b1024.b64 [m], " +
                     (field == "global_address" ? "v;" : std::to_string(dimension) + ", v;"));
  };
  for (const std::string field : {"global_address", "global_stride"}) {
    EXPECT_EQ(replace(field, "0x123456789ab0"), "");
    EXPECT_EQ(replace(field, "24"), "no tensor map has the value 24 in this field");
  }
  EXPECT_EQ(replace("global_stride", "16", 4), "no tensor map has the value 16 in this field");
  EXPECT_EQ(m.view<tensor_map>(map)->address, 0x123456789ab0u);
  EXPECT_EQ(m.view<tensor_map>(map)->strides[3], 0x123456789ab0u);
}

TEST_F(tensor_copies, need_a_map_of_their_form) {
  EXPECT_EQ(detail_of(load("0 0")), "");
  change([](tensor_map& value) { value.rank = 1; });
  EXPECT_EQ(detail_of(load("0 0")), "the tensor map has 1 dimensions, tiled, and the copy has 2");
  change([](tensor_map& value) {
    value.kind = tensor_map_kind::im2col;
    value.rank = 3;
    value.element_strides[2] = 1;
  });
  EXPECT_EQ(detail_of(load("0 0")), "the tensor map has 3 dimensions, im2col, and the copy has 2");
  change([](tensor_map& value) { value.kind = tensor_map_kind::im2col; });
  EXPECT_EQ(detail_of(load("0 0")), "the tensor map has 2 dimensions, im2col, and the copy has 2");
  change([](tensor_map& value) { value.signature = 5; });
  const auto fault = run(load("0 0")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::unmapped);
  EXPECT_EQ(fault->detail, "there is no tensor map at " + report::hexadecimal(map));
}

TEST_F(tensor_copies, start_at_multiples_of_16_bytes) {
  EXPECT_EQ(detail_of(load("4 1")), "");
  EXPECT_EQ(detail_of(load("-4 -1")), "");
  for (const std::string start : {"2", "-1", "7"}) {
    const auto fault = run(load(start + " 0")).fault;
    ASSERT_TRUE(fault);
    EXPECT_EQ(fault->kind, fault_kind::misaligned);
    EXPECT_EQ(fault->detail,
              "coordinate " + start + " of the innermost dimension is no multiple of 16 bytes");
  }
}

TEST_F(tensor_copies, have_aligned_places_in_shared_memory) {
  EXPECT_EQ(detail_of(load("0 0", "128")), "");
  const auto fault = run(load("0 0", "64")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::misaligned);
  EXPECT_EQ(fault->detail,
            "the address 64 in shared memory of a tensor copy is no multiple of 128");
}

TEST_F(tensor_copies, access_the_memory_of_the_tensor) {
  change([&](tensor_map& value) { value.address += 16; });
  EXPECT_EQ(detail_of(load("4 2")), "");
  const auto fault = run(load("8 2")).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::out_of_bounds);
  EXPECT_EQ(fault->access, report::access_kind::load);
  EXPECT_EQ(fault->address, tensor + 16 + 3 * 64 + 32);
  EXPECT_EQ(fault->bytes, 32u);
  const auto prefetch = [&](const std::string& start) {
    return coordinates(start) + "cp.async.bulk.prefetch.tensor.2d.L2.global.tile [m, {r0, r1}];";
  };
  EXPECT_EQ(detail_of(prefetch("4 2")), "");
  EXPECT_EQ(detail_of(prefetch("16 2")), "") << "outside of the tensor";
  EXPECT_EQ(run(prefetch("8 2")).fault.value_or(report::fault{}).address, fault->address);
}

TEST_F(tensor_copies, gather_and_scatter_four_rows) {
  change([](tensor_map& value) { value.box[1] = 1; });
  const std::string gather =
      coordinates("4 3 1 9 2") +
      "mbarrier.init.shared.b64 [bar], 1; mbarrier.arrive.expect_tx.shared.b64 _, [bar], 128;\n"
      "cp.async.bulk.tensor.2d.shared::cta.global.tile::gather4.mbarrier::complete_tx::bytes [s], "
      "[m, {r0, r1, r2, r3, r4}], [bar];\n"
      "A: mbarrier.try_wait.parity.shared.b64 p, [bar], 0; @!p bra A;\n"
      "cp.async.bulk.global.shared::cta.bulk_group [g], [s], 128;\n";
  numbers expected(32);
  std::iota(expected.begin(), expected.begin() + 8, 100 + 3 * 16 + 4);
  std::iota(expected.begin() + 8, expected.begin() + 16, 100 + 16 + 4);
  std::iota(expected.begin() + 24, expected.end(), 100 + 2 * 16 + 4);
  EXPECT_EQ(results(gather, 32), expected);
  numbers stored(words);
  std::iota(stored.begin(), stored.end(), 100);
  const std::string scatter =
      coordinates("8 2 0 9 3") +
      "mov.u32 n, 1; st.shared.v4.u32 [s], {n, n, n, n}; st.shared.v4.u32 [s+16], {n, n, n, n};\n"
      "mov.u32 n, 2; st.shared.v4.u32 [s+32], {n, n, n, n}; st.shared.v4.u32 [s+48], {n, n, n, n};"
      "mov.u32 n, 4; st.shared.v4.u32 [s+96], {n, n, n, n}; st.shared.v4.u32 [s+112], {n, n, n, "
      "n};\ncp.async.bulk.tensor.2d.global.shared::cta.tile::scatter4.bulk_group "
      "[m, {r0, r1, r2, r3, r4}], [s];\n";
  EXPECT_EQ(detail_of(scatter), "");
  std::fill_n(stored.begin() + 2 * 16 + 8, 8, 1u);
  std::fill_n(stored.begin() + 8, 8, 2u);
  std::fill_n(stored.begin() + 3 * 16 + 8, 8, 4u);
  EXPECT_EQ(m.download<std::uint32_t>(tensor, words), stored);
}

// Each operation has types; the others end the kernel.
TEST_F(tensor_copies, reduce_the_types_of_their_operation) {
  const auto reduce = [&](const std::string& operation, CUtensorMapDataType type) {
    change([&](tensor_map& value) {
      value.data_type = static_cast<std::uint8_t>(type);
      value.box[0] = tensor_map::element_sizes[type] == 8 ? 2 : 4;
      value.box[1] = 1;
    });
    return coordinates("0 0") +
           "mov.u32 n, 0x0f00ff01; st.shared.v4.u32 [s], {n, n, n, n};\n"
           "cp.reduce.async.bulk.tensor.2d.global.shared::cta." +
           operation + ".tile.bulk_group [m, {r0, r1}], [s];\n";
  };
  const auto reduced = [&](const std::string& operation, CUtensorMapDataType type) {
    *m.view<std::uint64_t>(tensor) = 0xf0f0'1234'0000'00ffu;
    EXPECT_EQ(detail_of(reduce(operation, type)), "") << operation;
    return *m.view<std::uint64_t>(tensor);
  };
  constexpr std::uint64_t old = 0xf0f0'1234'0000'00ffu, operand = 0x0f00'ff01'0f00'ff01u;
  for (const auto type : {CU_TENSOR_MAP_DATA_TYPE_UINT32, CU_TENSOR_MAP_DATA_TYPE_UINT64,
                          CU_TENSOR_MAP_DATA_TYPE_INT32, CU_TENSOR_MAP_DATA_TYPE_INT64}) {
    EXPECT_EQ(reduced("and", type), old & operand);
    EXPECT_EQ(reduced("or", type), old | operand);
    EXPECT_EQ(reduced("xor", type), old ^ operand);
  }
  EXPECT_EQ(reduced("add", CU_TENSOR_MAP_DATA_TYPE_UINT64), old + operand);
  EXPECT_EQ(reduced("min", CU_TENSOR_MAP_DATA_TYPE_INT64), old);
  EXPECT_EQ(reduced("min", CU_TENSOR_MAP_DATA_TYPE_UINT64), operand);
  EXPECT_EQ(reduced("max", CU_TENSOR_MAP_DATA_TYPE_INT32), 0x0f00'ff01'0f00'ff01u);
  EXPECT_EQ(reduced("max", CU_TENSOR_MAP_DATA_TYPE_UINT32), 0xf0f0'1234'0f00'ff01u);
  EXPECT_EQ(reduced("inc", CU_TENSOR_MAP_DATA_TYPE_UINT32), 0x0000'0000'0000'0100u);
  const auto fault = run(reduce("inc", CU_TENSOR_MAP_DATA_TYPE_FLOAT32)).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, fault_kind::trap);
  EXPECT_EQ(fault->detail, "there is no such reduction for the element type of the tensor map");
  EXPECT_NE(detail_of(reduce("min", CU_TENSOR_MAP_DATA_TYPE_UINT8)), "");
  EXPECT_NE(detail_of(reduce("max", CU_TENSOR_MAP_DATA_TYPE_UINT16)), "");
  EXPECT_NE(detail_of(reduce("min", CU_TENSOR_MAP_DATA_TYPE_FLOAT32_FTZ)), "");
  EXPECT_NE(detail_of(reduce("max", CU_TENSOR_MAP_DATA_TYPE_TFLOAT32)), "");
}

TEST_F(tensor_copies, publish_a_map) {
  const std::string copy =
      "tensormap.cp_fenceproxy.global.shared::cta.tensormap::generic.release.gpu.sync.aligned [g";
  const std::string values =
      "mov.u32 n, 3; setp.eq.u32 p, t, 0; @!p bra E; st.shared.u32 [s], n; n_: st.shared.u32 "
      "[s+124], n; st.shared.u32 [s+128], n; E: ";
  const numbers all = results(values + copy + "], [s], 128;", 33, 32);
  EXPECT_EQ(all[0], 3u);
  EXPECT_EQ(all[31], 3u);
  EXPECT_EQ(all[32], 0u);
  const auto fault = run(copy + "+256], [s], 128;", 32).fault;
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->access, report::access_kind::store);
  EXPECT_EQ(fault->bytes, 128u);
}

}  // namespace
}  // namespace halfwarp::tests
