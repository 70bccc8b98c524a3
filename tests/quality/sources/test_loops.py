# SPDX-License-Identifier: Apache-2.0
"""No compiled loop counts with Python objects.

If Cython cannot prove that arithmetic with `i` of `for i in range(n)` fits a C integer, `i` is
an object, which costs tens of nanoseconds per iteration.
"""

import re

LOOP = re.compile(r"FastCall\(\(PyObject\*\)\(&PyRange_Type\)")
PLACE = re.compile(r'^\s*/\* "(?P<file>[^"]+)":(?P<line>\d+)$')


def counted_loops(generated):
    """Return the source lines of a module whose loop creates a `range` object."""
    place = ""
    for line in generated.splitlines():
        if match := PLACE.match(line):
            place = f"{match['file']}:{match['line']}"
        elif LOOP.search(line):
            yield place


def test_loops_over_a_range_use_c_integers(root):
    generated = [path.with_suffix(".cpp") for path in root.glob("cuda/**/*.pyx")]
    generated = [path for path in generated if path.exists()]
    assert len(generated) > 5, "build the extensions in place first"
    lines = [place for path in generated for place in counted_loops(path.read_text("utf-8"))]
    assert not lines, "declare the loop variable or write the loop another way"


def test_a_loop_with_an_object_is_found():
    call = "__Pyx_PyObject_FastCall((PyObject*)(&PyRange_Type), __pyx_callargs+__pyx_t_7, 2);"
    text = f'  /* "cuda/core/a.pyx":7\n * for i in range(n):\n */\n  __pyx_t_3 = {call}\n'
    assert list(counted_loops(text)) == ["cuda/core/a.pyx:7"]
