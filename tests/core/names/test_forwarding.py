# SPDX-License-Identifier: Apache-2.0
"""Old and private module paths: the same objects, under the names that existing code uses."""

import importlib
import sys

import cuda.core
import pytest
from cuda.core import _forwarding


@pytest.mark.parametrize("path", sorted(_forwarding.MODULES))
def test_each_module_of_the_table_can_be_imported(path):
    module = importlib.import_module(f"cuda.core.{path}")
    assert module.__name__ == f"cuda.core.{path}"
    assert set(module.__all__) <= set(dir(module))


@pytest.mark.parametrize(
    ("path", "name"),
    [(path, name) for path, names in _forwarding.MODULES.items() for name in names.split()],
)
def test_each_name_is_the_current_object(path, name):
    module = importlib.import_module(f"cuda.core.{path}")
    assert getattr(module, name) is _forwarding.resolve(name)


def test_unknown_modules_and_names_are_refused():
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module("cuda.core._nothing")
    with pytest.raises(ImportError):
        from cuda.core._stream import Nothing  # noqa: F401


class TestExperimental:
    def test_it_warns_once_at_import(self, run_python):
        code = """
import warnings
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    import cuda.core.experimental
    import cuda.core.experimental as second_import
    from cuda.core.experimental import Device, Stream
    from cuda.core.experimental._stream import IsStreamT
    from cuda.core.experimental._utils.cuda_utils import handle_return
print([(w.category.__name__, w.filename) for w in caught])
"""
        assert run_python(code).strip() == "[('DeprecationWarning', '<string>')]"

    def test_its_names_are_the_same_objects(self):
        with (
            pytest.warns(DeprecationWarning)
            if ("cuda.core.experimental" not in sys.modules)
            else _nothing()
        ):
            experimental = importlib.import_module("cuda.core.experimental")
        for name in cuda.core.__all__:
            assert getattr(experimental, name) is getattr(cuda.core, name)
        assert dir(experimental) == dir(cuda.core)
        for name in ("StridedMemoryView", "args_viewable_as_strided_memory"):
            assert getattr(experimental, name) is getattr(cuda.core.utils, name)

    @pytest.mark.parametrize(
        "path", ["_stream", "_device", "_utils", "_utils.cuda_utils", "typing"]
    )
    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_its_submodules_are_the_same_modules(self, path):
        old = importlib.import_module(f"cuda.core.experimental.{path}")
        assert old is importlib.import_module(f"cuda.core.{path}")

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_unknown_submodules_are_refused(self):
        with pytest.raises(ModuleNotFoundError):
            importlib.import_module("cuda.core.experimental._nothing")

    @pytest.mark.filterwarnings("ignore::DeprecationWarning")
    def test_unknown_names_are_refused_by_name(self):
        with pytest.raises(ImportError, match="cannot import name 'nothing'"):
            from cuda.core.experimental import nothing  # noqa: F401


class _nothing:
    def __enter__(self):
        return self

    def __exit__(self, *exc_info):
        """End a block that expects no warning."""
