# SPDX-License-Identifier: Apache-2.0
"""Makes a C library that answers as NVML did when `record_nvml.py` ran."""

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
    answers = {}
    for call in recording["calls"]:
        for answer in call["answers"]:
            answers.setdefault(answer["c"], []).append(answer)
    return HEAD + "".join(function(c, many) for c, many in sorted(answers.items()))


def function(c, answers):
    writes, rows = [], []
    for i, answer in enumerate(answers):
        name = "0"
        if answer["writes"]:
            name = f"{c}_{i}"
            parts = ", ".join(
                f'{{{param}, {size}, {len(data) // 2}, "{escaped(data)}"}}'
                for param, (size, data) in answer["writes"].items()
            )
            writes.append(f"static const struct bytes {name}[] = {{{parts}}};")
        rows.append(f"{{{answer['code']}, {len(answer['writes'])}, {name}}}")
    return FUNCTION.format(c=c, writes="\n".join(writes), rows=", ".join(rows), n=len(rows))


def escaped(data):
    return "".join(f"\\x{data[i : i + 2]}" for i in range(0, len(data), 2))


def build(recording, folder):
    """`libnvidia-ml.so.1` in a folder that the loader looks into."""
    text = folder / "recorded.c"
    text.write_text(source(recording))
    library = folder / "libnvidia-ml.so.1"
    subprocess.run(["gcc", "-shared", "-fPIC", "-w", "-o", library, text], check=True, timeout=120)
    return library
