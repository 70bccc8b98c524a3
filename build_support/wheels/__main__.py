# SPDX-License-Identifier: Apache-2.0
"""python -m build_support.wheels [--python EXE]... [--to DIR] [--platform TAG]
    [--no-isolation] [--twice] [--nightly]

Builds the sdist and a wheel for each interpreter, repairs the wheels with auditwheel, writes them
reproducibly, checks them, and tests them in an empty environment. Needs a package index, and the
packages of `pip install --group release`. SOURCE_DATE_EPOCH defaults to the time of the last
commit. With --platform manylinux_2_28_x86_64 the wheels are linked for a system as old as that,
with the compiler of this system. With --nightly the version has the date and the commit.
"""

import argparse
import hashlib
import subprocess
import sys
import tempfile
from contextlib import nullcontext
from pathlib import Path

from . import build, check, nightly, normal, trial


def main() -> None:
    arguments = parsed()
    root, epoch = build.ROOT, normal.epoch_of(build.ROOT)
    isolated = not arguments.no_isolation
    builder = build.Builder(root, arguments.to.resolve(), epoch, isolated, arguments.platform)
    with nightly.version(root, epoch) if arguments.nightly else nullcontext():
        build_all(builder, arguments)


def build_all(builder: build.Builder, arguments: argparse.Namespace) -> None:
    """Build, check and test the sdist and a wheel for each interpreter."""
    sdist = builder.sdist()
    report(sdist)
    wheels = []
    for python in arguments.python or [Path(sys.executable)]:
        wheel = builder.wheel(python)
        report(wheel)
        problems = check.problems(wheel, builder.root)
        if problems:
            raise SystemExit("\n".join(problems))
        print("   ", trial.try_out(wheel, python))
        wheels.append(wheel)
        if arguments.twice:
            build_again(builder, sdist, wheel, python)
    twine = [sys.executable, "-m", "twine", "check", "--strict", sdist, *wheels]
    print(builder.run(*twine).strip())


def parsed() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m build_support.wheels", description=__doc__)
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
    parser.add_argument("--python", type=Path, action="append", metavar="EXE")
    parser.add_argument("--to", type=Path, default=Path("dist"), metavar="DIR")
    parser.add_argument("--platform", default="", metavar="TAG", help="manylinux_2_28_x86_64")
    parser.add_argument("--no-isolation", action="store_true", help="build with what is installed")
    parser.add_argument("--twice", action="store_true", help="build again from the sdist; compare")
    parser.add_argument("--nightly", action="store_true", help="mark the version by date, commit")
    return parser.parse_args()


def report(path: Path) -> None:
    data = path.read_bytes()
    line = f"{path.name}  {len(data):,} bytes  sha256 {hashlib.sha256(data).hexdigest()[:16]}"
    if path.suffix == ".whl":
        line += f"  installed {check.sizes(path, normal.read_wheel(path))['installed']:,} bytes"
    print(line, flush=True)


def build_again(builder: build.Builder, sdist: Path, wheel: Path, python: Path) -> None:
    """Build from the sdist in another folder; exit with the files that differ, if any."""
    with tempfile.TemporaryDirectory(dir=builder.root / "build") as folder:
        rebuilt = builder.elsewhere(sdist, Path(folder)).wheel(python)
        if rebuilt.read_bytes() == wheel.read_bytes():
            print("    built again from the sdist: the same bytes")
            return
        first, second = normal.read_wheel(wheel), normal.read_wheel(rebuilt)
        names = [
            name for name in sorted(first.keys() | second) if first.get(name) != second.get(name)
        ]
        raise SystemExit(f"built again from the sdist, these differ: {', '.join(names) or 'none'}")


if __name__ == "__main__":
    try:
        main()
    except subprocess.CalledProcessError as error:
        raise SystemExit(str(error)) from error
