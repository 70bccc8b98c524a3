// SPDX-License-Identifier: Apache-2.0
// Prints each kind of AST node.
#include "emulator/ptx/printer.hpp"

#include <algorithm>
#include <array>
#include <cinttypes>
#include <cstdio>

namespace halfwarp::emulator::ptx {
namespace {

constexpr std::array<std::string_view, 12> components = {"",    ".x",  ".y",  ".z",  ".w",  ".b0",
                                                         ".b1", ".b2", ".b3", ".h0", ".h1", ""};
static_assert(components[static_cast<std::size_t>(component::h1)] == ".h1");

constexpr std::array<std::string_view, 5> linkages = {"", ".visible ", ".weak ", ".extern ",
                                                      ".common "};

class printer {
 public:
  explicit printer(const module& m) : module_{m} {}

  std::string release() noexcept { return std::move(out_); }

  void print_module() {
    put(".version ", module_.version_major, ".", module_.version_minor, "\n.target ",
        module_.target);
    for (const auto flag : module_.target_flags) put(", ", flag);
    put("\n.address_size ", module_.address_size, "\n\n");
    print_items();
  }

  void print_items() {
    for (const module_item& item : module_.items) print_item(item);
  }

  void print_instruction(const function& f, const instruction& i) {
    const mnemonic& word = module_.mnemonic_of(i);
    if (word.has_unknown_word) return put(i.text);
    if (i.guard != no_index) {
      put(i.is_guard_negated ? "@!" : "@", f.registers[i.guard].name, " ");
    }
    put(word.text);
    const auto operands = f.operands_of(i);
    for (std::size_t n = 0; n < operands.size(); ++n) {
      put(n == 0 ? " " : ", ");
      print_operand(f, operands[n]);
    }
  }

 private:
  void put(std::string_view text) { out_ += text; }
  void put(std::uint64_t value) { out_ += std::to_string(value); }
  template <class... Parts>
    requires(sizeof...(Parts) > 1)
  void put(const Parts&... parts) {
    (put(parts), ...);
  }
  void put_signed(std::int64_t value) { out_ += std::to_string(value); }
  void put_bits(std::string_view prefix, std::uint64_t bits, int digits) {
    std::array<char, 20> text;
    std::snprintf(text.data(), text.size(), "%0*" PRIX64, digits, bits);
    put(prefix, std::string_view{text.data()});
  }

  void print_item(const module_item& item) {
    switch (item.kind) {
      case item_kind::variable:
        print_variable(module_.variables[item.index]);
        return put(";\n");
      case item_kind::function:
        return print_function(module_.functions[item.index]);
      case item_kind::alias:
        return put(".alias ", module_.aliases[item.index].name, ", ",
                   module_.aliases[item.index].target, ";\n");
      case item_kind::file:
        return put(".file ", module_.files[item.index].number, " \"",
                   module_.files[item.index].path, "\"\n");
      case item_kind::pragma:
        return put(".pragma \"", module_.pragmas[item.index], "\";\n");
      case item_kind::unknown:
        return put(module_.unknown_directives[item.index].text, ";\n");
    }
  }

  // ---- declarations ----

  void print_alignment(std::uint32_t alignment, scalar_type type, std::uint32_t width) {
    if (alignment != natural_alignment(type, width)) put(".align ", alignment, " ");
  }

  void print_type(scalar_type type, std::uint32_t width) {
    if (width > 1) put(".v", width, " ");
    put(".", spelling(type), " ");
  }

  void print_dimensions(const variable& v) {
    for (std::size_t i = 0; i < v.dimensions.size(); ++i) {
      put("[");
      if (!(i == 0 && v.is_unsized)) put(v.dimensions[i]);
      put("]");
    }
  }

  void print_variable(const variable& v) {
    const bool is_opaque = info(v.type).kind == type_class::opaque;
    put(linkages[static_cast<std::size_t>(v.linkage)], ".", spelling(v.space), " ");
    if (!v.attributes.empty() && !is_opaque) put(".attribute(", v.attributes, ") ");
    print_alignment(v.alignment, v.type, v.vector_width);
    print_type(v.type, v.vector_width);
    print_pointer(v);
    put(v.name);
    print_dimensions(v);
    if (is_opaque && !v.attributes.empty()) put(" = ", v.attributes);
    if (v.has_initializer) print_initializer(v);
  }

