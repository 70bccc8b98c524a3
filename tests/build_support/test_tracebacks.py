# SPDX-License-Identifier: Apache-2.0
"""Corrections of the sources that Cython writes."""

from build_support.tracebacks import correct

LOOKUP = "code = find_code_object(c_line ? -c_line : py_line);\n"
PROTOTYPE = """static void __Pyx_AddTraceback(const char *funcname, int c_line,
                               int py_line, const char *filename)"""
HANDLER = """  __Pyx_AddTraceback("f", __pyx_clineno, __pyx_lineno, __pyx_filename);
  if (__Pyx_GetException(&a, &b, &c) < 0) goto error;
"""
END = """  __Pyx_AddTraceback("f", __pyx_clineno, __pyx_lineno, __pyx_filename);
  return NULL;
"""
ADDED = f"{PROTOTYPE} {{\n    PyFrameObject *py_frame = 0;\n}}\n"
SOURCE = f"""#include "Python.h"
/* AddTraceback.proto */
{PROTOTYPE};
{HANDLER}{END}
/* AddTraceback */
{ADDED}{ADDED}"""


def corrected(path, text):
    path.write_text(text)
    correct(path)
    return path.read_text()


def test_code_objects_are_cached_by_file_and_line(tmp_path):
    for name in ("module.c", "module.cpp"):
        result = corrected(tmp_path / name, SOURCE + LOOKUP * 4)
        assert result.count("filename * 1024u + (unsigned)py_line") == 4
        assert "c_line ?" not in result
        assert corrected(tmp_path / name, result) == result


def test_the_end_of_a_function_adds_a_frame_on_request(tmp_path):
    result = corrected(tmp_path / "module.cpp", SOURCE + LOOKUP * 4)
    assert '#include "Python.h"\n#include "python/traceback.hpp"\n' in result
    assert result.count(END) == 1
    assert result.count(HANDLER.replace("__Pyx_AddTraceback", "halfwarp_add_frame")) == 1
    assert result.count("static void halfwarp_add_frame(const char *funcname") == 3
    assert result.count("static void __Pyx_AddTraceback(const char *funcname") == 2
    assert "if (halfwarp::python::has_inner_frames()) {" in result
    assert "halfwarp" not in corrected(tmp_path / "module.c", SOURCE + LOOKUP * 4)


def test_a_source_with_another_lookup_or_addition_is_unchanged(tmp_path, capsys):
    text = SOURCE.replace("/* AddTraceback */", "") + LOOKUP
    assert corrected(tmp_path / "module.cpp", text) == text
    lines = capsys.readouterr().err.splitlines()
    problem = "module.cpp: Cython has a new way to add frames to tracebacks"
    assert [line.split("/")[-1] for line in lines] == [
        f"{problem} (keyed_by_file)",
        f"{problem} (shortened)",
    ]
