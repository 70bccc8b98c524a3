# SPDX-License-Identifier: Apache-2.0
"""A library that depends on another one, with every feature specific to that case."""

import pytest

pytest.importorskip("clang.cindex", reason="extraction needs libclang (extra `dev`)")

from generator import api_file, decisions, extract, libraries
from generator.__main__ import emit_all

LOW_H = """
typedef enum lowResult { LOW_OK = 0, LOW_BAD = 7 } lowResult;
typedef enum lowMode { LOW_FAST = 0, LOW_SAFE = 1 } lowMode;
typedef enum lowAttribute { LOW_SIZE = 1, LOW_MODE = 2, LOW_OWNER = 3 } lowAttribute;
typedef struct queue_st *lowQueue;
lowResult lowGet(lowQueue queue, lowAttribute attribute, void *value);
"""
LOW = """
[library]
name = "low"
headers = ["low.h"]
result_enum = "lowResult"
success = "LOW_OK"
not_found = "LOW_BAD"
[attributes.lowAttribute]
LOW_SIZE = "size_t"
LOW_MODE = "enum:lowMode"
LOW_OWNER = "handle:lowQueue"
[docs.lowResult]
LOW_OK = "It worked."
LOW_BAD = "It did not."
"""
HIGH_H = """
#define __HIGH_API_PTSZ(api) api
#ifdef PER_THREAD
#define highWait __HIGH_API_PTSZ(highWait)
#endif
#include "parts.h"
struct highResource;
typedef struct highResource *highResource_t;
typedef enum highResult { highOk = 0, highBad = 7, highOdd = 8 } highResult;
typedef enum highMode { highFast = 0, highSafe = 1 } highMode;
typedef enum highAttribute {
  highSize = 1, highMode_ = 2, highOwner = 3, highNew = 4
} highAttribute;
typedef struct queue_st *highQueue;
struct highExtent { int width, height; };
struct highValue { int number; };
#define highAttrValue highValue
highResult highGet(highQueue queue, highAttribute attribute, void *value);
highResult highWait(highQueue queue);
highResult highRegister(struct highResource **resource, int id);
highResult highSet(highQueue queue, const struct highAttrValue *value);
highResult highLaunchKernel(void *symbol);
struct highExtent highMeasure(highQueue queue);
static inline struct highExtent make_highExtent(int w, int h) {
  struct highExtent e = {w, h};
  return e;
}
"""
PARTS_H = "#pragma once\nstruct grid { int x; };\nstruct vector { float x, y; };\n"
HIGH = """
[library]
name = "high"
uses = ["low"]
headers = ["parts.h", "high.h"]
result_enum = "highResult"
success = "highOk"
not_found = "highBad"
[loading]
reason = "It is here."
method = "extension"
name = "cuda.bindings._high"
[skip]
reason = "Not for us."
pattern = "highLaunch.*"
[partial_headers]
reason = "The rest is for others."
"parts.h" = ["grid"]
[included_by]
reason = "It warns."
"parts.h" = "high.h"
[bases]
reason = "The same thing."
highQueue = "low.lowQueue"
[attributes.highAttribute]
like = "low.lowAttribute"
types = { lowMode = "highMode" }
[docs.highResult]
like = "low.lowResult"
highOdd = "It was odd."
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    folder = tmp_path_factory.mktemp("project")
    for name in ("api", "overrides"):
        (folder / name).mkdir()
    for name, text in (("low.h", LOW_H), ("high.h", HIGH_H), ("parts.h", PARTS_H)):
        (folder / name).write_text(text)
    for name, text in (("low", LOW), ("high", HIGH)):
        path = folder / "overrides" / f"{name}.toml"
        path.write_text(text)
        facts = extract.extract(decisions.read(path), [folder])
        (folder / "api" / f"{name}.api").write_text(api_file.write(facts))
    return folder


@pytest.fixture(scope="module")
def high(project):
    return libraries.load("high", project)


@pytest.fixture(scope="module")
def functions(high):
    return {f.name: f for f in high.functions}


def test_a_skipped_declaration_is_no_fact(high, functions):
    assert "highLaunchKernel" not in functions
    assert {s.name for s in high.structs} >= {"grid", "highExtent"}
    assert "vector" not in {s.name for s in high.structs}


def test_a_macro_that_names_a_type_is_the_type_of_the_parameter(functions, high):
    assert functions["highSet"].params[1].words == "in:struct*:highAttrValue"
    value = next(s for s in high.structs if s.name == "highAttrValue")
    assert value.base == "highValue"


def test_a_signature_keeps_the_type_name_of_a_macro(functions):
    assert "__pyx_t_4cuda_8bindings_6cyhigh_highAttrValue const *" in functions["highSet"].signature


def test_types_without_a_typedef_keep_their_tag_in_a_signature(functions):
    assert functions["highMeasure"].signature == "struct highExtent (highQueue)"


def test_a_pointer_to_an_opaque_struct_is_its_handle(functions):
    assert functions["highRegister"].params[0].words == "out:highResource_t"
    assert functions["highRegister"].py == ["id"]


def test_a_handle_derives_from_the_decided_class(high):
    assert {h.name: h.base for h in high.handles} == {
        "highQueue": "low.lowQueue",
        "highResource_t": None,
    }


def test_attributes_of_equal_value_have_the_types_of_the_other_library(high):
    words = {member: str(kind) for member, kind in high.attributes["highAttribute"].items()}
    assert words == {
        "highSize": "size_t",
        "highMode_": "enum:highMode",
        "highOwner": "handle:low.lowQueue",
    }


def test_codes_of_equal_value_have_the_explanation_of_the_other_library(high):
    result = next(e for e in high.enums if e.name == "highResult")
    assert [m.doc for m in result.members] == ["It worked.", "It did not.", "It was odd."]


def test_structs_are_returned_with_success_or_alone(functions):
    assert functions["highMeasure"].returns == ["object"]
    assert functions["highMeasure"].body == "returned_struct"
    assert functions["make_highExtent"].body == "bare_struct"


def test_variants_for_per_thread_streams_are_found_in_any_api(functions):
    assert functions["highWait"].flags == ("ptsz",)


@pytest.fixture(scope="module")
def emitted(project):
    return emit_all(project, ["cimport", "tables_cpp", "extension_functions"])


def test_the_class_is_cimported_from_the_other_module(emitted):
    text = emitted["cuda/bindings/high.pxd"]
    assert "from cuda.bindings.low cimport lowQueue\n" in text
    assert "cdef class highQueue(lowQueue):\n    pass\n" in text


def test_clients_include_the_header_that_includes_the_part(emitted):
    text = emitted["cuda/bindings/cyhigh.pxd"]
    assert 'cdef extern from "parts.h"' not in text
    assert "\nctypedef highValue highAttrValue\n" in text
    assert "cdef highExtent highMeasure(highQueue queue) except * nogil" in text


def test_c_code_has_the_keyword_that_a_tag_needs(emitted):
    text = emitted["build/generated/driver/cyhigh_calls.h"]
    assert "static inline struct highExtent call_highMeasure(highQueue queue)" in text
    assert "call_highRegister(struct highResource** resource, int id)" in text


def test_records_name_the_other_library(emitted):
    text = emitted["build/generated/bindings/high_tables.cpp"]
    assert "/* cuda.bindings.high.highQueue */, 0, 0, from_low::lowQueue," in text
    assert "{nullptr, &low_library}" in text
    assert "value_kind::handle, from_low::lowQueue, &low_library" in text
    assert "{kind::out_structure, -1, class_highExtent}" in text


def test_an_extension_lists_the_addresses_with_their_variants(emitted):
    text = emitted["build/generated/high/entries.cpp"]
    assert "decltype(highWait) highWait_ptsz;" in text
    assert '{"highWait", address(&::highWait), address(&::highWait_ptsz), false},' in text
    assert '{"make_highExtent", address(&::make_highExtent), nullptr, true},' in text
