# SPDX-License-Identifier: Apache-2.0
"""The capsules of the cy* modules carry the strings that clients compare, byte for byte."""


def test_every_function_has_a_capsule_and_nothing_else_has(reference, capsules):
    assert capsules.keys() ^ reference.capsules.keys() == set()


def test_every_signature_string_is_identical(reference, capsules):
    assert {n: s for n, s in capsules.items() if s != reference.capsules[n]} == {}


def test_the_model_predicts_what_cython_writes(library, capsules):
    assert {f.name: f.signature for f in library.functions} == capsules
