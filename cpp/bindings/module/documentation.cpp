// SPDX-License-Identifier: Apache-2.0
#include "bindings/module/documentation.hpp"

#include <cstring>
#include <initializer_list>

namespace halfwarp::bindings {
namespace {

// Appends texts to memory, or only counts their characters if there is none.
class writer {
 public:
  explicit writer(char* memory) : memory_{memory} {}
  void add(std::initializer_list<const char*> texts) {
    for (const char* text : texts) {
      std::size_t n = std::strlen(text);
      if (memory_) std::memcpy(memory_ + length_, text, n);
      length_ += n;
    }
  }
  std::size_t length() const { return length_; }

 private:
  char* memory_;
  std::size_t length_ = 0;
};

// The default of an optional parameter: lists of texts may be omitted, and numbers are zero.
const char* default_of(const library& lib, const function& f, int position) {
  for (int i = 0; i < f.n; ++i)
    if (lib.param_of(f, i).py == position && lib.param_of(f, i).k == kind::texts) return "=None";
  return "=0";
}

void write_signature(const library& lib, const function& f, writer& out) {
  const char* name = f.names;
  for (int i = 0; i < f.positional; ++i, name += std::strlen(name) + 1)
    out.add({i ? ", " : "", name, i < f.required ? "" : default_of(lib, f, i)});
}

void write_parameters(const library& lib, const function& f, writer& out) {
  std::size_t first = 0;  // the phrases have the order of the functions
  for (const function* each = lib.functions.data(); each != &f; ++each) first += each->positional;
  const char* name = f.names;
  for (int i = 0; i < f.positional; ++i, name += std::strlen(name) + 1)
    out.add({i ? "" : "\n\nParameters\n----------", "\n", name, "\n    ",
             lib.phrases[first + std::size_t(i)]});
}

std::size_t write(const library& lib, const method_record& record, char* memory) {
  const function& f = lib.functions[std::size_t(record.function)];
  writer out{memory};
  out.add({record.name, "("});
  write_signature(lib, f, out);
  out.add({")\n--\n\n", record.doc});
  if (record.returned) out.add({record.doc ? " Returns " : "Returns ", record.returned, "."});
  write_parameters(lib, f, out);
  return out.length();
}

}  // namespace

const char* documentation_of(const library& lib, const method_record& record) {
  if (record.function < 0) return record.doc;
  std::size_t length = write(lib, record, nullptr);
  auto* text = static_cast<char*>(PyMem_Calloc(1, length + 1));
  if (!text) return PyErr_NoMemory() ? "" : nullptr;
  write(lib, record, text);
  return text;
}

}  // namespace halfwarp::bindings
