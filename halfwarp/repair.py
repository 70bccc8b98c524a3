# SPDX-License-Identifier: Apache-2.0
"""``halfwarp repair``: put our files back where another package overwrote or removed them.

Works from `archive`, so without pip and without a network. NVIDIA's packages that share our folders
are uninstalled by their own RECORD, because what of them is left would be imported in place of ours
(``cuda/core/_stream*.so``); stand-ins take their places, so that what requires them stays
satisfied. Everything is read before anything is written.
"""

import sys
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from halfwarp import __version__, archive, installation, shims

REINSTALL = f"pip install --force-reinstall --no-deps halfwarp=={__version__}"


@dataclass(frozen=True)
class Plan:
    """What is to be done with an installation."""

    ours: object  # the distribution
    others: dict  # name -> distribution, of those that share our folders
    restored: dict  # path -> bytes
    lost: list  # paths that nothing here has a copy of

    @property
    def stand_ins(self):
        return [each for each in shims.STAND_INS if each.name in self.others]


def main(given):
    """Repair the installation; 1 if something is left to do."""
    distributions = installation.installed()
    ours = installation.our_wheel(distributions)
    if ours is None:
        return explain_source_tree(distributions)
    plan = make_plan(ours, distributions)
    try:
        return carry_out(plan, given.dry_run)
    except OSError as error:
        print(f"halfwarp repair: {error}; run it again when that is mended", file=sys.stderr)
        return 1


def explain_source_tree(distributions):
    """What to do where our files are not those of a wheel."""
    kind = installation.kind_of_installation(distributions)
    names = [each.name for each in shims.STAND_INS if is_nvidias(distributions.get(each.name))]
    print(f"halfwarp repair: the files in {installation.package_root()} are of a {kind}:")
    print("  git status, and python setup.py build_ext --inplace, put them right")
    if names:
        print(f"  pip uninstall -y {' '.join(names)}: what is installed there is imported first")
    return 1


def is_nvidias(distribution):
    return distribution is not None and shims.LABEL not in distribution.version


def make_plan(ours, distributions):
    root, recorded = installation.package_root(), installation.record(ours)
    differing = {
        *installation.changed_files(root, recorded),
        *installation.missing_files(root, recorded),
    }
    copies = archive.read(root) if differing else {}
    restored = {
        path: copies[path]
        for path in sorted(differing)
        # a repaired wheel's libraries may be others than those that were packed
        if path in copies and installation.hash_of(copies[path]) == recorded[path]
    }
    others = installation.sharing_distributions(distributions)
    return Plan(ours, others, restored, sorted(differing.difference(restored)))


def carry_out(plan, is_only_told):
    will = "would be " if is_only_told else ""
    for name, distribution in plan.others.items():
        print(f"{will}uninstalled: {name} {distribution.version}")
    for stand_in in plan.stand_ins:
        print(f"{will}installed: {stand_in.name} {stand_in.level}{shims.LABEL}, which stands in")
    print(f"{will}put back: {len(plan.restored)} files")
    if not is_only_told:
        apply(plan)
    if plan.lost:
        shown = installation.some(plan.lost)
        print(f"no copy of {len(plan.lost)} files: {shown}; run: {REINSTALL}", file=sys.stderr)
    return 1 if plan.lost or (is_only_told and (plan.restored or plan.others)) else 0


def apply(plan):
    """Ours first: it works from then on, whatever happens to the rest."""
    root = installation.package_root()
    for path, data in plan.restored.items():
        shims.replace(root / path, data)
    for distribution in plan.others.values():
        uninstall(distribution, kept=installation.record(plan.ours))
    shims.install(plan.stand_ins, plan.ours)


def uninstall(distribution, kept):
    """Remove what a distribution has recorded but for files of ours, its RECORD last."""
    paths = sorted(installation.record(distribution), key=lambda path: path.endswith("/RECORD"))
    folders = set()
    for name in paths:
        path = Path(distribution.locate_file(name))
        if name not in kept:
            path.unlink(missing_ok=True)
            folders.add(path.parent)
    for folder in sorted(folders, key=lambda each: len(each.parts), reverse=True):
        remove_empty(folder)


def remove_empty(folder):
    """Remove a folder and those above it as far as they are empty."""
    with suppress(OSError):  # not empty: it stays
        while folder != installation.package_root():
            folder.rmdir()
            folder = folder.parent
