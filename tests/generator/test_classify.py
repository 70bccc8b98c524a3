# SPDX-License-Identifier: Apache-2.0
"""The heuristics, rule by rule: prototype and comment -> roles."""

import dataclasses
import inspect

import pytest

from generator import classify
from generator.api_file import read_function
from generator.facts import FactEnum, FactRecord, Facts, FactTypedef
from generator.libraries import HERE

TYPES = [
    FactTypedef("opaque", "Box", "Box_st *"),
    FactTypedef("opaque", "Resource", "Resource_st *"),
    FactTypedef("number", "Id", "unsigned int"),
    FactTypedef("number", "cuuint64_t", "uint64_t"),
    FactTypedef("callback", "Listener", "void (*)(void *)"),
    FactTypedef("function", "Getter", "int (int)"),
    FactRecord("struct", "Size"),
    FactRecord("struct", "Location"),
    FactEnum("Mode", []),
    FactEnum("Attribute", []),
    FactEnum("HandleType", []),
]
CASES = {
    "by value": ("f(Box box, int n, Size size, Mode mode)", "", "in in in in"),
    "pointer to a handle is an output": ("f(Box *box)", "", "out"),
    "pointer to a number is an output": ("f(int *n, float *x)", "", "out out"),
    "const pointer to a struct is an input": ("f(const Size *size)", "", "in"),
    "struct that a getter fills": ("fGetSize(Size *size)", "", "out"),
    "struct that a setter takes": ("fSetParams(Size *size)", "", "in"),
    "struct that the comment returns": ("f(Size *size)", r"\param size - Returned size", "out"),
    "struct without a hint is an input": ("f(Size *size)", "", "in"),
    "direction in brackets": ("f(Size *size)", r"\param[out] size the size", "out"),
    "name that ends in _out": ("f(Size *size_out)", "", "out"),
    "const char is text": ("f(const char *name)", "", "in"),
    "char with a length is a buffer": ("f(char *name, int len)", "", "out text[len] in"),
    "char behind a length": ("f(int len, char *name, int other)", "", "in in in"),
    "char alone is the caller's": ("f(char *code)", "", "in"),
    "char before another output is of fixed length": (
        "f(char *luid, unsigned int *mask)",
        r"\param luid - Returned id",
        "out bytes[8] out",
    ),
    "char before its size is the caller's, however it is returned": (
        "f(char *name, size_t *size)",
        r"\param name - Returned name",
        "in inout",
    ),
    "pointer to text is an output": ("f(const char **name)", "", "out"),
    "texts with a count are a list": (
        "f(int numNames, const char **names)",
        "",
        "in list[numNames]",
    ),
    "address": ("f(void *data)", "", "in"),
    "pointer to an address is an output": ("f(void **data)", "", "out"),
    "addresses with a count are a list": (
        "f(void **items, int count)",
        "",
        "list[count] in",
    ),
    "count after its lists": (
        "f(const Box *from, const Box *to, size_t numEdges)",
        "",
        "list[numEdges] list[numEdges] in",
    ),
    "count before its list": ("f(int count, Box *boxes)", "", "in list[count]"),
    "list that the comment returns": (
        "f(int *ids, int count)",
        r"\param ids - Returned ids",
        "out list[count] in",
    ),
    "new handle is not in the list behind it": (
        "f(Box *phBox, const Box *parts, size_t numParts)",
        "",
        "out list[numParts] in",
    ),
    "capacity beside output lists": (
        "f(Box *boxes, Size *sizes, size_t *numBoxes)",
        "",
        "out list[numBoxes] out list[numBoxes] count",
    ),
    "array of the callee": (
        "f(const Box **boxes_out, size_t *numBoxes_out)",
        "",
        "out callee list[numBoxes_out] out",
    ),
    "const array without a count": ("f(const int *dims)", "", "list"),
    "const array of tensor dimensions": ("f(const cuuint64_t *dims)", "", "list5"),
    "value typed by an attribute, read": (
        "fGet(void *value, size_t *size, Attribute which)",
        "",
        "out attr[which] attrsize in",
    ),
    "value typed by an attribute, written": (
        "fSetIt(Attribute which, void *value)",
        "",
        "in attr[which]",
    ),
    "values typed by a list of attributes": (
        "fGet(void **data, Attribute *which, size_t numWhich)",
        "",
        "out attrlist[which] list[numWhich] in",
    ),
    "exported handle": ("fExport(void *handle, HandleType type)", "", "out attr[type] in"),
    "option values": (
        "f(int numOptions, Mode *options, void **optionValues)",
        "",
        "in list[numOptions] attrlist[options]",
    ),
    "callback and its data": ("f(Listener fn, void *userData)", "", "callback callback_data"),
    "callback without data": ("f(Listener fn, void *other)", "", "in in"),
    "raw function pointer": ("f(int (*)(void *) fn)", "", "in"),
    "pointer to a function type": ("f(Getter *get)", "", "ptr"),
    "kernel parameters": ("f(void **kernelParams, void **extra)", "", "kernel_params address"),
    "value that is swapped": ("f(Mode *mode)", r"\param mode - Pointer to mode to swap", "inout"),
    "size beside a buffer": ("f(char *text, size_t *size)", "", "in inout"),
    "handle by address": ("fDestroy(Box *box)", "", "ptr"),
    "resources by address": ("f(int count, Resource *resources)", "", "in ptr"),
    "location is an input": ("fGet(Location *where)", r"\param where - Returned", "in"),
    "iterator": ("f(Id *at)", "", "iterator"),
    "numbers of each width": (
        "f(const int8_t *a, const uint16_t *b, const int32_t *c, const uint64_t *d, "
        "const unsigned char *e, const long long *g)",
        "",
        "list list list list list list",
    ),
    "a single address beside a count is no list": ("f(void *data, size_t num)", "", "in in"),
    "value between a count and text": ("f(size_t count, int n, char *name)", "", "in in in"),
    "size beside a buffer behind a constant": (
        "f(const char *a, char *b, size_t *size)",
        "",
        "in in inout",
    ),
    "size behind constant text": ("f(char *b, const char *a, size_t *size)", "", "in in out"),
    "array of the callee behind a size": (
        "f(size_t *before, const Box **boxes_out, int *other, size_t n, size_t *numBoxes_out)",
        "",
        "out out callee list[numBoxes_out] out in out",
    ),
    "numbers beside a capacity": ("f(int *n, size_t *numBoxes)", "", "out count"),
    "constants beside a capacity": (
        "f(const Box *from, const Size *to, size_t *numBoxes)",
        "",
        "list in count",
    ),
    "structs behind a capacity": ("f(size_t *numBoxes, Size *sizes)", "", "count in"),
    "no export without a type": ("fExport(void *handle, Mode mode)", "", "in in"),
    "list of types to export": ("fExport(void *handle, const HandleType *types)", "", "in list"),
    "type that is not exported": ("f(void *handle, HandleType type)", "", "in in"),
    "addresses that are exported": ("fExport(void **handle, HandleType type)", "", "out in"),
    "attribute at the end": ("fGet(Attribute which, void *value)", "", "in out attr[which]"),
    "size of an attribute at the end": (
        "fGet(Attribute which, void *value, size_t *size)",
        "",
        "in out attr[which] attrsize",
    ),
    "description before a count": ("f(const Size *sizeDesc, size_t count)", "", "in in"),
    "number named like a description before a count": (
        "f(const int *theDesc, size_t count)",
        "",
        "list[count] in",
    ),
    "value before a count": ("f(const int *a, int b, size_t count)", "", "list in in"),
    "new handle alone before a count": ("f(Box *box, size_t count)", "", "out in"),
    "handles alone before a count": ("f(Box *boxes, size_t count)", "", "list[count] in"),
    "constant handle alone before a count": (
        "f(const Box *box, size_t count)",
        "",
        "list[count] in",
    ),
    "number alone before a count": ("f(int *value, size_t count)", "", "list[count] in"),
    "number of outputs in a run": (
        "f(const int *a, int *numB, size_t count)",
        "",
        "list[count] out in",
    ),
    "constant numbers of outputs in a run": (
        "f(const int *a, const int *numB, size_t count)",
        "",
        "list[count] list[count] in",
    ),
    "structs named like a number in a run": (
        "f(const int *a, const Size *numB, size_t count)",
        "",
        "list[count] list[count] in",
    ),
    "count of outputs in a run": (
        "f(const int *a, const int *bCount, size_t count)",
        "",
        "list[count] list in",
    ),
    "new handle behind a count": (
        "f(size_t count, const int *a, Box *box)",
        r"\param box - Returned box",
        "in list[count] out",
    ),
    "numbers behind a count": (
        "f(size_t count, int *a)",
        r"\param a - Returned numbers",
        "in out list[count]",
    ),
    "callback in front of others": (
        "f(int n, Listener fn, void *userData, Box box)",
        "",
        "in callback callback_data in",
    ),
    "data in front of a callback": ("f(void *userData, Listener fn, int n)", "", "in in in"),
    "iterator that is made": ("f(Id *at_out)", "", "out"),
}


