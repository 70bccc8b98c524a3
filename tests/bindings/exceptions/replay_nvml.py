# SPDX-License-Identifier: Apache-2.0
"""Builds a C library that replays the results recorded by `record_nvml.py`."""

import subprocess

HEAD = """\
#include <string.h>
typedef unsigned long long word;
struct bytes { int param; unsigned size, used; const char* data; };
struct answer { int code, n; const struct bytes* writes; };
static int reply(const struct answer* all, int n, int* next, const word* words) {
  const struct answer* a = &all[*next];
  *next = (*next + 1) % n;
  for (int i = 0; i < a->n; ++i) {
    const struct bytes* b = &a->writes[i];
    if (!words[b->param]) continue;
    memset((void*)words[b->param], 0, b->size);
    memcpy((void*)words[b->param], b->data, b->used);
  }
  return a->code;
}
const char* nvmlErrorString(int status) { return status == 3 ? "Not Supported" : "An error"; }
int nvmlInit_v2(void) { return 0; }
int nvmlShutdown(void) { return 0; }
"""
FUNCTION = """\
{writes}
static const struct answer {c}_answers[] = {{{rows}}};
int {c}(word a, word b, word c, word d, word e, word f) {{
  static int next;
  const word words[] = {{a, b, c, d, e, f}};
  return reply({c}_answers, {n}, &next, words);
}}
"""


def source(recording):
    """C text of the library."""
    results = {}
    for call in recording["calls"]:
        for result in call["answers"]:
            results.setdefault(result["c"], []).append(result)
    return HEAD + "".join(function(c, recorded) for c, recorded in sorted(results.items()))


def function(c, results):
    writes, rows = [], []
    for i, result in enumerate(results):
        name = "0"
        if result["writes"]:
            name = f"{c}_{i}"
            parts = ", ".join(
                f'{{{param}, {size}, {len(data) // 2}, "{escaped(data)}"}}'
                for param, (size, data) in result["writes"].items()
            )
            writes.append(f"static const struct bytes {name}[] = {{{parts}}};")
        rows.append(f"{{{result['code']}, {len(result['writes'])}, {name}}}")
    return FUNCTION.format(c=c, writes="\n".join(writes), rows=", ".join(rows), n=len(rows))


def escaped(data):
    return "".join(f"\\x{data[i : i + 2]}" for i in range(0, len(data), 2))


def build(recording, folder):
    """Build `libnvidia-ml.so.1` in a folder that the loader searches."""
    text = folder / "recorded.c"
    text.write_text(source(recording))
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", library, text], check=True, timeout=120)
    return library
