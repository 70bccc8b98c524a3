# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.workflows test.yml``: a workflow's steps on this machine, in fresh clones.

Scripts run like on GitHub, in the order of the jobs; stand-ins replace actions, and nothing is
published. --provide gives the contents of a container. The committed state is run.
"""

import argparse
import subprocess
import tempfile
import time
from pathlib import Path

from .machine import Machine
from .plan import jobs_of

ROOT = Path(__file__).resolve().parents[2]
REF = "refs/heads/main"


def pair(text: str) -> tuple[str, str]:
    name, _, value = text.partition("=")
    return name, value


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m tests.workflows", description=__doc__)
    add = parser.add_argument
    add("workflow", help="its name in .github/workflows")
    pairs = {"type": pair, "action": "append", "default": [], "metavar": "NAME=VALUE"}
    add("--matrix", **pairs, help="only the jobs with this value, such as python=3.12")
    add("--env", **pairs, help="instead of what the workflow sets, where this machine has less")
    add("--instead", **pairs, help="a text of a script, and what stands here in its place")
    add("--provide", **pairs, help="a path that the container has, and where it is on this machine")
    add("--ref", default=REF, help=f"what was pushed ({REF}); refs/tags/v1.0 for a release")
    add("--folder", type=Path, help="where to work, kept; else a temporary one")
    return parser.parse_args()


def main() -> None:
    options = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        run(options, options.folder.resolve() if options.folder else Path(temporary))


def run(options: argparse.Namespace, folder: Path) -> None:
    """Run each job on a machine of its own; the first failing one ends the run."""
    context = {"github.ref": options.ref, "github.ref_name": options.ref.split("/", 2)[-1]}
    context["github.run_number"] = "1"
    path = ROOT / ".github" / "workflows" / options.workflow
    jobs = [j for j in jobs_of(path, context) if is_chosen(j.choice, dict(options.matrix))]
    if not jobs:
        raise SystemExit("no job has these values")
    for number, job in enumerate(jobs):
        start = time.monotonic()
        place, artifacts = folder / str(number), folder / "artifacts"
        machine = Machine(ROOT, place, artifacts, dict(options.provide), dict(options.instead))
        try:
            machine.run(job, context, dict(options.env))
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            raise SystemExit(f"{job.title} {job.choice or ''}: {error}") from error
        print(f"== {job.title} {job.choice or ''}: passed, {time.monotonic() - start:.0f} s")


def is_chosen(choice: dict[str, str], requested: dict[str, str]) -> bool:
    """A job without a matrix is always chosen."""
    return all(choice.get(name, value) == value for name, value in requested.items())


if __name__ == "__main__":
    main()
