// SPDX-License-Identifier: Apache-2.0
// The instructions through which an address stays based on its object.
#include "checked.hpp"

namespace halfwarp::tests {
namespace {

class bases : public checked {
 protected:
  bases() { m.options.check_neighbors = true; }
  // Runs a body that computes d from a or b; d is then the address of y.
  std::size_t findings_of(const std::string& body) {
    m.load(kernel(".reg .b64 d1; .reg .pred q; mov.u64 c, " +
                  std::to_string(static_cast<std::int64_t>(y - x)) + ";\n" + body +
                  "\nst.global.u32 [d], 1;"));
    const auto result = m.run("k", {1}, {1}, x, y);
    EXPECT_FALSE(result.fault) << body;
    return result.findings.size();
  }
};

TEST_F(bases, pass_through_computations) {
  for (const std::string body :
       {"add.u64 d, a, c;", "add.u64 d, c, a;", "sub.u64 d, 0, c; sub.u64 d, a, d;",
        "mov.u64 d, a; add.u64 d, d, c;", "cvta.to.global.u64 d, a; add.u64 d, d, c;",
        "cvta.global.u64 d, a; add.u64 d, d, c;",
        "setp.eq.u32 q, t, 0; selp.u64 d, a, c, q; "
        "add.u64 d, d, c;",
        "min.u64 d, a, -1; add.u64 d, d, c;", "max.u64 d, a, 0; add.u64 d, d, c;",
        "and.b64 d, a, -1; add.u64 d, d, c;", "or.b64 d, a, 0; add.u64 d, d, c;",
        "xor.b64 d, a, 0; add.u64 d, d, c;", "cvt.s64.u64 d, a; add.u64 d, d, c;",
        "mad.lo.u64 d, c, 1, a;"}) {
    EXPECT_EQ(findings_of(body), 1u) << body;
  }
}

// An address of unknown origin may name any object.
TEST_F(bases, end_at_other_computations) {
  for (const std::string body :
       {"mov.u64 d, b;", "st.global.u64 [b+8], b; ld.global.u64 d, [b+8];", "mul.lo.u64 d, b, 1;",
        "shl.b64 d, b, 0;", "shr.u64 d, b, 0;", "div.u64 d, b, 1;", "mad.lo.u64 d, b, 1, 0;",
        "mad.lo.u64 d, a, 1, c;", "bfe.u64 d, b, 0, 64;",
        "setp.eq.u32 q, t, 0; selp.u64 d, b, a, q;", "not.b64 d, b; not.b64 d, d;",
        "mov.b64 {v, w}, b; mov.b64 d, {v, w};"}) {
    EXPECT_EQ(findings_of(body), 0u) << body;
  }
}

}  // namespace
}  // namespace halfwarp::tests
