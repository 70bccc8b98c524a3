# SPDX-License-Identifier: Apache-2.0
"""A copy of the tree in which mutants are built and tested, so that the tree itself stays
intact."""

import hashlib
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

LEFT_OUT = {".git", ".venv", ".clients", ".whl", "__pycache__", ".hypothesis", ".pytest_cache"}
TIME_LIMIT = 1800  # time limit of a build in seconds
TIME_IS_OVER = 124  # status of a killed command, like timeout(1)
TEST_LIMIT = 120  # time limit of one test
PASSED = (0, 5)  # pytest's codes for passed tests and for no tests
MADE = ("cuda/**/*.so", "build/generated/**/*", "cuda/**/*.pyi", "cuda/**/*.pxd")


class Workspace:
    """Built once; later only the changes of a mutant are built again."""

    def __init__(self, tree: Path, folder: Path, budget: float, failing: Path | None = None):
        self.budget = budget
        names = failing.read_text().splitlines() if failing else []
        self.options = [f"--deselect={name}" for name in names]
        self.root = folder / "tree"
        self.backup = folder / "backup"
        self.environment = {
            **os.environ,
            "PYTHONPATH": str(self.root),
            "PYTHONDONTWRITEBYTECODE": "1",
            "HALFWARP_BACKEND": "emulator",
        }
        self.copy(tree)

    def copy(self, tree: Path) -> None:
        """Update the copy from the tree; unchanged files keep their modification time."""
        for stale in [path for path in files_below(self.root) if path.is_file()]:
            if not (tree / stale.relative_to(self.root)).exists():
                stale.unlink()
        for source in files_below(tree):
            target = self.root / source.relative_to(tree)
            if not target.exists() or target.read_bytes() != source.read_bytes():
                target.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy(source, target)

    def prepare(self, suites: list[list[str]]) -> None:
        """Build the copy, back up the result, and check that the tests pass."""
        done = self.build([])
        if done.returncode != 0:
            raise SystemExit(f"the tree does not build:\n{done.stdout[-4000:]}")
        shutil.rmtree(self.backup, ignore_errors=True)
        for path in self.root.glob("cuda/**/*.so"):
            target = self.backup / path.relative_to(self.root)
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(path, target)
        self.adopt()
        for tests in suites:
            done = self.test(tests)
            if done.returncode not in PASSED:
                raise SystemExit(f"the tests fail without a mutant:\n{done.stdout[-4000:]}")

    def adopt(self) -> None:
        """Take the copy as it is built and backed up."""
        self.fingerprint = self.digests()

    def build(self, parts: list[str]) -> subprocess.CompletedProcess:
        command = [sys.executable, "setup.py", "-q", "build_ext", "--inplace"]
        return self.run(command, HALFWARP_EXTENSIONS=",".join(parts))

    def test(self, tests: list[str]) -> subprocess.CompletedProcess:
        options = ["-x", "-q", "--no-header", "-p", "no:cacheprovider", "--backend=emulator"]
        options += self.options
        # The thread method ends endless loops in C++.
        options += [f"--timeout={TEST_LIMIT}", "-o", "timeout_method=thread"]
        command = [sys.executable, "-m", "pytest", *options]
        end = time.monotonic() + self.budget
        for number, folder in enumerate(tests):
            # Each folder is run alone, since pytest sorts overlapping file arguments.
            options = [f"--ignore={each}" for each in tests[:number]]
            remaining = end - time.monotonic()
            done = self.run([*command, folder, *options], remaining)
            if done.returncode not in PASSED:
                break
        return done

    def run(
        self, command: list[str], limit: float = TIME_LIMIT, **variables: str
    ) -> subprocess.CompletedProcess:
        """Run in a session of its own, which is killed as a whole at the time limit."""
        process = subprocess.Popen(
            command,
            cwd=self.root,
            env={**self.environment, **variables},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            errors="replace",
            start_new_session=True,
        )
        try:
            output, _ = process.communicate(timeout=max(limit, 1))
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            output, _ = process.communicate()
            return subprocess.CompletedProcess(command, TIME_IS_OVER, output)
        return subprocess.CompletedProcess(command, process.returncode, output)

    def write(self, name: str, text: str) -> None:
        """Change a source; files built from it become out of date."""
        (self.root / name).write_text(text)
        os.utime(self.root / name, (time.time(), time.time()))

    def restore(self, name: str, text: str) -> None:
        """Restore a source and the libraries; objects are rebuilt on demand."""
        self.write(name, text)
        for path in self.backup.rglob("*.so"):
            target = self.root / path.relative_to(self.backup)
            if not target.exists() or digest(target) != digest(path):
                fresh = target.with_suffix(".new")
                shutil.copy(path, fresh)
                fresh.replace(target)

    def digests(self) -> dict[Path, str]:
        """Map build outputs to digests. A mutant that changes none of them is equivalent."""
        paths = {path for pattern in MADE for path in self.root.glob(pattern) if path.is_file()}
        return {path: digest(path) for path in sorted(paths)}


def files_below(tree: Path):
    for folder, folders, names in os.walk(tree):
        inside = Path(folder).relative_to(tree).parts
        skipped = LEFT_OUT if inside else LEFT_OUT | {"build"}  # commands name absolute paths
        folders[:] = [name for name in folders if name not in skipped]
        yield from (Path(folder, name) for name in names if not os.path.islink(Path(folder, name)))


def digest(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()
