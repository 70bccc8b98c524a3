// SPDX-License-Identifier: Apache-2.0
// Links PTX texts: modifies the parsed modules so that their texts form one module.
#include "emulator/link/ptx_linker.hpp"

#include <algorithm>
#include <utility>

#include "emulator/link/symbol_table.hpp"
#include "emulator/ptx/parser.hpp"
#include "emulator/ptx/printer.hpp"

namespace halfwarp::emulator::link {
namespace {

using ptx::symbol_kind;

bool names_symbol(symbol_kind kind) noexcept {
  return kind == symbol_kind::function || kind == symbol_kind::module_variable;
}

// Calls `visit(std::string_view&)` for each reference to a symbol of the module.
template <class Visit>
void for_each_use(ptx::module& m, Visit&& visit) {
  const auto in_initializers = [&](std::vector<ptx::variable>& variables) {
    for (ptx::variable& v : variables) {
      for (ptx::relocation& r : v.initializer.relocations) {
        if (names_symbol(r.kind)) visit(r.name);
      }
    }
  };
  in_initializers(m.variables);
  for (ptx::alias& a : m.aliases) visit(a.target);
  for (ptx::function& f : m.functions) {
    in_initializers(f.variables);
    for (ptx::operand& o : f.operands) {
      if (names_symbol(o.symbol)) visit(o.name);
    }
    for (ptx::target_list& list : f.target_lists) {
      if (list.is_call) std::ranges::for_each(list.names, visit);
    }
  }
}

class linker {
 public:
  linker(std::vector<source> sources, bool (*is_built_in)(std::string_view), link_rules rules)
      : sources_{std::move(sources)},
        symbols_{sources_, rules.accepts_duplicates ? accepted_ : log_},
        is_built_in_{is_built_in},
        allows_undefined_{rules.allows_undefined} {}

  ptx_link run() {
    for (std::size_t s = 0; s < sources_.size(); ++s) check_undefined_symbols(s);
    if (!log_.empty()) return {{}, std::move(log_)};
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      rename_internal_symbols(s);
      renumber_files(*sources_[s].module);
    }
    align_dynamic_shared();
    std::string text = header();
    for (std::size_t s = 0; s < sources_.size(); ++s) {
      remove_duplicates(s);
      text.append("// ").append(sources_[s].name).append("\n");
      text += ptx::print_items(*sources_[s].module);
    }
    return {std::move(text), {}};
  }

 private:
  // ---- undefined symbols ----

  void check_undefined_symbols(std::size_t s) {
    ptx::module& m = *sources_[s].module;
    std::set<std::string_view> used;
    for_each_use(m, [&](std::string_view& name) { used.insert(name); });
    for (const ptx::function& f : m.functions) {
      if (is_undefined(f)) check_function(s, f, used.contains(f.name));
    }
    for (const ptx::variable& v : m.variables) {
      if (is_undefined(v)) check_variable(s, v, used.contains(v.name));
    }
  }

  void check_function(std::size_t s, const ptx::function& f, bool is_used) {
    const ptx::module& m = *sources_[s].module;
    const ptx::function* const own = m.find_function(f.name);
    if (own != nullptr && own->is_definition) return;
    const definition* const match = symbols_.find(f.name);
    if (match == nullptr) return undefined(s, f.name, is_used);
    if (!match->is_function) return mismatch("Kind", f.name, s, *match);
    const ptx::function& d = sources_[match->source].module->functions[match->index];
    const bool is_same = d.parameter_bytes == f.parameter_bytes &&
                         d.return_bytes == f.return_bytes &&
                         d.parameters.size() == f.parameters.size();
    if (!is_same) mismatch("Prototype", f.name, s, *match);
  }

  void check_variable(std::size_t s, const ptx::variable& v, bool is_used) {
    const definition* const match = symbols_.find(v.name);
    if (match == nullptr) return undefined(s, v.name, is_used);
    if (match->is_function) return mismatch("Kind", v.name, s, *match);
    const ptx::variable& d = sources_[match->source].module->variables[match->index];
    if (d.space != v.space) return mismatch("Memory space", v.name, s, *match);
    if (v.size != 0 && d.size != v.size) mismatch("Size", v.name, s, *match);
  }

  void undefined(std::size_t s, std::string_view name, bool is_used) {
    if (!is_used || allows_undefined_ || is_built_in_(name)) return;
    report(log_, "Undefined reference to", name, sources_[s].name);
  }

  void mismatch(std::string_view property, std::string_view name, std::size_t s,
                const definition& d) {
    report(log_, std::string{property} + " doesn't match for", name, sources_[s].name,
           ", defined in '" + sources_[d.source].name + "'");
  }

  // ---- internal names ----

  void rename_internal_symbols(std::size_t s) {
    ptx::module& m = *sources_[s].module;
    std::map<std::string_view, std::string_view> new_names;
    const auto rename = [&](std::string_view& name) {
      if (!symbols_.is_in_other_source(name, s)) return;
      const std::string_view unique_name =
          m.joined_text.emplace_back(std::string{name} + "$link" + std::to_string(s));
      new_names.emplace(name, unique_name);
      name = unique_name;
    };
    for (ptx::variable& v : m.variables) {
      if (is_internal(v)) rename(v.name);
    }
    for (ptx::function& f : m.functions) {
      if (is_internal(f)) rename(f.name);
    }
    const auto apply_new_name = [&](std::string_view& name) {
      if (const auto match = new_names.find(name); match != new_names.end()) name = match->second;
    };
    for (ptx::function& f : m.functions) {
      if (is_undefined(f))
        apply_new_name(f.name);  // declared before its definition in the same source
    }
    for_each_use(m, apply_new_name);
  }