@pytest.fixture
def classifier(toy_decisions):
    decisions = dataclasses.replace(
        toy_decisions,
        identity_integers={"Id", "Size"},
        always_in={"Location"},
        iterators={"Id"},
        short_lists={"cuuint64_t"},
        lists_by_address={"Resource"},
        handles_by_address="Destroy",
        address_roles={"kernelParams": "kernel_params", "extra": "address"},
        export_enums={"HandleType"},
        attributes={"Attribute": {}, "HandleType": {}},
    )
    return classify.Classifier(Facts("test", "", [], types=TYPES), decisions)


@pytest.mark.parametrize(("prototype", "comment", "roles"), CASES.values(), ids=CASES)
def test_rule(classifier, prototype, comment, roles):
    function = read_function(f"{prototype} -> Mode  test.h")
    classifier.classify(function, f"/** {comment} */")
    assert " ".join(p.kind for p in function.params) == roles


def test_kinds_of_types(classifier):
    sizes = {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
    kinds = classifier.kinds
    assert {kinds[name] for name in {*sizes, "char", "unsigned long", "size_t"}} == {"scalar"}
    named = {"void": "void", "Box": "handle", "Id": "handle", "Size": "struct", "Mode": "enum"}
    named |= {"Listener": "callback", "Getter": "function", "cuuint64_t": "scalar"}
    assert {name: kinds[name] for name in named} == named


def test_a_pointer_to_an_opaque_struct_is_its_handle():
    types = [*TYPES, FactTypedef("opaque", "Any", "void *"), FactTypedef("opaque", "B", "Box_st *")]
    handles = classify.opaque_handles(Facts("test", "", [], types=types))
    assert handles == {("Box_st", 2): ("Box", 1), ("Resource_st", 2): ("Resource", 1)}


@pytest.mark.parametrize(
    ("spelling", "expected"),
    [
        ("const CUgraphNode *const *", ("CUgraphNode", 2)),
        ("unsigned char [16]", ("unsigned char", 1)),
        ("struct Box_st **", ("Box_st", 2)),
        ("int *[]", ("int", 2)),
        ("size_t", ("size_t", 0)),
    ],
)
def test_a_type_has_a_name_and_stars(spelling, expected):
    assert classify.split_type(spelling) == expected


def test_a_comment_is_read_parameter_by_parameter():
    comment = r"""/**
     * \brief Does it
     * \param[out] a, b - Two
     *   numbers
     * \param c  Third
     *
     * \return nothing
     */"""
    numbers = ("out", "Two numbers")
    assert classify.describe(comment) == {"a": numbers, "b": numbers, "c": ("", "Third")}


def test_no_rule_names_a_function():
    from generator import api_file

    source = inspect.getsource(classify)
    functions = api_file.read(HERE / "api" / "driver.api").functions
    assert [f.name for f in functions if f.name in source] == []
