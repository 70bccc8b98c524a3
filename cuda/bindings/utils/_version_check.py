# SPDX-License-Identifier: Apache-2.0
"""Whether the driver is as new as the bindings. The flag has the name that other packages reset."""

from cuda.bindings.utils._envvar import envvar_bool

_major_version_compatibility_checked = False


def warn_if_cuda_major_version_mismatch() -> None:
    """Warn, once, when the driver is of an older CUDA major version than the bindings. Host only.

    ``CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1`` silences it.

    Raises
    ------
    RuntimeError
        If the driver cannot be asked for its version.
    """
    global _major_version_compatibility_checked
    if _major_version_compatibility_checked or envvar_bool(
        "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING"
    ):
        return
    import warnings

    from cuda.bindings import driver

    result, version = driver.cuDriverGetVersion()
    if result != driver.CUresult.CUDA_SUCCESS:
        raise RuntimeError(f"cuDriverGetVersion failed with {result!r}")
    _major_version_compatibility_checked = True
    ours, theirs = driver.CUDA_VERSION // 1000, version // 1000
    if ours > theirs:
        warnings.warn(
            f"the bindings are of CUDA {ours}, the installed driver of CUDA {theirs}: newer "
            "functions will be missing. Update the driver, or silence this with "
            "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1",
            UserWarning,
            stacklevel=2,
        )
