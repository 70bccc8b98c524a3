// SPDX-License-Identifier: Apache-2.0
// The decoder accepts the matrix instructions of the tables in the PTX manual, and refuses all
// other forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>
#include <vector>

#include "../machine.hpp"
#include "emulator/exec/decode/function_decoder.hpp"

namespace halfwarp::tests {
namespace {

using strings = std::vector<std::string>;

// Statements, each with the expectation that the decoder accepts it.
class forms {
 public:
  void add(const std::string& statement, bool is_accepted) {
    statements_.push_back(statement);
    if (is_accepted) accepted_.insert(statement);
  }

  // Expects both accepted and refused forms, and decodes all of them in one kernel.
  void check(std::size_t accepted) {
    EXPECT_EQ(accepted_.size(), accepted);
    EXPECT_LT(accepted, statements_.size());
    const std::set<std::string> refused = find_refused();
    for (const std::string& statement : statements_) {
      EXPECT_NE(refused.contains(statement), accepted_.contains(statement)) << statement;
    }
  }

 private:
  std::set<std::string> find_refused() const {
    std::string text =
        ".version 8.8\n.target sm_100a\n.address_size 64\n.visible .entry k() {\n.reg .b32 t;\n"
        ".reg .f32 r; .reg .f64 d; .reg .b64 c; .shared .align 128 .b8 s[256];\n";
    for (const std::string& statement : statements_) text += statement + "\n";
    machine m;
    const auto& owner = m.load(text + "ret; }").find_kernel("k")->owner();
    const exec::kernel_layout layout = exec::compute_layout(*owner.source, 0);
    std::uint32_t caches = 0;
    exec::function_decoder decoder{owner, owner.source->functions[0], layout, caches};
    decoder.run();
    std::set<std::string> refused;
    for (const auto& each : decoder.refused_instructions()) {
      refused.insert(statements_.at(each.instruction));
    }
    return refused;
  }

