# SPDX-License-Identifier: Apache-2.0
"""Compares the driver with the bindings. Other packages reset the flag by its name."""

from cuda.bindings.utils._envvar import envvar_bool

_major_version_compatibility_checked = False


def warn_if_cuda_major_version_mismatch() -> None:
    """Warn, once, if the CUDA major version of the driver is older than the bindings. Host only.

    ``CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1`` disables the warning.

    Raises
    ------
    RuntimeError
        If the driver version cannot be queried.
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
            f"the bindings are for CUDA {ours}, but the driver supports CUDA {theirs}: newer "
            "functions are missing. Update the driver, or silence this with "
            "CUDA_PYTHON_DISABLE_MAJOR_VERSION_WARNING=1",
            UserWarning,
            stacklevel=2,
        )
