# SPDX-License-Identifier: Apache-2.0
"""Our files: all there and as they were installed, none of somebody else among them."""

from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from halfwarp import installation as found
from halfwarp.damage import NVIDIAS_FOLDERS
from halfwarp.doctor.findings import REBUILD, REINSTALL, REPAIR

NEEDED = (
    "cuda.bindings._low",
    "cuda.core._core",
    "cuda.core._compile",
    "cuda.core._located_memory",
    "cuda.core._views",
)


def probe(findings):
    root, installed = found.package_root(), found.installed()
    ours = found.our_wheel(installed)
    recorded = found.record(ours) if ours else {}
    findings.facts |= {
        "recorded": len(recorded),
        "changed": found.changed_files(root, recorded),
        "missing": found.missing_files(root, recorded),
        "sharing": [
            {"name": name, "version": each.version, "files": len(found.files_among_ours(each))}
            for name, each in found.sharing_distributions(installed).items()
        ],
        "nvidias_folders": [name for name in NVIDIAS_FOLDERS if (root / name).exists()],
        "not_ours": foreign_files(root, recorded) if ours else [],
        "broken_extensions": {},
    }
    check_mixture(findings)
    # Modules of two packages together do what nobody foresees, down to ending the process.
    findings.facts["is_damaged"] = bool(findings.problems)
    check_one_place(findings, root)
    if not findings.problems:
        findings.facts["broken_extensions"] = broken_extensions(root)
        check_extensions(findings, bool(ours))


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
        findings.problem(
            f"the installation is mixed: {whose} installed {what} into our folders",
            REPAIR if sharing else f"remove {remains}, and run {REPAIR}",
        )
    for kind, verb in (("changed", "differ from what was installed"), ("missing", "are missing")):
        if facts[kind]:
            listed = found.some(facts[kind])
            findings.problem(f"{len(facts[kind])} files {verb}: {listed}", REPAIR)
    if facts["not_ours"] and not sharing:
        findings.warning(
            f"{len(facts['not_ours'])} files in our folders are not ours: "
            f"{found.some(facts['not_ours'])}",
            f"pip uninstall -y halfwarp, remove what is left of cuda/bindings and cuda/core, and "
            f"{REINSTALL}",
        )


def check_one_place(findings, root):
    """Whether the packages that an import finds are those beside us."""
    for name in ("cuda.bindings", "cuda.core"):
        place = findings.facts[name] = place_of(name)
        if place is None:
            findings.problem(f"{name} is not there", REPAIR)
        elif place != str((root / name.replace(".", "/")).resolve()):
            findings.problem(
                f"halfwarp is in {root}, but {name} is imported from {place}",
                "uninstall what is installed there, or take one of the two off sys.path",
            )


def place_of(package):
    """The folder that an import of a package finds, without importing it; None if there is none."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # not even the namespace `cuda`
        return None
    folders = list(spec.submodule_search_locations or ()) if spec else []
    return str(Path(folders[0]).resolve()) if folders else None


def check_extensions(findings, is_wheel):
    broken = findings.facts["broken_extensions"]
    if broken:
        listed = "; ".join(f"{module}: {error}" for module, error in broken.items())
        findings.problem(
            f"compiled modules cannot be imported: {listed}",
            REINSTALL if is_wheel else REBUILD,
        )