  strings statements_;
  std::set<std::string> accepted_;
};

bool contains(const strings& list, const std::string& word) {
  return std::ranges::find(list, word) != list.end();
}

std::string registers(int count, const std::string& name) {
  std::string list = "{";
  for (int n = 0; n < count; ++n) list += (n ? ", " : "") + name;
  return list + "}";
}

std::string register_of(const std::string& type) {
  return type == "f64" ? "d" : type == "f32" ? "r" : "t";
}

// Returns m, n and k of a name such as m16n8k32.
struct extents {
  int m, n, k;
};
extents extents_of(const std::string& name) {
  const std::size_t n = name.find('n'), k = name.find('k');
  return {std::stoi(name.substr(1)), std::stoi(name.substr(n + 1)), std::stoi(name.substr(k + 1))};
}

int bits_of(const std::string& type) {
  if (type == "e3m2" || type == "e2m3" || type == "e2m1") return 8;  // in containers of a byte
  if (type == "e4m3" || type == "e5m2") return 8;
  if (type == "tf32") return 32;
  return std::stoi(type.substr(type.find_first_of("0123456789")));
}

int register_count(int elements, int bits, const std::string& type) {
  return std::max(1, elements * bits / (32 * (type == "f64" ? 64 : 32)));
}

// ---- wmma

struct wmma_row {
  strings shapes, factors, sums;
};
const wmma_row wmma_rows[] = {
    {{"m16n16k16", "m32n8k16", "m8n32k16"}, {"f16"}, {"f16", "f32"}},
    {{"m16n16k16", "m32n8k16", "m8n32k16"}, {"bf16"}, {"f32"}},
    {{"m16n16k16", "m32n8k16", "m8n32k16"}, {"s8", "u8"}, {"s32"}},
    {{"m16n16k8"}, {"tf32"}, {"f32"}},
    {{"m8n8k4"}, {"f64"}, {"f64"}},
    {{"m8n8k32"}, {"s4", "u4"}, {"s32"}},
    {{"m8n8k128"}, {"b1"}, {"s32"}},
};
const strings wmma_shapes = {"m16n16k16", "m32n8k16", "m8n32k16", "m16n16k8",
                             "m8n8k4",    "m8n8k32",  "m8n8k128"};
const strings wmma_types = {"f16", "bf16", "tf32", "f32", "f64", "s8",
                            "u8",  "s4",   "u4",   "b1",  "s32"};

const wmma_row* row_of(const std::string& shape, const std::string& factor) {
  const auto* const row = std::ranges::find_if(wmma_rows, [&](const wmma_row& each) {
    return contains(each.shapes, shape) && contains(each.factors, factor);
  });
  return row == std::end(wmma_rows) ? nullptr : row;
}

bool has_sum(const std::string& shape, const std::string& sum) {
  return std::ranges::any_of(wmma_rows, [&](const wmma_row& each) {
    return contains(each.shapes, shape) && contains(each.sums, sum);
  });
}

// Returns the registers of a fragment. A and B of .f16 have 8 in each shape.
int fragment_count(const std::string& shape, char matrix, const std::string& type) {
  if (type == "f16" && (matrix == 'a' || matrix == 'b')) return 8;
  const auto [m, n, k] = extents_of(shape);
  const int elements = matrix == 'a' ? m * k : matrix == 'b' ? k * n : m * n;
  return register_count(elements, bits_of(type), type);
}

std::string fragment(const std::string& shape, char matrix, const std::string& type) {
  return registers(fragment_count(shape, matrix, type), register_of(type));
}

TEST(matrix_forms, wmma_loads_and_stores_have_the_shapes_and_types_of_the_manual) {
  forms all;
  for (const std::string& shape : wmma_shapes) {
    for (const std::string& type : wmma_types) {
      for (const char matrix : {'a', 'b', 'c', 'd'}) {
        for (const std::string layout : {"row", "col"}) {
          const bool is_factor = matrix == 'a' || matrix == 'b';
          const bool is_narrow = is_factor && bits_of(type) < 8;
          const bool fits = (is_factor ? row_of(shape, type) != nullptr : has_sum(shape, type)) &&
                            (!is_narrow || (layout == "row") == (matrix == 'a'));
          const std::string words = std::string(1, matrix) + ".sync.aligned." + layout + "." +
                                    shape + ".global." + type + " ";
          const int count = fragment_count(shape, matrix, type);
          for (const int n : {count, count + 1}) {
            const std::string list = registers(n, register_of(type));
            const std::string statement = matrix == 'd' ? "wmma.store." + words + "[c], " + list
                                                        : "wmma.load." + words + list + ", [c]";
            all.add(statement + ";", fits && n == count);
            all.add(statement + ", t;", fits && n == count);
          }
        }
      }
    }
  }
  // Three shapes have 4 types of factors and 3 of sums, with 2 matrices and 2 layouts each.
  all.check(2 * (3 * (4 * 4 + 3 * 4) + 8 + 8 + 8 + 6));
}

TEST(matrix_forms, wmma_products_have_the_shapes_and_types_of_the_manual) {
  forms all;
  const strings sums = {"f16", "f32", "f64", "s32"};
  const auto add = [&](const std::string& shape, const std::string& a, const std::string& b,
                       const std::string& d, const std::string& c, const std::string& layouts) {
    const wmma_row* const row = row_of(shape, a);
    const bool is_bit = a == "b1", is_half = a == "f16" && b == "f16";
    const bool fits = row && a == b && contains(row->sums, d) && contains(row->sums, c) &&
                      (bits_of(a) >= 8 || layouts == ".row.col");
    const std::string operands = " " + fragment(shape, 'd', d) + ", " + fragment(shape, 'a', a) +
                                 ", " + fragment(shape, 'b', b) + ", " + fragment(shape, 'c', c) +
                                 ";";
    const std::string types = "." + d + (is_half ? "" : "." + a + "." + b) + "." + c;
    const auto statement = [&](const std::string& before, const std::string& after) {
      return "wmma.mma" + before + ".sync.aligned" + layouts + "." + shape + types + after +
             operands;
    };
    const bool is_sum = d == "s32" && !is_bit;
    all.add(statement("", ""), fits && !is_bit);
    all.add(statement(".xor.popc", ""), fits && is_bit);
    all.add(statement(".and.popc", ""), fits && is_bit);
    all.add(statement("", ".satfinite"), fits && is_sum);
    all.add(statement("", ".rn"), fits && d == "f64");
  };
  for (const std::string& shape : wmma_shapes) {
    for (const std::string& a : wmma_types) {
      for (const std::string& b : {a, std::string(a == "s8" ? "u8" : a == "s4" ? "u4" : "s8")}) {
        for (const std::string& d : sums) {
          for (const std::string& c : sums) {
            for (const char* layouts : {".row.row", ".row.col", ".col.row", ".col.col"}) {
              add(shape, a, b, d, c, layouts);
            }
          }
        }
      }
    }
  }
  // Three shapes with 4 layouts: 4 forms of .f16, 1 of .bf16, and 2 of bytes, also with .satfinite.
  all.check(3 * 4 * (4 + 1 + 2 * 2) + 4 * 1 + 4 * 2 + 2 * 2 + 2);
}

// ---- mma

struct mma_row {
  strings types, sums, dense, sparse;
};
const mma_row mma_rows[] = {
    {{"f16"}, {"f16", "f32"}, {"m16n8k8", "m16n8k16"}, {"m16n8k16", "m16n8k32"}},
    {{"bf16"}, {"f32"}, {"m16n8k8", "m16n8k16"}, {"m16n8k16", "m16n8k32"}},
    {{"tf32"}, {"f32"}, {"m16n8k4", "m16n8k8"}, {"m16n8k8", "m16n8k16"}},
    {{"f64"}, {"f64"}, {"m8n8k4", "m16n8k4", "m16n8k8", "m16n8k16"}, {}},
    {{"e4m3", "e5m2"}, {"f16", "f32"}, {"m16n8k16", "m16n8k32"}, {"m16n8k64"}},
    {{"s8", "u8"}, {"s32"}, {"m8n8k16", "m16n8k16", "m16n8k32"}, {"m16n8k32", "m16n8k64"}},
    {{"s4", "u4"}, {"s32"}, {"m8n8k32", "m16n8k32", "m16n8k64"}, {"m16n8k64", "m16n8k128"}},
    {{"b1"}, {"s32"}, {"m8n8k128", "m16n8k128", "m16n8k256"}, {}},
};
const strings mma_shapes = {"m8n8k4",   "m8n8k16",  "m8n8k32",  "m8n8k128",  "m16n8k4",  "m16n8k8",
                            "m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128", "m16n8k256"};
const strings mma_types = {"f16",  "bf16", "tf32", "f64", "e4m3", "e5m2", "e3m2",
                           "e2m3", "e2m1", "s8",   "u8",  "s4",   "u4",   "b1"};

// Returns the operands of mma, where an element of A and B has `bits` bits.
std::string operands_of(const std::string& shape, const std::string& type, const std::string& sum,
                        int bits, bool is_sparse) {
  const auto [m, n, k] = extents_of(shape);
  const std::string c = registers(register_count(m * n, bits_of(sum), sum), register_of(sum));
  const auto matrix = [&](int elements) {
    return registers(register_count(elements, bits, type), register_of(type));
  };
  return " " + c + ", " + matrix(m * k / (is_sparse ? 2 : 1)) + ", " + matrix(n * k) + ", " + c +
         (is_sparse ? ", t, 0" : "");
}

// Adds the forms of one shape and its types, with the words that only some types have.
void add_products(forms& all, const std::string& shape, const std::string& a, const std::string& b,
                  const std::string& sum) {
  const auto* const row =
      std::ranges::find_if(mma_rows, [&](const mma_row& each) { return contains(each.types, a); });
  const bool has_types =
      row != std::end(mma_rows) && contains(row->types, b) && contains(row->sums, sum);
  const std::string types = "." + sum + "." + a + "." + b + "." + sum;
  for (const std::string words : {"", ".sp", ".sp::ordered_metadata"}) {
    const bool is_sparse = !words.empty();
    const bool fits = has_types && contains(is_sparse ? row->sparse : row->dense, shape);
    const std::string operands = operands_of(shape, a, sum, bits_of(a), is_sparse) + ";";
    const auto add = [&](const std::string& before, const std::string& after, bool is_accepted) {
      all.add(
          "mma" + words + ".sync.aligned." + shape + ".row.col" + before + types + after + operands,
          fits && is_accepted);
    };
    const bool is_bit = a == "b1";
    add("", "", !is_bit);
    add("", ".xor.popc", is_bit);
    add("", ".and.popc", is_bit);
    add(".satfinite", "", sum == "s32" && !is_bit);
    if (fits) {
      add(".kind::f8f6f4", "",
          (shape == "m16n8k32" || shape == "m16n8k64") && bits_of(a) == 8 && a[0] == 'e');
    }
  }
}

TEST(matrix_forms, products_have_the_shapes_and_types_of_the_manual) {
  forms all;
  for (const std::string& shape : mma_shapes) {
    for (const std::string& a : mma_types) {
      for (const std::string& b : mma_types) {
        if (shape == "m8n8k4" && a == "f16") continue;  // has layouts
        for (const std::string sum : {"f16", "f32", "f64", "s32"}) {
          add_products(all, shape, a, b, sum);
        }
      }
    }
  }
  // Dense, then each of the two sparse words: halves, bfloat, tf32, f64, bytes of floats with and
  // without .kind, then integers of 8, 4 and 1 bits.
  all.check(4 + 2 + 2 + 4 + 16 + 8 + 24 + 24 + 6 + 2 * (4 + 2 + 2 + 8 + 8 + 16 + 16));
}

// ---- mma of special layouts, and with block scales

TEST(matrix_forms, layouts_of_a_product_have_an_order) {
  forms all;
  const std::string sums = registers(4, "t"), halves = registers(2, "t");
  for (const std::string layouts :
       {"", ".row", ".col", ".row.row", ".row.col", ".col.row", ".col.col"}) {
    const bool is_row_col = layouts == ".row.col", has_two = layouts.size() == 8;
    all.add("mma.sync.aligned.m16n8k8" + layouts + ".f16.f16.f16.f16 {t, t}, {t, t}, {t}, {t, t};",
            is_row_col);
    all.add("mma.sync.aligned.m8n8k32" + layouts + ".s32.s4.u4.s32 {t, t}, {t}, {t}, {t, t};",
            is_row_col);
    all.add("wmma.mma.sync.aligned" + layouts + ".m8n8k4.f64.f64.f64.f64 {d, d}, {d}, {d}, {d, d};",
            has_two);
    all.add("wmma.mma.sync.aligned" + layouts + ".m8n8k32.s32.u4.u4.s32 {t, t}, {t}, {t}, {t, t};",
            is_row_col);
    // The sum of m8n8k4 may gain bits, and not lose them.
    for (const std::string d : {"f16", "f32", "s32"}) {
      for (const std::string c : {"f16", "f32", "s32"}) {
        const auto list = [](const std::string& type) {
          return registers(type == "f16" ? 4 : 8, register_of(type));
        };
        const std::string operands = list(d) + ", " + halves + ", " + halves + ", " + list(c) + ";";
        all.add("mma.sync.aligned.m8n8k4" + layouts + "." + d + ".f16.f16." + c + " " + operands,
                has_two && d != "s32" && c != "s32" && (c == "f16" || d == "f32"));
      }
    }
  }
  all.check(1 + 1 + 4 + 1 + 4 * 3);
}

struct scaled_row {
  std::string kind, dense, sparse, size, scale;
  bool is_default;  // the size of the kind without a word
};
const scaled_row scaled_rows[] = {
    {"mxf8f6f4", "m16n8k32", "m16n8k64", ".scale_vec::1X", "ue8m0", true},
    {"mxf4", "m16n8k64", "m16n8k128", ".scale_vec::2X", "ue8m0", true},
    {"mxf4nvf4", "m16n8k64", "m16n8k128", ".scale_vec::2X", "ue8m0", false},
    {"mxf4nvf4", "m16n8k64", "m16n8k128", ".scale_vec::4X", "ue4m3", false},
};

bool has_scales(const std::string& kind, const std::string& shape, bool is_sparse,
                const std::string& size, const std::string& scale) {
  return std::ranges::any_of(scaled_rows, [&](const scaled_row& each) {
    return each.kind == kind && (is_sparse ? each.sparse : each.dense) == shape &&
           each.scale == scale && (each.size == size || (size.empty() && each.is_default));
  });
}

TEST(matrix_forms, block_scales_have_the_sizes_and_types_of_the_manual) {
  forms all;
  const strings types = {"e4m3", "e5m2", "e3m2", "e2m3", "e2m1"};
  const auto add = [&](const std::string& kind, const std::string& shape, const std::string& a,
                       const std::string& b, const std::string& size, const std::string& scale) {
    const bool is_packed = kind != "mxf8f6f4";
    for (const bool is_sparse : {false, true}) {
      const bool fits = has_scales(kind, shape, is_sparse, size, scale) &&
                        (!is_packed || (a == "e2m1" && b == "e2m1"));
      all.add("mma" + std::string(is_sparse ? ".sp::ordered_metadata" : "") + ".sync.aligned." +
                  shape + ".row.col.kind::" + kind + ".block_scale" + size + ".f32." + a + "." + b +
                  ".f32." + scale + operands_of(shape, a, "f32", is_packed ? 4 : 8, is_sparse) +
                  ", t, {0, 0}, t, {0, 0};",
              fits);
    }
  };
  for (const std::string kind : {"mxf8f6f4", "mxf4", "mxf4nvf4"}) {
    for (const std::string shape : {"m16n8k16", "m16n8k32", "m16n8k64", "m16n8k128"}) {
      for (const std::string& a : types) {
        for (const std::string& b : types) {
          for (const std::string size :
               {"", ".scale_vec::1X", ".scale_vec::2X", ".scale_vec::4X"}) {
            // The manual of PTX 8.7 has no .ue8m0 here, later ones do.
            const bool is_later = kind == "mxf4nvf4" && size == ".scale_vec::4X";
            if (!is_later) add(kind, shape, a, b, size, "ue8m0");
            if (size != ".scale_vec::4X") add(kind, shape, a, b, size, "ue4m3");
          }
          if (kind == "mxf4nvf4") add(kind, shape, a, b, ".scale_vec::4X", "ue4m3");
        }
      }
    }
  }
  all.check(2 * (2 * 25 + 2 + 1 + 1));
}

// ---- ldmatrix, stmatrix and movmatrix

// The verifier requires .trans of the tall shapes.
TEST(matrix_forms, moves_have_the_shapes_and_types_of_the_manual) {
  forms all;
  const auto add = [&](const std::string& shape, const std::string& number,
                       const std::string& transposed, const std::string& type) {
    const int count = number == ".x4" ? 4 : number == ".x2" ? 2 : 1;
    const bool is_tall = shape == "m16n16", is_transposed = !transposed.empty();
    const bool is_expanded = type == "b8x16.b6x16_p32" || type == "b8x16.b4x16_p64";
    const bool is_half = shape == "m8n8" && type == "b16" && !number.empty();
    const std::string words = ".sync.aligned." + shape + number + transposed + ".shared." + type;
    const std::string list = registers(is_tall ? 2 * count : count, "t");
    const bool loads = is_half || (shape == "m8n16" && is_expanded && !is_transposed) ||
                       (is_tall && (is_expanded || type == "b8") && count < 4);
    if (!is_tall || is_transposed)
      all.add("ldmatrix" + words + " " + list + ", [s];", loads && !number.empty());
    const bool stores = is_half || (shape == "m16n8" && type == "b8" && !number.empty());
    if (shape != "m16n8" || is_transposed)
      all.add("stmatrix" + words + " [s], " + list + ";", stores);
    if (number.empty()) {
      all.add("movmatrix.sync.aligned." + shape + transposed + "." + type + " t, t;",
              shape == "m8n8" && is_transposed && type == "b16");
    }
  };
  for (const std::string shape : {"m8n8", "m8n16", "m16n16", "m16n8"}) {
    for (const std::string number : {"", ".x1", ".x2", ".x4"}) {
      for (const std::string transposed : {"", ".trans"}) {
        for (const std::string type : {"b16", "b8", "b8x16.b6x16_p32", "b8x16.b4x16_p64"}) {
          add(shape, number, transposed, type);
        }
      }
    }
  }
  all.check(6 + 6 + 6 + 6 + 3 + 1);
}

TEST(matrix_forms, all_need_sync_and_aligned) {
  forms all;
  for (const std::string words : {"", ".sync", ".aligned", ".sync.aligned"}) {
    for (const std::string statement :
         {"ldmatrix%.m8n8.x1.shared.b16 {t}, [s];", "stmatrix%.m8n8.x1.shared.b16 [s], {t};",
          "movmatrix%.m8n8.trans.b16 t, t;", "wmma.load.c%.row.m8n8k32.global.s32 {t, t}, [c];",
          "wmma.store.d%.row.m8n8k32.global.s32 [c], {t, t};",
          "wmma.mma%.row.col.m8n8k32.s32.u4.u4.s32 {t, t}, {t}, {t}, {t, t};",
          "mma%.m8n8k4.row.col.f16.f16.f16.f16 {t, t, t, t}, {t, t}, {t, t}, {t, t, t, t};",
          "mma%.m8n8k32.row.col.s32.u4.u4.s32 {t, t}, {t}, {t}, {t, t};"}) {
      const std::size_t at = statement.find('%');
      all.add(statement.substr(0, at) + words + statement.substr(at + 1), words == ".sync.aligned");
    }
  }
  all.check(8);
}

}  // namespace
}  // namespace halfwarp::tests
