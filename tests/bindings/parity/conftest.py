# SPDX-License-Identifier: Apache-2.0
"""The reference's modules whose functions return codes, as data."""

import ast
import re

import pytest

from .reference import Reference


class CodesReference(Reference):
    """A library whose functions return tuples that start with a code."""

    @property
    def dropped_fields(self):
        return self.deviation("dropped", "fields", ())

    def base_capsules(self):
        return {name: record["sig"] for name, record in self.base["functions"].items()}

    def later_function(self, record, before):
        arguments = ast.parse(f"def f{record['sig']}: ...").body[0].args
        names = [a.arg for a in arguments.args]
        defaults = [f"={ast.unparse(d)}" for d in arguments.defaults]
        suffixes = [""] * (len(names) - len(defaults)) + defaults
        return {
            "py": [n + s for n, s in zip(names, suffixes, strict=True)],
            "ret": [re.match(r"\w+", r).group() for r in record["returns"]],
        }


@pytest.fixture(scope="session", params=["driver", "nvrtc", "runtime"])
def reference(request):
    return CodesReference(request.param)
