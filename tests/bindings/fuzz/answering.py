# SPDX-License-Identifier: Apache-2.0
"""Builds a C library with all functions of a raising module, which return random results.

Every output is written completely; lengths, texts and codes are within the range of a C library.
"""

import subprocess

HEAD = """\
#include <string.h>
typedef unsigned long long word;
static word state = 1;
static unsigned any(unsigned below) {
  state = state * 6364136223846793005ULL + 1442695040888963407ULL;
  return unsigned(state >> 33) % below;
}
extern "C" void halfwarp_seed(word seed) { state = seed; }
static void fill(word to, word size) {
  if (!to) return;
  unsigned dull = any(2);
  for (word i = 0; i < size; ++i) ((char*)to)[i] = char(dull && any(4) ? 0 : any(256));
}
/* A struct with a version says how long it is: the caller may have an older, shorter one. */
static bool is_whole(word to, word size) { return to && (*(unsigned*)to & 0xffffff) == size; }
static void text(word to, word size) {
  if (!to || !size) return;
  fill(to, any(unsigned(size)));
  ((char*)to)[size - 1] = 0;
}
static unsigned report_length(word count, word array, word insufficient, unsigned* code) {
  unsigned room = array ? *(unsigned*)count : 0, has = any(6);
  *(unsigned*)count = has;
  if (has > room && insufficient) *code = unsigned(insufficient);
  return has < room ? has : room;
}
static unsigned code() { return any(8) ? 0 : any(8) ? any(30) : any(2000); }
"""
FUNCTION = """\
extern "C" word answer_{c}({parameters}) __asm__("{c}");
word answer_{c}({parameters}) {{
  {lines}
}}
"""


class Source:
    """C++ source of the library."""

    def __init__(self, library):
        self.library = library
        self.insufficient = self.value_of(library.decisions.insufficient)
        self.types = {t.name: t for t in library.numpy_structs}

    def value_of(self, c_name):
        members = (m for e in self.library.enums for m in e.members)
        return next((m.value for m in members if m.c_name == c_name), 0)

    def text(self):
        heads = [f'#include "driver/{self.library.name}_table.hpp"\n', HEAD]
        return "".join(heads + [self.function(f) for f in self.library.functions])

    def function(self, f):
        at = {p.c_name: f"a{i}" for i, p in enumerate(f.params)}
        parameters = ", ".join(f"word {a}" for a in at.values())
        lines = ["unsigned result = code();", *self.lengths(f, at)]
        for p in f.params:
            lines += self.write_output(p, at[p.c_name], at.get(p.aux, "0"))
        if f.ret.endswith("*"):
            lines.append('return any(4) ? (word)"An error" : 0;')
        else:
            lines.append("return result;")
        return FUNCTION.format(c=f.c_name, parameters=parameters, lines="\n  ".join(lines))

    def lengths(self, f, at):
        """Bound the elements of each count, which several arrays may share."""
        counts = {p.aux: at[p.c_name] for p in f.params if p.words.startswith("out:")}
        for p in f.params:
            if p.words.startswith(("count", "out:count")) and p.c_name in counts:
                a, array = at[p.c_name], counts[p.c_name]
                yield f"word n_{a} = report_length({a}, {array}, {self.insufficient}, &result);"

    def write_output(self, p, a, aux):
        """Return statements that write one output."""
        word, _, name = p.words.partition(":")
        c_type = p.c_type.removeprefix("const ").removesuffix("const").strip()
        pointed = c_type.removesuffix("*").strip()
        if p.words in ("out", "out:int", "out:intptr"):
            if pointed == "bool":
                return [f"*(bool*){a} = any(2);"]
            return [f"fill({a}, sizeof({pointed}));"]
        if word == "out" and name.startswith("str["):
            return [f"text({a}, {name[4:-1]});"]
        if word == "out" and name == "counted_text":
            return self.counted(p, a, aux)
        if word == "out" and name.startswith("array:"):
            return self.counted(p, a, aux)
        if word == "out" and name.startswith("data:"):
            return [f"fill({a}, sizeof({pointed}));", *self.no_addresses(a, name[5:], pointed)]
        if name == "assembled":
            return self.assembled(a, p.assembly, pointed) if word == "out" else []
        return []

    def counted(self, p, a, aux):
        """Return statements that write as many elements as fit, and the count as libraries
        report it."""
        function = next(f for f in self.library.functions if p in f.params)
        count = next(q for q in function.params if q.c_name == p.aux)
        size = f"sizeof({p.c_type.removesuffix('*')})"
        n = f"word({aux})" if size == "sizeof(char )" else f"word(unsigned({aux}))"
        if count.words.startswith("const"):
            n = f"({n} / {size})"
        if count.words.startswith(("count", "out:count")):
            n = f"n_{aux}"
        writer = "text" if p.words == "out:counted_text" else "fill"
        return [f"{writer}({a}, {n} * {size});"]

    def no_addresses(self, a, numpy_struct, c_type):
        """Null every address that a reader would follow: only real libraries have valid targets."""
        followed = "text_pointer", "number_list", "structure_list"
        return [
            f"if ({a}) (({c_type}*){a})->{f.c_path} = 0;"
            for f in self.types[numpy_struct].fields
            if f.form in followed
        ]

    def assembled(self, a, assembly, c_type):
        if assembly.counted < 0:
            addresses = self.no_addresses(a, assembly.numpy_struct, c_type)
            lines = " ".join([f"fill({a}, sizeof({c_type}));", *addresses])
            is_whole = f"is_whole({a}, sizeof({c_type}))" if assembly.older else "true"
            return [f"if ({is_whole}) {{ {lines} }}"]
        fields = {f.name: f for f in self.types[assembly.numpy_struct].fields}
        array = [*fields.values()][assembly.counted]
        s = f"(({c_type}*){a})"
        count, elements = f"{s}->{fields[array.counter].c_path}", f"{s}->{array.c_path}"
        report = f"report_length((word)&{count}, (word){elements}, {self.insufficient}, &result)"
        return [f"fill((word){elements}, {report} * sizeof(*{elements}));"]


def build(library, root, folder):
    """Build the library into a folder, from the build output of the extensions."""
    text = folder / f"{library.name}_answers.cpp"
    text.write_text(Source(library).text())
    target = folder / f"lib{library.name}_answers.so"
    paths = "cpp", "cpp/driver/foreign", "cpp/runtime/headers", "build/generated", "build/cuda"
    command = ["g++", "-std=c++20", "-shared", "-fPIC", "-w", "-O1"]
    command += [f"-I{root / path}" for path in paths]
    subprocess.run([*command, "-o", target, text], check=True, timeout=120)
    return target


def use(path):
    """Let the loader find this library for any name. Return its `halfwarp_seed`."""
    import ctypes

    from cuda import pathfinder

    library = ctypes.CDLL(path)

    class Found:
        _handle_uint = library._handle
        abs_path = str(path)

    pathfinder.load_nvidia_dynamic_lib = lambda name: Found
    library.halfwarp_seed.argtypes = (ctypes.c_uint64,)
    return library.halfwarp_seed
