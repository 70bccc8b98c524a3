# SPDX-License-Identifier: Apache-2.0
"""Tab completion works although compiled properties raise."""

COMPLETE = """
from cuda.core import Event
import rlcompleter
closed = Event.__new__(Event)
try:
    print(rlcompleter.Completer({"closed": closed}).attr_matches("closed.is_bl"))
except RuntimeError as error:
    print(error)
"""
LISTED = "['closed.is_blocking_sync']"


def test_a_raising_property_is_listed_in_an_interactive_session(run_python):
    code = "import sys\nsys.ps1 = '>>> '\n" + COMPLETE
    assert run_python(code).strip() == LISTED


def test_it_is_listed_if_the_completer_was_imported_first(run_python):
    assert run_python("import rlcompleter\n" + COMPLETE).strip() == LISTED


def test_the_completer_is_not_imported_otherwise(run_python):
    code = "import cuda.core, sys; print('rlcompleter' in sys.modules)"
    assert run_python(code).strip() == "False"


def test_the_environment_disables_it(run_python):
    code = "import rlcompleter, cuda.core; print('property' in vars(rlcompleter))"
    off = {"CUDA_CORE_DONT_FIX_TAB_COMPLETION": "1"}
    assert run_python(code, **off).strip() == "False"
    assert run_python(code, CUDA_CORE_DONT_FIX_TAB_COMPLETION="0").strip() in ("True", "False")


def test_completion_of_plain_properties_is_unchanged(run_python):
    code = """
import rlcompleter, cuda.core
class Plain:
    @property
    def value(self):
        raise RuntimeError
print(rlcompleter.Completer({"x": Plain()}).attr_matches("x.v"))
"""
    assert run_python(code).strip() == "['x.value']"