  void print_pointer(const variable& v) {
    if (!v.is_pointer) return;
    put(".ptr ");
    if (v.pointer_space != state_space::generic) put(".", spelling(v.pointer_space), " ");
    if (v.pointer_alignment != 0) put(".align ", v.pointer_alignment, " ");
  }

  void print_initializer(const variable& v) {
    const auto& bytes = v.initializer.bytes;
    const std::size_t size = size_in_bytes(v.type);
    const bool has_braces = v.is_array || v.vector_width > 1 || bytes.empty();
    put(has_braces ? " = {" : " = ");
    auto next = v.initializer.relocations.begin();
    for (std::size_t offset = 0; offset < bytes.size(); offset += size) {
      if (offset > 0) put(", ");
      if (next != v.initializer.relocations.end() && next->offset == offset) {
        print_relocation(*next++);
      } else {
        print_scalar(v.type, &bytes[offset], size);
      }
    }
    if (has_braces) put("}");
  }

  void print_scalar(scalar_type type, const std::uint8_t* bytes, std::size_t size) {
    std::uint64_t bits = 0;
    for (std::size_t i = 0; i < std::min<std::size_t>(size, 8); ++i) {
      bits |= std::uint64_t{bytes[i]} << (8 * i);
    }
    if (type == scalar_type::f32) return put_bits("0f", bits, 8);
    if (type == scalar_type::f64) return put_bits("0d", bits, 16);
    put(bits);
  }

  void print_relocation(const relocation& r) {
    if (r.mask != 0) put(r.mask, "(");
    if (r.is_generic) {
      put("generic(", r.name, ")");
    } else {
      put(r.name);
    }
    print_offset(r.addend);
    if (r.mask != 0) put(")");
  }

  void print_offset(std::int64_t offset) {
    if (offset == 0) return;
    put("+");
    put_signed(offset);
  }

  // ---- functions ----

  void print_parameters(const std::vector<variable>& parameters) {
    put("(");
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      if (i > 0) put(", ");
      print_variable(parameters[i]);
    }
    put(")");
  }

  void print_function(const function& f) {
    put(linkages[static_cast<std::size_t>(f.linkage)], f.is_entry ? ".entry " : ".func ");
    if (!f.attributes.empty()) put(".attribute(", f.attributes, ") ");
    if (!f.return_parameters.empty()) {
      print_parameters(f.return_parameters);
      put(" ");
    }
    put(f.name);
    print_parameters(f.parameters);
    put("\n");
    print_directives(f.directives);
    if (!f.is_definition) return put(";\n");
    put("{\n");
    for (const statement& s : f.statements) print_statement(f, s);
    put("}\n");
  }

  void print_size(std::string_view word, const dimensions3& size) {
    if (!size.is_present()) return;
    put(word, " ", size.value[0], ", ", size.value[1], ", ", size.value[2], "\n");
  }
  void print_number(std::string_view word, std::uint32_t value) {
    if (value != 0) put(word, " ", value, "\n");
  }
  void print_flag(std::string_view word, bool value) {
    if (value) put(word, "\n");
  }

  void print_directives(const function_directives& d) {
    print_size(".maxntid", d.maxntid);
    print_size(".reqntid", d.reqntid);
    print_size(".reqnctapercluster", d.reqnctapercluster);
    print_number(".minnctapersm", d.minnctapersm);
    print_number(".maxnctapersm", d.maxnctapersm);
    print_number(".maxnreg", d.maxnreg);
    print_number(".maxclusterrank", d.maxclusterrank);
    print_flag(".explicitcluster", d.explicitcluster);
    print_flag(".blocksareclusters", d.blocksareclusters);
    print_flag(".noreturn", d.noreturn);
    for (const auto text : d.pragmas) put(".pragma \"", text, "\";\n");
    for (const auto text : d.unknown) put(text, "\n");
  }

  void print_statement(const function& f, const statement& s) {
    switch (s.kind) {
      case statement_kind::scope_begin:
        return put("{\n");
      case statement_kind::scope_end:
        return put("}\n");
      case statement_kind::registers:
        return print_registers(f.register_declarations[s.index]);
      case statement_kind::variable:
        put("\t");
        print_variable(f.variables[s.index]);
        return put(";\n");
      case statement_kind::label:
        return put(f.labels[s.index].name, ":\n");
      case statement_kind::target_list:
        return print_targets(f.target_lists[s.index]);
      case statement_kind::prototype:
        return print_prototype(f.prototypes[s.index]);
      case statement_kind::instruction:
        put("\t");
        print_instruction(f, f.instructions[s.index]);
        return put(";\n");
      case statement_kind::location:
        return print_location(f.locations[s.index]);
      case statement_kind::pragma:
        return put("\t.pragma \"", f.pragmas[s.index], "\";\n");
    }
  }

