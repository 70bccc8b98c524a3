# SPDX-License-Identifier: Apache-2.0
"""Our files: all present and unchanged, without foreign files among them."""

from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from importlib.util import find_spec
from pathlib import Path

from halfwarp import installation
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
    root, installed = installation.package_root(), installation.installed()
    ours = installation.our_wheel(installed)
    recorded = installation.record(ours) if ours else {}
    findings.facts |= {
        "recorded": len(recorded),
        "changed": installation.changed_files(root, recorded),
        "missing": installation.missing_files(root, recorded),
        "sharing": [
            {
                "name": name,
                "version": each.version,
                "files": len(installation.files_among_ours(each)),
            }
            for name, each in installation.sharing_distributions(installed).items()
        ],
        "nvidias_folders": [name for name in NVIDIAS_FOLDERS if (root / name).exists()],
        "not_ours": foreign_files(root, recorded) if ours else [],
        "broken_extensions": {},
    }
    check_mixture(findings)
    # Mixed modules of two packages have unpredictable effects, even crashes.
    findings.facts["is_damaged"] = bool(findings.problems)
    check_one_place(findings, root)
    if not findings.problems:
        findings.facts["broken_extensions"] = broken_extensions(root)
        check_extensions(findings, bool(ours))


def foreign_files(root, recorded):
    """Return the files in our folders that we did not install."""
    paths = [path for folder in installation.FOLDERS for path in (root / folder).rglob("*")]
    names = {path.relative_to(root).as_posix() for path in paths if path.is_file()}
    return sorted(name for name in names.difference(recorded) if "__pycache__" not in name)


def broken_extensions(root):
    """Map each compiled module that is missing or cannot be imported to its error."""
    suffix = EXTENSION_SUFFIXES[0]
    paths = [path for folder in installation.FOLDERS for path in (root / folder).glob(f"*{suffix}")]
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
        packages = " and ".join(sharing) or "NVIDIA's packages"
        count = sum(each["files"] for each in facts["sharing"])
        folders = ", ".join(facts["nvidias_folders"])
        contents = f"{count} files" if count else f"folders ({folders})"
        findings.problem(
            f"the installation is mixed: {packages} installed {contents} into our folders",
            REPAIR if sharing else f"remove {folders}, and run {REPAIR}",
        )
    for kind, verb in (("changed", "differ from what was installed"), ("missing", "are missing")):
        if facts[kind]:
            listed = installation.shortened(facts[kind])
            findings.problem(f"{len(facts[kind])} files {verb}: {listed}", REPAIR)
    if facts["not_ours"] and not sharing:
        findings.warning(
            f"{len(facts['not_ours'])} files in our folders are not ours: "
            f"{installation.shortened(facts['not_ours'])}",
            f"pip uninstall -y halfwarp, remove the rest of cuda/bindings and cuda/core, and "
            f"{REINSTALL}",
        )


def check_one_place(findings, root):
    """Check that the packages that an import finds are those beside this one."""
    for name in ("cuda.bindings", "cuda.core"):
        folder = findings.facts[name] = place_of(name)
        if folder is None:
            findings.problem(f"{name} is missing", REPAIR)
        elif folder != str((root / name.replace(".", "/")).resolve()):
            findings.problem(
                f"halfwarp is in {root}, but {name} is imported from {folder}",
                "uninstall that installation, or remove one of the two folders from sys.path",
            )


def place_of(package):
    """Return the folder that an import of a package finds, without importing it, or None."""
    try:
        spec = find_spec(package)
    except ModuleNotFoundError:  # the namespace `cuda` is missing too
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
