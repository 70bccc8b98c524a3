# SPDX-License-Identifier: Apache-2.0
"""Services of cuda.bindings.utils, and the private names that other packages import."""

import pytest
from cuda.bindings import driver, nvrtc, utils


@pytest.mark.parametrize("handle", [driver.CUstream(7), driver.CUkernel(7), nvrtc.nvrtcProgram(7)])
def test_native_handle_of_an_opaque_handle_is_its_value(handle):
    assert utils.get_cuda_native_handle(handle) == 7


@pytest.mark.parametrize("thing", [driver.CUdeviceptr(7), driver.CUhostFn(7), 7, None])
def test_native_handle_of_anything_else_is_refused(thing):
    with pytest.raises(TypeError, match="Unknown type"):
        utils.get_cuda_native_handle(thing)


def test_a_registered_type_has_a_native_handle():
    class Owner:
        pass

    utils._add_cuda_native_handle_getter(Owner, lambda owner: 42)
    assert utils.get_cuda_native_handle(Owner()) == 42


def test_ptx_version_is_the_first_directive():
    assert utils.get_ptx_ver("// x\n.version 8.8\n.target sm_90\n") == "8.8"


def test_text_without_version_directive_is_refused():
    with pytest.raises(ValueError, match="version"):
        utils.get_ptx_ver(".target sm_90")


@pytest.mark.parametrize(
    ("ptx", "cuda"),
    [("1.0", 1000), ("2.3", 4000), ("6.5", 10020), ("7.8", 11080), ("8.5", 12050), ("8.8", 12090)],
)
def test_cuda_version_that_a_ptx_version_needs(ptx, cuda):
    assert utils.get_minimal_required_cuda_ver_from_ptx_ver(ptx) == cuda


@pytest.mark.parametrize("ptx", ["7.9", "9.6", "5", "x.y", "", 8.8, None, b"8.8"])
def test_unknown_ptx_version_is_refused(ptx):
    with pytest.raises(ValueError, match="PTX version"):
        utils.get_minimal_required_cuda_ver_from_ptx_ver(ptx)


@pytest.mark.parametrize(
    ("text", "expected"),
    [("1", True), ("yes", True), ("0", False), ("00", False), ("", False), ("False", False)],
)
def test_switch_in_the_environment(monkeypatch, text, expected):
    monkeypatch.setenv("HALFWARP_TEST_SWITCH", text)
    assert utils.envvar_bool("HALFWARP_TEST_SWITCH") is expected


def test_an_unset_switch_has_the_default(monkeypatch):
    monkeypatch.delenv("HALFWARP_TEST_SWITCH", raising=False)
    assert utils.envvar_bool("HALFWARP_TEST_SWITCH", default=True) is True


def test_importing_it_imports_nothing_else(run_python):
    code = """
import sys
before = set(sys.modules)
import cuda.bindings.utils
print(sorted(name for name in set(sys.modules) - before if not name.startswith("importlib")))
"""
    own = ["cuda.bindings.utils._envvar", "cuda.bindings.utils._version_check"]
    expected = ["cuda", "cuda.bindings", "cuda.bindings.utils", *own]
    assert run_python(code).strip() == str(expected)


def test_it_is_an_attribute_of_the_package(run_python):
    assert run_python("import cuda.bindings; print(cuda.bindings.utils.__name__)").strip() == (
        "cuda.bindings.utils"
    )


class TestOptionsOfNvvm:
    @pytest.fixture(autouse=True)
    def library(self):
        nvvm = pytest.importorskip("cuda.bindings.nvvm")
        try:
            nvvm.version()
        except RuntimeError as error:
            pytest.skip(str(error).partition(":")[0])

    @pytest.mark.parametrize(
        "options", [[], ["-opt=3"], ("-g",), ["-arch=compute_90", "-ftz=1"], [b"-prec-div=0"]]
    )
    def test_known_options_are_accepted(self, options):
        assert utils.check_nvvm_compiler_options(options) is True

    @pytest.mark.parametrize(
        "options", [["-no-such"], ["-arch=sm_90"], ["-arch=compute_10"], ["-opt=3", "-ftz=7"]]
    )
    def test_one_unknown_option_fails(self, options):
        assert utils.check_nvvm_compiler_options(options) is False

    @pytest.mark.parametrize("options", ["-opt=3", b"-opt=3", None, 3])
    def test_an_invalid_sequence_of_options_is_refused(self, options):
        with pytest.raises(TypeError, match=f"options must be a sequence of str, got {options!r}"):
            utils.check_nvvm_compiler_options(options)

    def test_other_failures_are_raised(self, monkeypatch):
        from cuda.bindings import nvvm

        monkeypatch.setattr(utils, "_EMPTY_KERNEL", "nonsense")
        with pytest.raises(nvvm.nvvmError):
            utils.check_nvvm_compiler_options([])


class TestMajorVersion:
    @pytest.fixture
    def driver_of(self, monkeypatch):
        """Let the driver return a version; the warning has not been raised yet."""
        monkeypatch.setattr(utils._version_check, "_major_version_compatibility_checked", False)
        monkeypatch.delenv("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", raising=False)

        def set_version(version, result=driver.CUresult.CUDA_SUCCESS):
            monkeypatch.setattr(driver, "cuDriverGetVersion", lambda: (result, version))

        return set_version

    def test_an_older_driver_is_warned_about_once(self, driver_of):
        driver_of(12090)
        with pytest.warns(UserWarning, match="CUDA 13.*driver supports CUDA 12") as caught:
            utils.warn_if_cuda_major_version_mismatch()
            utils.warn_if_cuda_major_version_mismatch()
        assert len(caught) == 1
        assert caught[0].filename == __file__

    @pytest.mark.parametrize("version", [13000, 13050, 14000])
    def test_the_same_and_newer_drivers_raise_no_warning(self, driver_of, recwarn, version):
        driver_of(version)
        utils.warn_if_cuda_major_version_mismatch()
        assert not recwarn

    def test_the_environment_silences_the_warning(self, driver_of, monkeypatch, recwarn):
        driver_of(12090)
        monkeypatch.setenv("CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING", "1")
        utils.warn_if_cuda_major_version_mismatch()
        assert not recwarn

    def test_a_failing_driver_is_an_error(self, driver_of):
        driver_of(None, driver.CUresult.CUDA_ERROR_NOT_INITIALIZED)
        with pytest.raises(RuntimeError, match="cuDriverGetVersion"):
            utils.warn_if_cuda_major_version_mismatch()


def test_version_names_agree():
    import cuda.bindings
    from cuda.bindings import _version

    assert cuda.bindings.__version__ == _version.__version__ == _version.version == "13.5.0"
    assert _version.__version_tuple__ == _version.version_tuple == (13, 5, 0)
