# SPDX-License-Identifier: Apache-2.0
"""Values of options for which NVRTC and nvJitLink 13.5 crash the process."""

import os
import re

MAX_THREADS = 1024  # of an optimizer; the libraries crash if the system refuses a thread


def problem_of(options: list[bytes]) -> str:
    """Return the first option that would crash the process, with the reason, or an empty str."""
    for option in options:
        flag, _, value = option.partition(b"=")
        check = CHECKS.get(flag)
        if check is not None and (reason := check(value)):
            return f"{os.fsdecode(option)!r}: {reason}"
    return _threads_of_ptxas(options)


def _blank(value):
    return "" if value.strip() else "the value is blank"


def _threads(value):
    """Check a number of threads: the libraries read some other texts as huge numbers."""
    if value.isdigit() and len(value.lstrip(b"0")) < 5 and int(value) <= MAX_THREADS:
        return ""
    return f"at most {MAX_THREADS} threads are supported, and the number is a whole number"


def _threads_of_ptxas(options):
    """Check the number of threads in the options for ptxas, which may be spread over several."""
    ptxas = [each.partition(b"=") for each in options]
    words = b" ".join(value for flag, _, value in ptxas if flag in PTXAS)
    for count in re.findall(rb"-split-compile[=\s]+([0-9]+)", words):
        if reason := _threads(count):
            return f"the option -split-compile of ptxas: {reason}"
    return ""


def _trace_file(value):
    """Open the file that NVRTC writes; it terminates the process if that fails."""
    path = os.fsdecode(value) + ".json"
    existed = os.path.exists(path)
    try:
        with open(path, "ab"):
            pass
        if not existed:
            os.unlink(path)
    except OSError as error:
        return f"the trace file {path!r} cannot be written: {error.strerror}"
    return ""


PTXAS = (b"--ptxas-options", b"-Xptxas")
CHECKS = {
    b"--ptxas-options": _blank,
    b"--Ofast-compile": _blank,
    b"--split-compile": _threads,
    b"--fdevice-time-trace": _trace_file,
    b"-Xptxas": _blank,
    b"-split-compile": _threads,
    b"-split-compile-extended": _threads,
}
