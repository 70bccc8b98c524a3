# SPDX-License-Identifier: Apache-2.0
"""Several mutants at a time: each worker has a copy of the built tree, at the same path.

Commands of a build name absolute paths, so a copy elsewhere would compile everything again. A mount
namespace shows a worker its own copy. Linux allows this to root, or with user namespaces.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

from .mutants import Mutant
from .trial import Outcome, put_to_trial

ENTER = 'mount --bind "$1" "$2" && cd "$3" && shift 3 && exec "$@"'


def claimed(claims: Path, index: int) -> bool:
    """Claim a mutant for this worker; return False if another one has it."""
    try:
        (claims / f"{index}.claim").mkdir()
    except FileExistsError:
        return False
    return True


def drop_unfinished(claims: Path) -> None:
    """Release the claims of an interrupted run."""
    claims.mkdir(parents=True, exist_ok=True)
    for claim in claims.glob("*.claim"):
        if not claim.with_suffix(".json").exists():
            claim.rmdir()


def work(workspace, mutants: list[Mutant], claims: Path) -> None:
    """Put mutants to trial until none is left."""
    for index, mutant in enumerate(mutants):
        if claimed(claims, index):
            record = json.dumps(put_to_trial(workspace, mutant).record())
            new = claims / f"{index}.new"
            new.write_text(record)
            new.replace(claims / f"{index}.json")


def outcomes_in(claims: Path, mutants: list[Mutant]) -> list[Outcome]:
    """Return the outcomes so far, in the order of the mutants."""
    outcomes = []
    for index, mutant in enumerate(mutants):
        path = claims / f"{index}.json"
        if path.exists():
            r = json.loads(path.read_text())
            outcomes.append(Outcome(mutant, r["outcome"], r["why"], r["seconds"]))
    return outcomes


def start(number: int, folder: Path, root: Path, arguments: list[str]) -> subprocess.Popen:
    """Start a worker in a mount namespace of its own."""
    tree, copy = folder / "tree", folder / "workers" / str(number)
    shutil.rmtree(copy, ignore_errors=True)
    copy.parent.mkdir(parents=True, exist_ok=True)
    subprocess.run(["cp", "-a", tree, copy], check=True)  # keeps times, so nothing is built again
    inside = [sys.executable, "-m", "tests.mutation", *arguments, "--worker"]
    command = ["sh", "-c", ENTER, "sh", str(copy), str(tree), str(root), *inside]
    flags = "-m" if os.geteuid() == 0 else "-rm"
    return subprocess.Popen(["unshare", flags, *command], start_new_session=True)


def run(number: int, folder: Path, root: Path, mutants: list[Mutant], report) -> list[Outcome]:
    """Run workers until all mutants have an outcome; call `report` after each change."""
    claims = folder / "claims"
    drop_unfinished(claims)
    running = [start(n, folder, root, sys.argv[1:]) for n in range(number)]
    known = -1
    try:
        while known < len(mutants):
            is_over = all(worker.poll() is not None for worker in running)
            outcomes = outcomes_in(claims, mutants)
            if len(outcomes) != known:
                report(outcomes)
                known = len(outcomes)
            if is_over and known < len(mutants):
                raise SystemExit("the workers ended before the last mutant")
            time.sleep(1)
    finally:
        for worker in running:
            if worker.poll() is None:
                worker.send_signal(signal.SIGTERM)
    return outcomes
