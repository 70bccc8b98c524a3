# SPDX-License-Identifier: Apache-2.0
"""Lay out the wheels of foreign packages, each in a folder of its own, for tests/clients.

    python tests/clients/install.py DIR WHEELS...

DIR gets one folder for each distribution that the tables beside this file name and a wheel in one
of the folders WHEELS holds. No dependency is followed, so NVIDIA's cuda.bindings never lies beside
ours.
"""

import re
import subprocess
import sys
import tomllib
from pathlib import Path

TABLES = [Path(__file__).with_name(name) for name in ("clients.toml", "own_tests.toml")]


def required_distributions():
    clients = [client for table in TABLES for client in tomllib.loads(table.read_text()).values()]
    return {name for client in clients for name in client.get("wheels", ())}


def normalized(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def wheels_in(folders):
    """Map each distribution to its wheel; the last one named wins."""
    paths = [path for folder in folders for path in sorted(Path(folder).glob("*.whl"))]
    return {normalized(path.name.split("-")[0]): path for path in paths}


def lay_out(wheel, target):
    options = ["--quiet", "--no-index", "--no-deps", "--no-compile", "--upgrade"]
    options += ["--disable-pip-version-check", "--root-user-action=ignore"]
    command = [sys.executable, "-m", "pip", "install", *options, "--target", target, wheel]
    return subprocess.run([*map(str, command)], capture_output=True, text=True)


def main(directory, *folders):
    wheels = wheels_in(folders)
    failures = 0
    for name in sorted(required_distributions()):
        if name not in wheels:
            print(f"{name}: no wheel; taken from the environment if it is there")
            continue
        done = lay_out(wheels[name], Path(directory) / name)
        failures += done.returncode != 0
        print(f"{name}: {wheels[name].name}" if done.returncode == 0 else f"{name}: {done.stderr}")
    return 1 if failures else 0


if __name__ == "__main__":
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    sys.exit(main(*sys.argv[1:]))
