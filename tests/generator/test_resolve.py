# SPDX-License-Identifier: Apache-2.0
"""Facts + decisions -> model."""

import dataclasses

import pytest

from generator.decisions import FunctionDecision
from generator.resolution import resolve


@pytest.fixture
def functions(toy):
    return {f.name: f for f in toy.functions}


@pytest.fixture
def structs(toy):
    return {s.name: s for s in toy.structs}


def kinds(function):
    return [p.words for p in function.params]


def test_roles_and_types_determine_kinds(functions):
    assert kinds(functions["toyOpen"]) == ["out:toyBox", "in:bytes", "in"]
    assert kinds(functions["toyPack"]) == ["in:list:toyBox", "in:list:bytes", "in", "in:voidp"]
    assert kinds(functions["toyGetName"]) == ["out:charbuf:length", "in", "in:handle:toyBox"]
    assert kinds(functions["toyShow"]) == ["in:handle:toyWindow", "in:voidp"]


def test_a_dependent_parameter_names_its_dependency(functions):
    assert [p.aux for p in functions["toyPack"].params] == ["count", "count", "", ""]
    assert [p.aux for p in functions["toyGetProperty"].params] == ["property", "", ""]


def test_outputs_are_no_parameters_and_counts_are_last(functions):
    assert functions["toyOpen"].py == ["title", "flags"]
    assert functions["toyList"].py == ["numBoxes=0"]
    assert functions["toyList"].returns == ["boxes", "numBoxes"]


def test_a_function_that_returns_text_returns_it_after_the_code(functions):
    assert functions["toyErrorText"].returns == ["err"]


def test_renames_affect_only_the_python_name(functions):
    length = functions["toyGetName"].params[1]
    assert (length.name, length.c_name) == ("length", "len")


def test_the_public_name_is_the_macro_that_hides_the_symbol(functions):
    opened = functions["toyOpen"]
    assert (opened.c_name, opened.symbol) == ("toyOpen_v2", "toyOpen")
    assert (opened.since, opened.version) == ("2.3", 2030)
    assert functions["toyQueue"].flags == ("ptsz",)


def test_decisions_become_flags(functions):
    assert not functions["toyErrorText"].releases_gil
    assert functions["toyQueue"].is_hot
    assert functions["toyQueue"].body == "queue"
    assert functions["toyListen"].wraps_callback
    assert not functions["toyOpen_v1"].in_python


def test_functions_are_hot_or_brief_by_a_pattern(toy_facts, toy_decisions):
    decisions = dataclasses.replace(toy_decisions, hot=r"toyGet\w+", brief="toyQueue")
    functions_ = resolve.resolve(toy_facts, decisions).functions
    hot = [f.name for f in functions_ if f.is_hot]
    assert "toyGetName" in hot and "toyQueue" in hot and "toyListen" not in hot
    assert [f.name for f in functions_ if f.is_brief] == ["toyQueue"]


def test_functions_submit_or_call_back_by_a_pattern(toy_facts, toy_decisions):
    decisions = dataclasses.replace(toy_decisions, submits="toyQueue", calls_back="toyListen")
    functions_ = resolve.resolve(toy_facts, decisions).functions
    assert [f.name for f in functions_ if f.is_submission] == ["toyQueue"]
    assert [f.name for f in functions_ if f.calls_back] == ["toyListen"]


def test_a_function_needs_a_context_unless_an_entry_or_a_pattern_decides(toy_facts, toy_decisions):
    decided = {"toyGetName": FunctionDecision(needs="nothing")}
    decisions = dataclasses.replace(
        toy_decisions, functions=decided, lookups=r"toyGet\w+", releases=r"\w*Queue"
    )
    functions_ = {f.name: f for f in resolve.resolve(toy_facts, decisions).functions}
    assert functions_["toyGetName"].needs == "nothing"
    assert functions_["toyGetProperty"].needs == "driver"
    assert functions_["toyQueue"].needs == "context"
    assert [f.name for f in functions_.values() if f.is_release] == ["toyQueue"]


def test_an_unwrapped_callback_is_a_handle_and_an_address(toy_facts, toy_decisions):
    decisions = dataclasses.replace(toy_decisions, functions={})
    by_name = {f.name: f for f in resolve.resolve(toy_facts, decisions).functions}
    assert kinds(by_name["toyListen"])[1:3] == ["in:handle:toyListener", "in:voidp"]


def test_an_override_replaces_a_role(functions, toy_facts, toy_decisions):
    assert kinds(functions["toyQueue"])[2] == "out:toyValue"
    plain = resolve.resolve(toy_facts, dataclasses.replace(toy_decisions, functions={}))
    assert kinds(next(f for f in plain.functions if f.name == "toyQueue"))[2].startswith("in:")


