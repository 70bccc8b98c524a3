# SPDX-License-Identifier: Apache-2.0
"""The interpreter, and the machine that it runs on."""

import platform
import sys
import sysconfig


def probe(findings):
    findings.facts |= {
        "version": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "prefix": sys.prefix,
        "is_free_threaded": bool(sysconfig.get_config_var("Py_GIL_DISABLED")),
        "platform": platform.platform(),
        "machine": platform.machine(),
    }
