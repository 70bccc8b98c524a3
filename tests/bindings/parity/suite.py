# SPDX-License-Identifier: Apache-2.0
"""Parity of each module and its cy* module, whether its functions return or raise codes."""


class ModuleSuite:
    def test_every_enum_member_has_its_value(self, reference, module):
        different = {}
        for name, members in reference.enums.items():
            values = {n: int(m) for n, m in getattr(module, name).__members__.items()}
            if values != members:
                different[name] = set(values.items()) ^ set(members.items())
        assert different == {}

    def test_every_constant_has_its_value(self, reference, module):
        assert {n: getattr(module, n) for n in reference.constants} == reference.constants

    def test_every_function_is_documented_and_knows_its_module(self, reference, module):
        for name in reference.functions:
            function = getattr(module, name)
            assert function.__doc__ and function.__doc__.endswith("."), name
            assert (function.__name__, function.__module__) == (name, module.__name__)


class CapsuleSuite:
    """The strings that clients compare, byte for byte."""

    def test_exactly_the_functions_have_a_capsule(self, reference, capsules):
        assert capsules.keys() ^ reference.capsules.keys() == set()

    def test_every_signature_string_is_identical(self, reference, capsules):
        assert {n: s for n, s in capsules.items() if s != reference.capsules.get(n)} == {}

    def test_the_model_predicts_the_output_of_cython(self, library, capsules):
        assert {f.name: f.signature for f in library.functions} == capsules