def test_an_override_of_an_unknown_function_is_refused(toy_facts, toy_decisions):
    entries = {"toyGone": FunctionDecision("was there")}
    decisions = dataclasses.replace(toy_decisions, functions=entries)
    with pytest.raises(ValueError, match="no such function: toyGone"):
        resolve.resolve(toy_facts, decisions)


@pytest.mark.parametrize("place", ["variant_of", "size_function"])
def test_an_entry_that_names_an_unknown_function_is_refused(toy_facts, toy_decisions, place):
    entries = {"toyOpen": FunctionDecision(**{place: "toyLost"})}
    decisions = dataclasses.replace(toy_decisions, functions=entries)
    with pytest.raises(ValueError, match="toy: no such function: toyLost"):
        resolve.resolve(toy_facts, decisions)


@pytest.mark.parametrize(("place", "value"), [("roles", "out"), ("lengths", "box"), ("fixed", 1)])
def test_an_override_of_an_unknown_parameter_is_refused(toy_facts, toy_decisions, place, value):
    override = FunctionDecision("was there", **{place: {"gone": value}})
    decisions = dataclasses.replace(toy_decisions, functions={"toyOpen": override})
    with pytest.raises(ValueError, match="toyOpen: no such parameter: gone"):
        resolve.resolve(toy_facts, decisions)


def test_an_unknown_role_is_refused(toy_facts, toy_decisions):
    override = FunctionDecision("typing error", roles={"box": "out-list{n}"})
    decisions = dataclasses.replace(toy_decisions, functions={"toyOpen": override})
    with pytest.raises(ValueError, match="toyOpen: unknown role 'out-list{n}'"):
        resolve.resolve(toy_facts, decisions)


def test_typedefs_of_a_struct_are_subclasses_bases_first(toy, structs):
    assert structs["toySize"].base == "toySize_v1"
    assert structs["toySize_v1"].base == "toySize_st"
    order = [s.name for s in toy.structs]
    assert all(order.index(s.base) < order.index(s.name) for s in toy.structs if s.base)


def test_anonymous_types_are_numbered_per_kind_inner_first(structs):
    assert structs["anon_struct0"].c_type == "toyTotals"
    inner = structs["anon_struct1"]
    assert inner.c_type == "decltype(std::declval<toyValue_union&>().inner)"
    assert inner.view_only and not inner.is_union


def test_members_of_an_unnamed_member_belong_to_the_parent(structs):
    assert [f.name for f in structs["anon_struct1"].fields] == ["box", "scale", "exact"]


def test_fields_have_kinds(structs):
    assert {f.name: str(f.kind) for f in structs["toyMap_st"].fields} == {
        "sizes": "ptr[]:toySize",
        "kernelParams": "kparams",
        "palette": "arr:toyColor",
        "listener": "handle:toyListener",
        "window": "handle:toyWindow",
    }
    assert str(structs["toyValue_union"].fields[-1].kind) == "bytes[16]"
    label = structs["toySize_st"].fields[1]
    assert (str(label.kind), label.readonly) == ("voidp", True)
    assert structs["toyMap_st"].alignment == 64


def test_a_struct_declared_in_another_is_named_by_its_scope(structs):
    assert structs["toyPair_st"].c_type == "toyValue_union::toyPair_st"


def test_enums_are_named_by_their_typedef_and_each_typedef_has_a_class(toy):
    names = {e.name: e.c_name for e in toy.enums}
    assert names == {
        "toyResult": "toyError_enum",
        "toyColor": "toyColor",
        "toyInk": "toyColor",
        "toyProperty": "toyProperty",
    }


def test_explanations_are_attached_to_the_members(toy):
    result = next(e for e in toy.enums if e.name == "toyResult")
    assert [m.doc for m in result.members] == ["", "Nothing there.", ""]


def test_handles_have_the_shape_of_their_value(toy):
    assert {h.name: (h.shape, h.c_type) for h in toy.handles} == {
        "toyBox": ("pointer", "toyBox_st *"),
        "toyId": ("integer", "unsigned long long"),
        "toyListener": ("function", "void (*)(toyBox, void *)"),
        "toyWindow": ("integer", "unsigned long long"),
    }


def test_capsule_strings_follow_cython(functions):
    assert functions["toyPack"].signature == (
        "toyResult (toyBox const *, char const **, unsigned int, void *)"
    )
    assert functions["toyShow"].signature == (
        "toyResult (__pyx_t_4cuda_8bindings_5cytoy_toyWindow, void *)"
    )
    assert functions["toyErrorText"].signature == "char const *(toyResult)"


def test_the_documentation_describes_the_results(functions):
    assert functions["toyOpen"].doc == "Returns (toyResult, box)."
