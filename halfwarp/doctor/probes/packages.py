# SPDX-License-Identifier: Apache-2.0
"""The versions of halfwarp and related packages, and their requirements."""

import re

from halfwarp import __version__ as release
from halfwarp import installation
from halfwarp.shims import BINDINGS_LEVEL, CORE_LEVEL, STAND_INS

RELATED = re.compile(r"cuda-|nvidia-|cupy|numba|numpy$|nvmath|torch$|jax|rmm|cccl|triton$")
STANDS_FOR = [each.name for each in STAND_INS]
REQUIREMENT = re.compile(r"\s*([A-Za-z0-9._-]+)\s*(\[[^\]]*\])?([^;]*)(;.*)?")


def probe(findings):
    installed = installation.installed()
    findings.facts |= {
        "halfwarp": release,
        "cuda.bindings": BINDINGS_LEVEL,
        "cuda.core": CORE_LEVEL,
        "location": str(installation.package_root()),
        "installed_as": installation.kind_of_installation(installed),
        "related": {
            name: installed[name].version for name in sorted(installed) if RELATED.match(name)
        },
    }
    ours = installed.get(installation.OUR_NAME)
    if ours is not None:
        check_own_requirements(findings, ours, installed)
    check_requirements_of_others(findings, installed)


def check_own_requirements(findings, ours, installed):
    for text in ours.requires or ():
        name, _, bounds, condition = REQUIREMENT.match(text).groups()
        if condition:
            continue
        distribution = installed.get(installation.normal_name(name))
        lowest = re.search(r">=\s*([\d.]+)", bounds)
        if distribution is None or (lowest and numbers(distribution.version) < numbers(lowest[1])):
            has = f"{distribution.version} is installed" if distribution else "it is not installed"
            findings.problem(
                f"halfwarp needs {name}{bounds.strip()}, but {has}",
                f"pip install '{name}{bounds.strip()}'",
            )


def check_requirements_of_others(findings, installed):
    """Warn of packages that require NVIDIA's by name: pip would install those over ours."""
    for name, distribution in sorted(installed.items()):
        requirements = {
            installation.normal_name(REQUIREMENT.match(text)[1])
            for text in distribution.requires or ()
            if "extra ==" not in text
        }
        for missing in sorted(requirements.intersection(STANDS_FOR).difference(installed)):
            findings.warning(
                f"{name} requires {missing}, which halfwarp provides without pip knowing: "
                "the next pip install may put NVIDIA's files over ours",
                "halfwarp shims --here",
            )


def numbers(version):
    """Return the leading numbers of a version, for comparison."""
    return tuple(map(int, re.match(r"\d+(\.\d+)*", version)[0].split(".")))
