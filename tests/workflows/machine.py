# SPDX-License-Identifier: Apache-2.0
"""The machine of a job: a folder with a clone, variables that steps hand on, and stand-ins.

A script runs as it is written. An action is replaced by what a test of the scripts needs of it.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from .plan import Job, NotUnderstood, Step

# What of this machine's environment a step may see: where packages and compilers come from.
KEPT = ("PIP_", "CCACHE_", "SSL_", "LANG")
KEPT_NAMES = {"CC", "CXX", "PATH"}
# Programs of GitHub's machines and containers: they run the rest, or only say what they were told.
PROGRAMS = {"sudo": 'exec "$@"', "dnf": 'echo "not done here: dnf $*"'}
# In a place of its own, so that nothing on this machine changes.
SEEN_AS = """
for each in "${@:2:$1}"; do
  mountpoint -q "/$(cut -d/ -f2 <<<"$each")" || mount -t tmpfs none "/$(cut -d/ -f2 <<<"$each")"
  mkdir -p "$(dirname "${each%%=*}")" && ln -s "${each#*=}" "${each%%=*}"
done
shift $(($1 + 1)) && exec "$@"
"""


class Machine:
    """Runs one job.

    `provided`: what its container has, as path -> path on this machine; `instead`: what is run in
    the place of which text.
    """

    def __init__(
        self,
        root: Path,
        folder: Path,
        artifacts: Path,
        provided: Mapping[str, str],
        instead: Mapping[str, str],
    ):
        self.root, self.artifacts, self.provided = root, artifacts, provided
        self.instead = instead
        self.tree, self.home, self.handed = folder / "tree", folder / "home", folder / "handed"
        for each in (self.tree, self.home, self.handed, artifacts):
            each.mkdir(parents=True, exist_ok=True)
        programs = folder / "programs"
        programs.mkdir()
        for name, text in PROGRAMS.items():
            if not shutil.which(name):
                (programs / name).write_text(f"#!/bin/sh\n{text}\n")
                (programs / name).chmod(0o755)
        self.variables = self.of_this_machine() | {"CI": "true", "HOME": str(self.home)}
        self.variables["PATH"] += f":{programs}"

    def of_this_machine(self) -> dict[str, str]:
        kept = {n: v for n, v in os.environ.items() if n.startswith(KEPT) or n in KEPT_NAMES}
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        return kept | {"XDG_CACHE_HOME": cache}

    def run(self, job: Job, context: Mapping[str, str], given: Mapping[str, str]) -> None:
        """All steps; the first that fails ends it. `given` comes before the workflow's `env`."""
        of_github = {k.upper().replace(".", "_"): v for k, v in context.items()}
        self.variables |= of_github | {"GITHUB_WORKSPACE": str(self.tree)}
        for step in job.steps:
            print(f"\n-- {job.title}: {step.title}", flush=True)
            if step.action:
                stand_in(step.action)(self, step.inputs)
            else:
                self.script(step, job, given)

    def script(self, step: Step, job: Job, given: Mapping[str, str]) -> None:
        """In a shell as GitHub starts it, and what it hands on to the steps behind it."""
        files = {name: self.handed / name for name in ("GITHUB_ENV", "GITHUB_PATH")}
        for file in files.values():
            file.write_text("")
        text, path = step.script, self.handed / "script.sh"
        for theirs, ours in self.instead.items():
            text = text.replace(theirs, ours)
        path.write_text(text)
        command = [*step.shell, str(path)]
        if job.is_in_container:
            seen = [f"{name}={path}" for name, path in self.provided.items()]
            inside = ["bash", "-ec", SEEN_AS, "in a container", str(len(seen)), *seen]
            command = ["unshare", "--mount", *inside, *command]
        env = self.variables | step.variables | given | {n: str(p) for n, p in files.items()}
        subprocess.run(command, cwd=self.tree, env=env, check=True, stdin=subprocess.DEVNULL)
        pairs = (line.partition("=") for line in files["GITHUB_ENV"].read_text().splitlines())
        self.variables |= {name: value for name, _, value in pairs}
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.variables["PATH"] = f"{line}:{self.variables['PATH']}"

    def check_out(self, inputs: Mapping[str, str]) -> None:
        """What is committed."""
        subprocess.run(["git", "clone", "-q", "--no-local", self.root, self.tree], check=True)

    def set_up_python(self, inputs: Mapping[str, str]) -> None:
        """An environment of that version: nothing is installed into this machine's."""
        where = self.home / f"python{inputs['python-version']}"
        python = f"python{inputs['python-version']}"
        subprocess.run([python, "-m", "venv", where], check=True)
        self.variables["PATH"] = f"{where / 'bin'}:{self.variables['PATH']}"

    def upload(self, inputs: Mapping[str, str]) -> None:
        found = list(self.tree.glob(inputs["path"]))
        if not found:
            raise FileNotFoundError(inputs["path"])
        to = self.artifacts / inputs["name"]
        to.mkdir(exist_ok=True)
        for path in found:
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, to / path.name)

    def download(self, inputs: Mapping[str, str]) -> None:
        to = self.tree / inputs["path"]
        to.mkdir(parents=True, exist_ok=True)
        for path in self.artifacts.glob(f"{inputs['pattern']}/*"):
            shutil.copy(path, to)

    def publish(self, inputs: Mapping[str, str]) -> None:
        """Never from here."""
        print("not published:", *sorted(path.name for path in (self.tree / "dist").iterdir()))


ACTIONS: dict[str, Callable[[Machine, Mapping[str, str]], None]] = {
    "actions/checkout": Machine.check_out,
    "actions/setup-python": Machine.set_up_python,
    "actions/upload-artifact": Machine.upload,
    "actions/download-artifact": Machine.download,
    "pypa/gh-action-pypi-publish": Machine.publish,
}


def stand_in(action: str) -> Callable[[Machine, Mapping[str, str]], None]:
    name = action.partition("@")[0]
    if name not in ACTIONS:
        raise NotUnderstood(f"the action {name}")
    return ACTIONS[name]
