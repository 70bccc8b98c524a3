# SPDX-License-Identifier: Apache-2.0
"""The module paths of 12.x: the same modules, one FutureWarning."""

import pytest
from cuda.core import _forwarding

CASES = {
    "from cuda import {old}": "{old}",
    "import cuda.{old}": "cuda.{old}",
    "from cuda.{old} import *\nimport sys": "sys.modules['cuda.{old}']",
}


@pytest.mark.parametrize(("old", "new"), _forwarding.OLD_MODULES.items())
@pytest.mark.parametrize(("statement", "module"), CASES.items(), ids=["from", "import", "star"])
def test_an_old_path_is_the_current_module(run_python, old, new, statement, module):
    code = f"""
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    exec(compile({statement.format(old=old)!r}, "client.py", "exec"))
from cuda.bindings import {new} as today
assert {module.format(old=old)} is today
print([(w.category.__name__, w.filename) for w in caught])
"""
    assert run_python(code).strip() == "[('FutureWarning', 'client.py')]"


def test_the_table_has_the_modules_of_12():
    assert sorted(_forwarding.OLD_MODULES) == ["cuda", "cudart", "nvrtc"]
    assert sorted(_forwarding.OLD_CIMPORTS) == ["ccuda", "ccudart", "cnvrtc"]


def test_classes_are_the_same_objects(run_python):
    code = """
import warnings
warnings.simplefilter("ignore")
from cuda import cuda
from cuda.bindings import driver
print(cuda.CUstream is driver.CUstream)
"""
    assert run_python(code).strip() == "True"
