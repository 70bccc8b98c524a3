# SPDX-License-Identifier: Apache-2.0
"""Our files: all there and as they were installed, none of somebody else among them."""

import base64
import hashlib
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

from cuda.core._doctor import distributions as found
from cuda.core._doctor.findings import REBUILD, REINSTALL

NVIDIAS_FOLDERS = ("cuda/core/cu13", "cuda/bindings/_lib")  # only its wheels have them
NEEDED = ("cuda.bindings._low", "cuda.core._core", "cuda.core._compile")
NAMED = 5  # so many files of a list are named in a message


def probe(findings):
    root, installed = found.package_root(), found.installed()
    ours = found.our_wheel(installed)
    recorded = found.record(ours) if ours else {}
    findings.facts |= {
        "recorded": len(recorded),
        "changed": [path for path in recorded if is_changed(root / path, recorded[path])],
        "missing": [path for path in recorded if not (root / path).exists()],
        "sharing": sharing_distributions(installed),
        "nvidias_folders": [name for name in NVIDIAS_FOLDERS if (root / name).exists()],
        "not_ours": foreign_files(root, recorded) if ours else [],
        "broken_extensions": broken_extensions(root),
    }
    check_mixture(findings)
    check_one_place(findings, root)
    check_extensions(findings, bool(ours))


def is_changed(path, expected):
    """Whether a file differs from a RECORD's ``sha256=...``; files without one cannot."""
    algorithm, _, digest = expected.partition("=")
    if not digest or not path.exists():
        return False
    made = hashlib.new(algorithm, path.read_bytes()).digest()
    return base64.urlsafe_b64encode(made).rstrip(b"=").decode() != digest


def sharing_distributions(installed):
    """Other distributions with files in our folders: name, version and how many."""
    sharing = []
    for name, distribution in sorted(installed.items()):
        if name == found.OUR_NAME or not found.is_beside_us(distribution):
            continue
        count = sum(path.startswith(found.FOLDERS) for path in found.record(distribution))
        if count:
            sharing.append({"name": name, "version": distribution.version, "files": count})
    return sharing


def foreign_files(root, recorded):
    """Files in our folders that we did not install."""
    paths = [path for folder in found.FOLDERS for path in (root / folder).rglob("*")]
    names = {path.relative_to(root).as_posix() for path in paths if path.is_file()}
    return sorted(name for name in names.difference(recorded) if "__pycache__" not in name)


def broken_extensions(root):
    """Module -> error, of the compiled modules that are not there or cannot be imported."""
    suffix = EXTENSION_SUFFIXES[0]
    paths = [path for folder in found.FOLDERS for path in (root / folder).glob(f"*{suffix}")]
    names = {path.relative_to(root).as_posix().removesuffix(suffix) for path in paths}
    broken = {}
    for module in sorted({*NEEDED, *(name.replace("/", ".") for name in names)}):
        try:
            import_module(module)
        except Exception as error:
            broken[module] = f"{type(error).__name__}: {error}"
    return broken


def check_mixture(findings):
    facts = findings.facts
    sharing = [f"{each['name']} {each['version']}" for each in facts["sharing"]]
    if sharing or facts["nvidias_folders"]:
        whose = " and ".join(sharing) or "NVIDIA's packages"
        count = sum(each["files"] for each in facts["sharing"])
        remains = ", ".join(facts["nvidias_folders"])
        what = f"{count} files" if count else f"folders ({remains})"
        names = " ".join(each["name"] for each in facts["sharing"]) or "cuda-bindings cuda-core"
        findings.problem(
            f"the installation is mixed: {whose} installed {what} into our folders",
            f"pip uninstall -y {names}; {REINSTALL}; then python -m cuda.core shims DIR keeps "
            "them from coming back",
        )
    for kind, verb in (("changed", "differ from what was installed"), ("missing", "are missing")):
        if facts[kind]:
            findings.problem(f"{len(facts[kind])} files {verb}: {some(facts[kind])}", REINSTALL)
    if facts["not_ours"] and not sharing:
        findings.warning(
            f"{len(facts['not_ours'])} files in our folders are not ours: "
            f"{some(facts['not_ours'])}",
            f"pip uninstall -y halfwarp, remove what is left of cuda/bindings and cuda/core, and "
            f"{REINSTALL}",
        )


def some(names):
    """A list of files, shortened."""
    more = len(names) - NAMED
    return ", ".join(names[:NAMED]) + (f" and {more} more" if more > 0 else "")


def check_one_place(findings, root):
    """Whether `cuda.bindings` is the one beside this `cuda.core`."""
    bindings = Path(import_module("cuda.bindings").__path__[0]).resolve()
    findings.facts["cuda.bindings"] = str(bindings)
    if bindings != (root / "cuda" / "bindings").resolve():
        findings.problem(
            f"cuda.core comes from {root}, but cuda.bindings from {bindings.parent.parent}",
            "remove one of the two from sys.path, or uninstall what is installed there",
        )


def check_extensions(findings, is_wheel):
    broken = findings.facts["broken_extensions"]
    if broken:
        listed = "; ".join(f"{module}: {error}" for module, error in broken.items())
        findings.problem(
            f"compiled modules cannot be imported: {listed}",
            REINSTALL if is_wheel else REBUILD,
        )