  void renumber_files(ptx::module& m) {
    std::map<std::uint32_t, std::uint32_t> new_names;
    for (ptx::source_file& file : m.files) {
      new_names.emplace(file.number, ++files_);
      file.number = files_;
    }
    const auto apply_new_name = [&](std::uint32_t& number) {
      if (const auto match = new_names.find(number); match != new_names.end())
        number = match->second;
    };
    for (ptx::function& f : m.functions) {
      for (ptx::source_location& l : f.locations) {
        apply_new_name(l.file);
        if (!l.function_name.empty()) apply_new_name(l.inlined_file);
      }
    }
  }

  // ---- removal of duplicates ----

  void align_dynamic_shared() {
    std::map<std::string_view, std::uint32_t> alignments;
    for_each_dynamic_shared([&](ptx::variable& v) {
      auto& alignment = alignments[v.name];
      alignment = std::max(alignment, v.alignment);
    });
    for_each_dynamic_shared([&](ptx::variable& v) { v.alignment = alignments[v.name]; });
  }

  template <class Visit>
  void for_each_dynamic_shared(Visit&& visit) {
    for (const source& each : sources_) {
      for (ptx::variable& v : each.module->variables) {
        if (is_dynamic_shared(v)) visit(v);
      }
    }
  }

  void remove_duplicates(std::size_t s) {
    ptx::module& m = *sources_[s].module;
    std::erase_if(m.items, [&](const ptx::module_item& item) {
      if (item.kind == ptx::item_kind::function) {
        const ptx::function& f = m.functions[item.index];
        return is_undefined(f) ? is_redundant(m, f) : is_replaced(s, f, item.index);
      }
      if (item.kind == ptx::item_kind::variable) {
        const ptx::variable& v = m.variables[item.index];
        if (v.linkage == ptx::linkage::extern_) return !declare(v.name);
        return is_replaced(s, v, item.index);
      }
      return false;
    });
  }

  // Checks whether a function is defined, also without a name for others, or was declared before.
  bool is_redundant(const ptx::module& m, const ptx::function& f) {
    const ptx::function* const own = m.find_function(f.name);
    if (own != nullptr && own->is_definition) return true;
    return !declare(f.name);
  }

  // Checks whether a declaration is the first one of a symbol without definition.
  bool declare(std::string_view name) {
    return symbols_.find(name) == nullptr && declared_.insert(name).second;
  }

  template <class Symbol>
  bool is_replaced(std::size_t s, const Symbol& symbol, std::uint32_t index) const {
    if (is_internal(symbol)) return false;
    const definition* const selected = symbols_.find(symbol.name);
    return selected != nullptr && (selected->source != s || selected->index != index);
  }

  std::string header() const {
    const auto newest = std::ranges::max_element(sources_, {}, [](const source& each) {
      return std::pair{each.module->version_major, each.module->version_minor};
    });
    const auto highest = std::ranges::max_element(
        sources_, {}, [](const source& each) { return each.module->target_architecture(); });
    std::string text{linked_mark};
    text += ".version " + std::to_string(newest->module->version_major) + "." +
            std::to_string(newest->module->version_minor) + "\n.target ";
    text += highest->module->target;
    return text + "\n.address_size 64\n\n";
  }

  std::string log_, accepted_;
  std::vector<source> sources_;
  symbol_table symbols_;
  bool (*is_built_in_)(std::string_view);
  bool allows_undefined_;
  std::set<std::string_view> declared_;
  std::uint32_t files_ = 0;
};

std::set<std::string> exported_names(const ptx::module& m) {
  std::set<std::string> names;
  for (const ptx::function& f : m.functions) {
    if (!is_internal(f) && !is_undefined(f)) names.emplace(f.name);
  }
  for (const ptx::variable& v : m.variables) {
    if (!is_internal(v) && v.linkage != ptx::linkage::extern_) names.emplace(v.name);
  }
  return names;
}

}  // namespace

bool defines_same_symbol(std::string_view text, std::span<const ptx_input> other_inputs) {
  const auto parsed = ptx::parse(text);
  if (!parsed) return false;
  const auto names = exported_names(*parsed.value);
  return std::ranges::any_of(other_inputs, [&](const ptx_input& other) {
    const auto module = ptx::parse(other.text);
    return module && std::ranges::any_of(exported_names(*module.value),
                                         [&](const auto& name) { return names.contains(name); });
  });
}

ptx_link link_ptx(std::span<const ptx_input> inputs, bool (*is_built_in)(std::string_view),
                  link_rules rules) {
  std::vector<source> sources;
  std::string log;
  for (const ptx_input& each : inputs) {
    auto parsed = ptx::parse(each.text);
    if (!parsed) {
      log.append(each.name).append(": ").append(parsed.log).append("\n");
      continue;
    }
    sources.push_back({each.name, std::move(parsed.value)});
  }
  if (!log.empty() || sources.empty()) return {{}, log.empty() ? "nothing to link\n" : log};
  return linker{std::move(sources), is_built_in, rules}.run();
}

}  // namespace halfwarp::emulator::link
