# SPDX-License-Identifier: Apache-2.0
"""The heuristics of libraries whose functions raise: prototype -> roles."""

import dataclasses

import pytest

from generator.api_file import read_function
from generator.classify_exceptions import ExceptionsClassifier
from generator.decisions import read
from generator.facts import FactEnum, FactRecord, Facts, FactTypedef
from generator.libraries import HERE

TYPES = [
    FactTypedef("opaque", "Box", "Box_st *"),
    FactTypedef("callback", "Listener", "void (*)(void *)"),
    FactRecord("struct", "Size"),
    FactEnum("Mode", []),
]
CASES = {
    "by value": ("f(Box box, int n, Mode mode, Listener fn)", "in in in in"),
    "pointer to a handle is an output": ("fCreate(Box *box)", "out"),
    "pointer to a handle that is destroyed": ("fDestroy(Box *box)", "ptr"),
    "pointers to numbers are outputs": ("f(int *n, Mode *mode, size_t *size)", "out out out"),
    "const pointer to a struct is an address": ("f(const Size *size)", "in"),
    "const char is a text": ("f(const char *name)", "in"),
    "const char before a size is a buffer": ("f(const char *code, size_t size)", "buffer[size] in"),
    "const memory before a size is a buffer": (
        "f(const void *data, size_t dataSize, const char *name)",
        "buffer[dataSize] in in",
    ),
    "const memory alone is an address": ("f(const void *data)", "in"),
    "memory to write to is the caller's": ("f(Box box, void *out)", "in out buffer"),
    "text to write to is the caller's": ("f(char *log)", "out buffer"),
    "text with a length is of fixed size": (
        "f(char *name, unsigned int length)",
        "out text[length] in",
    ),
    "texts after their count": ("f(int numOptions, const char **options)", "in list[numOptions]"),
    "texts before their count": (
        "f(const char **options, size_t optionsCount)",
        "list[optionsCount] in",
    ),
    "pointer to a text is an output": ("f(const char **text)", "out"),
    "pointer to an address is an output": ("f(void **data)", "out"),
}


@pytest.fixture(scope="module")
def classifier():
    decisions = dataclasses.replace(read(HERE / "overrides" / "nvvm.toml"))
    return ExceptionsClassifier(Facts("toy", "", [], types=list(TYPES)), decisions)


@pytest.mark.parametrize("case", CASES)
def test_rule(classifier, case):
    prototype, roles = CASES[case]
    function = read_function(f"{prototype} -> int  toy.h")
    classifier.classify(function, "")
    assert " ".join(p.kind for p in function.params) == roles
