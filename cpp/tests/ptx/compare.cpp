// SPDX-License-Identifier: Apache-2.0
// Structural comparison of modules, field by field.
#include "compare.hpp"

#include <string_view>
#include <tuple>
#include <vector>

namespace halfwarp::tests {
namespace {

using namespace emulator::ptx;

auto key(std::string_view s) { return s; }
auto key(const relocation& r) {
  return std::tuple{r.offset, r.size, r.is_generic, r.mask, r.kind, r.index, r.addend, r.name};
}
auto key(const register_declaration& r) {
  return std::tuple{r.name, r.type, r.vector_width, r.is_range, r.count};
}
auto key(const register_info& r) {
  return std::tuple{r.name, r.declaration, r.number, r.type, r.vector_width};
}
auto key(const label& l) { return std::tuple{l.name, l.instruction, l.is_referenced}; }
auto key(const target_list& l) { return std::tuple{l.name, l.is_call, l.indices, l.names}; }
auto key(const source_location& l) {
  return std::tuple{l.file,         l.line,         l.column,        l.function_name,
                    l.inlined_file, l.inlined_line, l.inlined_column};
}
auto key(const operand& o) {
  return std::tuple{o.kind,    o.is_negated, o.is_negative, o.component, o.base, o.symbol,
                    o.special, o.index,      o.count,       o.value,     o.name};
}
auto key(const instruction& i) {
  return std::tuple{i.mnemonic,      i.opcode,        i.is_guard_negated, i.guard,
                    i.first_operand, i.operand_count, i.location};
}
auto key(const statement& s) { return std::tuple{s.kind, s.index}; }
auto key(const module_item& s) { return std::tuple{s.kind, s.index}; }
auto key(const source_file& f) { return std::tuple{f.number, f.path}; }
auto key(const alias& a) { return std::tuple{a.name, a.target}; }
auto key(const unknown_directive& u) { return u.text; }
auto key(const mnemonic& m) { return std::tuple{m.text, m.opcode, m.has_unknown_word}; }

class comparison {
 public:
  std::string difference;

  void modules(const module& a, const module& b) {
    equal("head",
          std::tie(a.version_major, a.version_minor, a.target, a.target_flags, a.address_size,
                   a.pragmas),
          std::tie(b.version_major, b.version_minor, b.target, b.target_flags, b.address_size,
                   b.pragmas));
    each("file", a.files, b.files);
    each("alias", a.aliases, b.aliases);
    each("unknown directive", a.unknown_directives, b.unknown_directives);
    each("item", a.items, b.items);
    each("mnemonic", a.mnemonics, b.mnemonics);
    variables("variable", a.variables, b.variables);
    equal("number of functions", a.functions.size(), b.functions.size());
    for (std::size_t i = 0; difference.empty() && i < a.functions.size(); ++i) {
      functions(a.functions[i], b.functions[i]);
      if (!difference.empty()) difference = "function " + std::to_string(i) + ": " + difference;
    }
  }

 private:
  template <class T>
  void equal(const char* label, const T& a, const T& b) {
    if (difference.empty() && !(a == b)) difference = label;
  }

  template <class T>
  void each(const char* label, const std::vector<T>& a, const std::vector<T>& b) {
    equal(label, a.size(), b.size());
    for (std::size_t i = 0; difference.empty() && i < a.size(); ++i) {
      if (key(a[i]) != key(b[i])) difference = std::string{label} + " " + std::to_string(i);
    }
  }

  void variables(const char* label, const std::vector<variable>& a,
                 const std::vector<variable>& b) {
    equal(label, a.size(), b.size());
    for (std::size_t i = 0; difference.empty() && i < a.size(); ++i) {
      one_variable(a[i], b[i]);
      if (!difference.empty())
        difference = std::string{label} + " " + std::to_string(i) + ": " + difference;
    }
  }

  void one_variable(const variable& a, const variable& b) {
    const auto parts = [](const variable& v) {
      return std::tuple{
          v.name,       v.linkage,    v.space,           v.type,      v.vector_width,  v.is_array,
          v.is_unsized, v.is_managed, v.has_initializer, v.alignment, v.element_bytes, v.size};
    };
    const auto extra = [](const variable& v) {
      return std::tuple{v.offset,     v.dimensions,        v.attributes,     v.pointer_space,
                        v.is_pointer, v.pointer_alignment, v.register_index, v.initializer.bytes};
    };
    equal("declaration", parts(a), parts(b));
    equal("declaration", extra(a), extra(b));
    each("relocation", a.initializer.relocations, b.initializer.relocations);
  }

  void directives(const function_directives& a, const function_directives& b) {
    const auto parts = [](const function_directives& d) {
      return std::tuple{d.maxntid.value,  d.reqntid.value,   d.reqnctapercluster.value,
                        d.minnctapersm,   d.maxnctapersm,    d.maxnreg,
                        d.maxclusterrank, d.explicitcluster, d.blocksareclusters,
                        d.noreturn};
    };
    equal("directives", parts(a), parts(b));
    each("pragma", a.pragmas, b.pragmas);
    each("unknown directive", a.unknown, b.unknown);
  }

  void functions(const function& a, const function& b) {
    const auto head = [](const function& f) {
      return std::tuple{f.name,
                        f.linkage,
                        f.is_entry,
                        f.is_definition,
                        f.attributes,
                        f.parameter_bytes,
                        f.return_bytes,
                        f.parameter_alignment,
                        f.return_alignment};
    };
    equal("head", head(a), head(b));
    directives(a.directives, b.directives);
    variables("return parameter", a.return_parameters, b.return_parameters);
    variables("parameter", a.parameters, b.parameters);
    variables("variable", a.variables, b.variables);
    each("register declaration", a.register_declarations, b.register_declarations);
    each("register", a.registers, b.registers);
    each("label", a.labels, b.labels);
    each("target list", a.target_lists, b.target_lists);
    each("location", a.locations, b.locations);
    each("pragma", a.pragmas, b.pragmas);
    each("instruction", a.instructions, b.instructions);
    each("operand", a.operands, b.operands);
    each("statement", a.statements, b.statements);
    equal("number of prototypes", a.prototypes.size(), b.prototypes.size());
    for (std::size_t i = 0; difference.empty() && i < a.prototypes.size(); ++i) {
      equal("prototype", std::tie(a.prototypes[i].name, a.prototypes[i].directives),
            std::tie(b.prototypes[i].name, b.prototypes[i].directives));
      variables("prototype result", a.prototypes[i].return_parameters,
                b.prototypes[i].return_parameters);
      variables("prototype parameter", a.prototypes[i].parameters, b.prototypes[i].parameters);
    }
  }
};

}  // namespace

std::string first_difference(const module& a, const module& b) {
  comparison c;
  c.modules(a, b);
  return c.difference;
}

}  // namespace halfwarp::tests
