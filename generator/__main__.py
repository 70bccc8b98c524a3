# SPDX-License-Identifier: Apache-2.0
"""Command line of the generator: `emit [--check]`, `extract [LIBRARY ...]`, `report`."""

from __future__ import annotations

import argparse
import importlib
import os
import pkgutil
import sys
from pathlib import Path

from . import emit as emitters
from . import object_layer
from .libraries import HERE, library_names, load, load_all

ROOT = HERE.parent


def main(arguments: list[str] | None = None) -> int:
    options = make_parser().parse_args(arguments)
    options.output = ROOT if options.project == HERE else options.project
    return options.run(options)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m generator", description=__doc__)
    parser.add_argument(
        "--project",
        type=Path,
        default=HERE,
        metavar="DIR",
        help="folder with api/ and overrides/ (default: this package); files are emitted below it",
    )
    commands = parser.add_subparsers(required=True, metavar="COMMAND")
    command = commands.add_parser("emit", help="write the generated sources")
    command.add_argument(
        "--check",
        action="store_true",
        help="write nothing; fail when a file is missing, stale, or differs from run to run",
    )
    command.add_argument(
        "--only",
        action="append",
        metavar="EMITTER",
        help="a module of generator/emit, as in cimport (default: all)",
    )
    command.set_defaults(run=run_emit)
    command = commands.add_parser("extract", help="read the headers into api/ (needs libclang)")
    command.add_argument("libraries", nargs="*", metavar="LIBRARY")
    command.add_argument(
        "--include",
        action="append",
        type=Path,
        metavar="DIR",
        help="folder of headers (default: the newest CUDA headers found)",
    )
    command.set_defaults(run=run_extract)
    command = commands.add_parser("report", help="write report.md: counts and special cases")
    command.set_defaults(run=run_report)
    return parser


def emit_all(project: Path = HERE, only: list[str] | None = None) -> dict[str, str]:
    """Run every module in `emit/`. Returns path below the root -> text."""
    libraries = load_all(project)
    files: dict[str, str] = {}
    for module in sorted(pkgutil.iter_modules(emitters.__path__), key=lambda m: m.name):
        if only and module.name not in only:
            continue
        emitter = importlib.import_module(f"{emitters.__name__}.{module.name}")
        if not hasattr(emitter, "emit"):
            continue
        emitted = emitter.emit(libraries)
        if clash := files.keys() & emitted.keys():
            raise SystemExit(f"generator: two emitters write {', '.join(sorted(clash))}")
        files |= emitted
    if project == HERE and not only:
        files |= object_layer.emit(ROOT, files)
    return files


def run_emit(options: argparse.Namespace) -> int:
    files = emit_all(options.project, options.only)
    if options.check:
        load.cache_clear()
        return check(files, emit_all(options.project, options.only), options.output)
    for name, text in files.items():
        write_if_changed(options.output / name, text)
    if options.project == HERE and not options.only:
        object_layer.native_headers.remove_stale(ROOT, files)
    return 0


def check(files: dict[str, str], second_run: dict[str, str], root: Path) -> int:
    """Check that two runs agree and that the tree matches them."""
    problems = [f"differs from run to run: {n}" for n in files if files[n] != second_run.get(n)]
    for name, text in files.items():
        path = root / name
        if not path.exists():
            problems.append(f"missing: {name}")
        elif path.read_text("utf-8") != text:
            problems.append(f"stale: {name}")
    for problem in problems:
        print(problem, file=sys.stderr)
    return 1 if problems else 0


def write_if_changed(path: Path, text: str) -> None:
    """Write a file only if its bytes change, so that unchanged files are not rebuilt."""
    data = text.encode()
    if path.exists() and path.read_bytes() == data:
        return
    path.parent.mkdir(parents=True, exist_ok=True)
    new = path.with_name(path.name + ".new")
    new.write_bytes(data)
    os.replace(new, path)


def run_extract(options: argparse.Namespace) -> int:
    from build_support import headers

    from . import api_file, decisions, extract, report

    folders = options.include or [f for f in [headers.find()] if f]
    for name in options.libraries or library_names(options.project):
        decided = decisions.read(options.project / "overrides" / f"{name}.toml")
        if decided.by_hand:
            print(f"{name}: written by hand")
            continue
        facts = extract.extract(decided, folders)
        path = options.project / "api" / f"{name}.api"
        print(report.changes(path, facts), end="")
        write_if_changed(path, api_file.write(facts))
        print(
            f"{name} {facts.version}: {len(facts.functions)} functions, {len(facts.types)} types, "
            f"{len(facts.constants)} constants"
        )
    return 0


def run_report(options: argparse.Namespace) -> int:
    from . import report

    write_if_changed(options.project / "report.md", report.write(load_all(options.project)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
