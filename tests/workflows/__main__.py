# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.workflows test.yml``: the steps of a workflow on this machine, in fresh clones.

Scripts run as GitHub runs them, in the order of the jobs; for actions there are stand-ins, and
nothing is published. What a container has is said with --provide. What is committed is run.
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
    given = arguments()
    with tempfile.TemporaryDirectory() as temporary:
        run(given, given.folder.resolve() if given.folder else Path(temporary))


def run(given: argparse.Namespace, folder: Path) -> None:
    """Each job on a machine of its own; the first that fails ends it."""
    context = {"github.ref": given.ref, "github.ref_name": given.ref.split("/", 2)[-1]}
    context["github.run_number"] = "1"
    path = ROOT / ".github" / "workflows" / given.workflow
    jobs = [j for j in jobs_of(path, context) if is_chosen(j.choice, dict(given.matrix))]
    if not jobs:
        raise SystemExit("no job has these values")
    for number, job in enumerate(jobs):
        start = time.monotonic()
        place, artifacts = folder / str(number), folder / "artifacts"
        machine = Machine(ROOT, place, artifacts, dict(given.provide), dict(given.instead))
        try:
            machine.run(job, context, dict(given.env))
        except (subprocess.CalledProcessError, FileNotFoundError) as error:
            raise SystemExit(f"{job.title} {job.choice or ''}: {error}") from error
        print(f"== {job.title} {job.choice or ''}: passed, {time.monotonic() - start:.0f} s")


def is_chosen(choice: dict[str, str], wanted: dict[str, str]) -> bool:
    """A job without a matrix always is."""
    return all(choice.get(name, value) == value for name, value in wanted.items())


if __name__ == "__main__":
    main()
