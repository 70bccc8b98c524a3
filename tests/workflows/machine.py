# SPDX-License-Identifier: Apache-2.0
"""The machine of a job: a folder with a clone, variables passed between steps, and stand-ins.

A script runs unchanged. A stand-in replaces an action by the part that a test of the scripts
needs.
"""

import os
import shutil
import subprocess
from collections.abc import Callable, Mapping
from pathlib import Path

from .plan import Job, NotUnderstood, Step

# Variables of this machine that a step may see: sources of packages and compilers.
KEPT = ("PIP_", "CCACHE_", "SSL_", "LANG")
KEPT_NAMES = {"CC", "CXX", "PATH"}
# Programs of GitHub's machines and containers: they run the rest, or only print their arguments.
PROGRAMS = {"sudo": 'exec "$@"', "dnf": 'echo "not done here: dnf $*"'}
# In a separate folder, so that nothing on this machine changes.
SEEN_AS = """
for each in "${@:2:$1}"; do
  mountpoint -q "/$(cut -d/ -f2 <<<"$each")" || mount -t tmpfs none "/$(cut -d/ -f2 <<<"$each")"
  mkdir -p "$(dirname "${each%%=*}")" && ln -s "${each#*=}" "${each%%=*}"
done
shift $(($1 + 1)) && exec "$@"
"""


class Machine:
    """Runs one job.

    `provided`: files of its container, as path -> path on this machine; `instead`: replacements
    of text in scripts.
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
        inherited = {n: v for n, v in os.environ.items() if n.startswith(KEPT) or n in KEPT_NAMES}
        cache = os.environ.get("XDG_CACHE_HOME", str(Path.home() / ".cache"))
        return inherited | {"XDG_CACHE_HOME": cache}

    def run(self, job: Job, context: Mapping[str, str], variables: Mapping[str, str]) -> None:
        """Run all steps; the first failing one ends the job. `variables` precede the workflow's
        `env`."""
        of_github = {k.upper().replace(".", "_"): v for k, v in context.items()}
        self.variables |= of_github | {"GITHUB_WORKSPACE": str(self.tree)}
        for step in job.steps:
            print(f"\n-- {job.title}: {step.title}", flush=True)
            if step.action:
                stand_in(step.action)(self, step.inputs)
            else:
                self.script(step, job, variables)

    def script(self, step: Step, job: Job, variables: Mapping[str, str]) -> None:
        """Run it in a shell like GitHub, and record what it passes to later steps."""
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
        env = self.variables | step.variables | variables | {n: str(p) for n, p in files.items()}
        subprocess.run(command, cwd=self.tree, env=env, check=True, stdin=subprocess.DEVNULL)
        pairs = (line.partition("=") for line in files["GITHUB_ENV"].read_text().splitlines())
        self.variables |= {name: value for name, _, value in pairs}
        for line in files["GITHUB_PATH"].read_text().splitlines():
            self.variables["PATH"] = f"{line}:{self.variables['PATH']}"

    def leave_out(self, inputs: Mapping[str, str]) -> None:
        """Print that this machine cannot run the action."""
        print(f"left out: {dict(inputs)}")

    def check_out(self, inputs: Mapping[str, str]) -> None:
        """Clone the committed state."""
        subprocess.run(["git", "clone", "-q", "--no-local", self.root, self.tree], check=True)

    def set_up_python(self, inputs: Mapping[str, str]) -> None:
        """Create an environment of that version: nothing is installed into this machine's."""
        folder = self.home / f"python{inputs['python-version']}"
        python = f"python{inputs['python-version']}"
        subprocess.run([python, "-m", "venv", folder], check=True)
        self.variables["PATH"] = f"{folder / 'bin'}:{self.variables['PATH']}"

    def upload(self, inputs: Mapping[str, str]) -> None:
        matches = list(self.tree.glob(inputs["path"]))
        if not matches:
            raise FileNotFoundError(inputs["path"])
        to = self.artifacts / inputs["name"]
        to.mkdir(exist_ok=True)
        for path in matches:
            copy = shutil.copytree if path.is_dir() else shutil.copy
            copy(path, to / path.name)

    def download(self, inputs: Mapping[str, str]) -> None:
        to = self.tree / inputs["path"]
        to.mkdir(parents=True, exist_ok=True)
        for path in self.artifacts.glob(f"{inputs['pattern']}/*"):
            shutil.copy(path, to)

    def upload_pages(self, inputs: Mapping[str, str]) -> None:
        pages = sorted((self.tree / inputs["path"]).rglob("index.html"))
        if not pages:
            raise FileNotFoundError(inputs["path"])
        print("not published:", *(page.relative_to(self.tree) for page in pages))

    def publish(self, inputs: Mapping[str, str]) -> None:
        """Publish nothing from here."""
        print("not published:", *sorted(path.name for path in (self.tree / "dist").iterdir()))


ACTIONS: dict[str, Callable[[Machine, Mapping[str, str]], None]] = {
    "actions/checkout": Machine.check_out,
    "actions/setup-python": Machine.set_up_python,
    "actions/upload-artifact": Machine.upload,
    "actions/download-artifact": Machine.download,
    "pypa/gh-action-pypi-publish": Machine.publish,
    "actions/upload-pages-artifact": Machine.upload_pages,
    "actions/deploy-pages": Machine.leave_out,
    # only GitHub can sign and search; the steps before and after do not depend on them
    "actions/attest-build-provenance": Machine.leave_out,
    "github/codeql-action/init": Machine.leave_out,
    "github/codeql-action/analyze": Machine.leave_out,
}


def stand_in(action: str) -> Callable[[Machine, Mapping[str, str]], None]:
    name = action.partition("@")[0]
    if name not in ACTIONS:
        raise NotUnderstood(f"the action {name}")
    return ACTIONS[name]