  void print_registers(const register_declaration& r) {
    put("\t.reg ");
    print_type(r.type, r.vector_width);
    put(r.name);
    if (r.is_range) put("<", r.count, ">");
    put(";\n");
  }

  void print_targets(const target_list& list) {
    put(list.name, list.is_call ? ": .calltargets " : ": .branchtargets ");
    for (std::size_t i = 0; i < list.names.size(); ++i) put(i == 0 ? "" : ", ", list.names[i]);
    put(";\n");
  }

  void print_prototype(const call_prototype& p) {
    put("\t", p.name, ": .callprototype ");
    if (!p.return_parameters.empty()) print_parameters(p.return_parameters);
    put(" _ ");
    print_parameters(p.parameters);
    put(" ", p.directives, ";\n");
  }

  void print_location(const source_location& l) {
    put("\t.loc ", l.file, " ", l.line, " ", l.column);
    if (!l.function_name.empty()) {
      put(", function_name ", l.function_name, ", inlined_at ", l.inlined_file, " ", l.inlined_line,
          " ", l.inlined_column);
    }
    put("\n");
  }

  // ---- operands ----

  void print_elements(const function& f, const operand& o, std::string_view separator) {
    const auto elements = f.elements_of(o);
    for (std::size_t i = 0; i < elements.size(); ++i) {
      if (i > 0) put(separator);
      if (elements[i].kind == operand_kind::address && o.kind == operand_kind::address_group) {
        print_address(elements[i]);
      } else {
        print_operand(f, elements[i]);
      }
    }
  }

  void print_enclosed(const function& f, const operand& o, char opening, char closing) {
    out_ += opening;
    print_elements(f, o, ", ");
    out_ += closing;
  }

  void print_register(const function& f, const operand& o) {
    if (o.is_negated) {
      const bool is_predicate = f.registers[o.index].type == scalar_type::pred;
      put(is_predicate ? "!" : "-");
    }
    put(o.name, components[static_cast<std::size_t>(o.component)]);
    if (o.component == component::lanes) print_lanes(lane_selector{o.value});
  }

  void print_lanes(lane_selector selector) {
    put(selector.is_bytes() ? ".b" : ".h");
    for (int i = selector.count() - 1; i >= 0; --i) put(selector.digits() >> 4 * i & 15);
  }

  void print_address(const operand& o) {
    if (o.base == address_base::none) return put_signed(o.value);
    put(o.name, components[static_cast<std::size_t>(o.component)]);
    if (o.base != address_base::special_register) print_offset(o.value);
  }

  void print_integer(const operand& o) {
    if (o.is_negative) return put_signed(o.value);
    put(static_cast<std::uint64_t>(o.value));
  }

  void print_operand(const function& f, const operand& o) {
    switch (o.kind) {
      case operand_kind::sink:
        return put("_");
      case operand_kind::register_:
        return print_register(f, o);
      case operand_kind::special_register:
        return put(o.is_negated ? "!" : "", o.name,
                   components[static_cast<std::size_t>(o.component)]);
      case operand_kind::integer:
        return print_integer(o);
      case operand_kind::float_bits:
        return put_bits("0f", static_cast<std::uint32_t>(o.value), 8);
      case operand_kind::double_bits:
        return put_bits("0d", static_cast<std::uint64_t>(o.value), 16);
      case operand_kind::symbol:
        put(o.is_negated ? "!" : "", o.name);
        return print_offset(o.value);
      case operand_kind::address:
        put("[");
        print_address(o);
        return put("]");
      case operand_kind::address_group:
        return print_enclosed(f, o, '[', ']');
      case operand_kind::vector:
        return print_enclosed(f, o, '{', '}');
      case operand_kind::pair:
        return print_elements(f, o, "|");
      case operand_kind::list:
        return print_enclosed(f, o, '(', ')');
    }
  }

  const module& module_;
  std::string out_;
};

}  // namespace

std::string print(const module& m) {
  printer p{m};
  p.print_module();
  return p.release();
}

std::string print_items(const module& m) {
  printer p{m};
  p.print_items();
  return p.release();
}

std::string print(const module& m, const function& f, const instruction& i) {
  printer p{m};
  p.print_instruction(f, i);
  return p.release();
}

}  // namespace halfwarp::emulator::ptx
