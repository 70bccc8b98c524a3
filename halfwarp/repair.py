# SPDX-License-Identifier: Apache-2.0
"""``halfwarp repair``: restores our files that another package overwrote or removed.

Restores from `archive`, without pip and network. Uninstalls NVIDIA's packages that share our
folders by their RECORD, because their remaining files would be imported in place of ours
(``cuda/core/_stream*.so``). Stand-ins replace them, so that the requirements of other packages
remain satisfied. Everything is read before anything is written. Changes only files of the
environment: each recorded path is resolved first (`installation.contained_path`).
"""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from halfwarp import __version__, archive, installation, shims

REINSTALL = f"pip install --force-reinstall --no-deps halfwarp=={__version__}"


@dataclass(frozen=True)
class Plan:
    """The actions that repair an installation."""

    ours: object  # the distribution
    sharing: dict  # name -> distribution that shares our folders
    restored: dict  # path -> bytes
    lost: list  # paths without a copy in the archive
    removed: dict  # name -> resolved paths of the distribution's own files, its RECORD last
    outside: list  # recorded names outside the environment, which remain

    @property
    def stand_ins(self):
        return [each for each in shims.STAND_INS if each.name in self.sharing]


def main(arguments):
    """Repair the installation; return 1 if something remains to be done."""
    distributions = installation.installed()
    ours = installation.our_wheel(distributions)
    if ours is None:
        return explain_source_tree(distributions)
    plan = create_plan(ours, distributions)
    try:
        return carry_out(plan, arguments.dry_run)
    except OSError as error:
        print(f"halfwarp repair: {error}; fix this and run it again", file=sys.stderr)
        return 1


def explain_source_tree(distributions):
    """Print instructions for an installation without a wheel's files."""
    kind = installation.kind_of_installation(distributions)
    names = [each.name for each in shims.STAND_INS if is_nvidias(distributions.get(each.name))]
    print(f"halfwarp repair: the files in {installation.package_root()} are of a {kind}:")
    print("  use git status, and python setup.py build_ext --inplace, to restore them")
    if names:
        print(f"  pip uninstall -y {' '.join(names)}: Python imports these packages first")
    return 1


def is_nvidias(distribution):
    return distribution is not None and shims.LABEL not in distribution.version


def create_plan(ours, distributions):
    root, recorded = installation.package_root(), installation.record(ours)
    differing = {
        *installation.changed_files(root, recorded),
        *installation.missing_files(root, recorded),
    }
    copies = archive.read(root) if differing else {}
    restored = {
        path: copies[path]
        for path in sorted(differing)
        # a repaired wheel's libraries may differ from the archived ones
        if path in copies and installation.hash_of(copies[path]) == recorded[path]
    }
    restored, blocked = split_restored(root, restored)
    lost = sorted(differing.difference(restored).difference(blocked))
    sharing = installation.sharing_distributions(distributions)
    used = files_in_use(distributions, sharing)
    removed, outside = {}, blocked
    for name, distribution in sharing.items():
        removed[name], others = split_recorded(distribution, used)
        outside = [*outside, *others]
    return Plan(ours, sharing, restored, lost, removed, outside)


def split_restored(root, copies):
    """Return the copies that are inside the environment, and the names that are not."""
    restored, outside = {}, []
    for name, data in copies.items():
        try:
            installation.contained_path(name, root, [root.resolve()])
        except installation.OutsideError:
            outside.append(name)
        else:
            restored[name] = data
    return restored, outside


def files_in_use(distributions, sharing):
    """Return the resolved paths of files that remaining distributions record, ours included."""
    used = set()
    for name, distribution in distributions.items():
        if name not in sharing and installation.is_beside_us(distribution):
            used.update(split_recorded(distribution, ())[0])
    return used


def split_recorded(distribution, used):
    """Return the resolved paths in a RECORD without `used` ones, and the names outside.

    Bytecode outside is a cache: pip records it where PYTHONPYCACHEPREFIX had Python write it.
    """
    inside, outside = [], []
    base, roots = Path(distribution.locate_file("")), installation.environment_roots()
    names = installation.record(distribution)
    for name in sorted(names, key=lambda path: path.endswith("/RECORD")):
        try:
            path = installation.contained_path(name, base, roots)
        except installation.OutsideError:
            outside += [] if name.endswith(".pyc") else [name]
        else:
            inside += [path] if path not in used else []
    return inside, outside


def carry_out(plan, is_dry_run):
    will = "would be " if is_dry_run else ""
    for name, distribution in plan.sharing.items():
        print(f"{will}uninstalled: {name} {distribution.version}")
    for stand_in in plan.stand_ins:
        print(f"{will}installed: {stand_in.name} {stand_in.level}{shims.LABEL}, which stands in")
    print(f"{will}restored: {len(plan.restored)} files")
    if not is_dry_run:
        apply(plan)
    if plan.lost:
        shown = installation.shortened(plan.lost)
        print(f"no copy of {len(plan.lost)} files: {shown}; run: {REINSTALL}", file=sys.stderr)
    if plan.outside:
        shown = installation.shortened(plan.outside)
        print(
            f"{len(plan.outside)} recorded files are outside the environment and remain: {shown}; "
            "remove them yourself if they are not needed",
            file=sys.stderr,
        )
    return 1 if plan.lost or plan.outside or (is_dry_run and (plan.restored or plan.sharing)) else 0


def apply(plan):
    """Restore our files first, so that they work even if a later step fails."""
    root = installation.package_root()
    for name, data in plan.restored.items():
        shims.replace(installation.contained_path(name, root, [root.resolve()]), data)
    for paths in plan.removed.values():
        uninstall(paths)
    shims.install(plan.stand_ins, plan.ours)


def uninstall(paths):
    """Remove files of a distribution, and the folders that become empty."""
    for path in paths:
        if path.is_symlink() or not path.is_dir():  # a RECORD has files only
            path.unlink(missing_ok=True)
    folders = {path.parent for path in paths}
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        remove_empty(folder)


def remove_empty(folder):
    """Remove a folder and its parents as long as they are empty."""
    roots = installation.environment_roots()
    with suppress(OSError):  # raised for a folder that is not empty
        while folder not in roots:
            folder.rmdir()
            folder = folder.parent
