# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core.emulation``: print the device table; run scripts and other programs."""

import os
import sys
from pathlib import Path

from cuda.core.emulation import control, explore, library, sarif
from cuda.core.emulation.arguments import explain_start, program_name, read_options, usage
from cuda.core.emulation.environment import driver_folder, environment_of_programs
from cuda.core.emulation.profiling import command as profile_command

MAIN_FILES = ("__main__.py", "__main__.pyc")  # Python runs them for a folder or archive


def main(arguments):
    """Run a command and return its exit status."""
    commands = {
        "run": run_script,
        "exec": run_program,
        "path": print_path,
        "profile": profile_command.main,
        "explore": explore.main,
        "sarif": sarif.main,
    }
    if not arguments:
        return print_table()
    if arguments[0] == "--fidelity":
        return run_program(["--fidelity", "1", *arguments[1:]])
    arguments = options_after_command(arguments)
    if arguments[0] in commands:
        return commands[arguments[0]](arguments[1:])
    print(usage(), file=sys.stdout if arguments[0] in ("-h", "--help") else sys.stderr)
    return 0 if arguments[0] in ("-h", "--help") else 2


def options_after_command(arguments):
    """Return ``run`` or ``exec`` first, if options precede it."""
    _, remaining = read_options(arguments)
    options = arguments[: len(arguments) - len(remaining)]
    if options and remaining and remaining[0] in ("run", "exec"):
        return [remaining[0], *options, *remaining[1:]]
    return arguments


def print_table():
    """Print all device attributes, with a column per compute capability."""
    from cuda.bindings import driver

    table = library.device_table()
    names = {int(a): a.name.removeprefix("CU_DEVICE_ATTRIBUTE_") for a in driver.CUdevice_attribute}
    width = max(map(len, names.values()))
    print(f"{'compute capability':{width}}" + "".join(f"{cc:>12}" for cc in table))
    for number in sorted(names):
        values = [column[number] for column in table.values() if number < len(column)]
        if values and names[number] != "MAX":
            print(f"{names[number]:{width}}" + "".join(f"{value:>12}" for value in values))
    return 0


def run_script(arguments):
    """Run a script on the emulator; return 1 after a fault or a leak."""
    import runpy

    options, script = read_options(arguments, switches=("cov",))
    is_measured = options.pop("cov", None) is not None
    if not script:
        print(usage(), file=sys.stderr)
        return 2
    if problem := problem_of(script[0]):
        print(f"{program_name()}: {problem}", file=sys.stderr)
        return 2
    try:
        control.enable(**options)
    except (ValueError, RuntimeError) as error:
        print(f"{program_name()}: {error}", file=sys.stderr)
        return 2
    sys.argv[:] = script
    sys.path[0] = str(Path(script[0]).resolve().parent)
    if is_measured:
        from halfwarp.coverage.script import measure

        status = measure(lambda: run_guarded(runpy.run_path, script[0]))
    else:
        status = run_guarded(runpy.run_path, script[0])
    return status or (1 if was_anything_reported() else 0)


def problem_of(script):
    """Return why Python cannot run a script, folder or zip archive; None if it can."""
    import zipfile

    path = Path(script)
    if not path.exists():
        return f"there is no script {script!r}"
    if not os.access(path, os.R_OK):
        return f"no permission to read {script!r}"
    if path.is_dir():
        if not any((path / name).is_file() for name in MAIN_FILES):
            return f"{script!r} is a folder without __main__.py: pass the script to run"
    elif path.is_file() and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            if not set(MAIN_FILES) & set(archive.namelist()):
                return f"{script!r} is a zip archive without __main__.py: pass the script to run"
    return None


def run_guarded(run_path, script):
    """Run a script and return its exit status, also if it raises."""
    try:
        run_path(script, run_name="__main__")
    except SystemExit as end:
        if end.code is None or isinstance(end.code, int):
            return end.code or 0
        print(end.code, file=sys.stderr)
        return 1
    except BaseException:
        sys.excepthook(*sys.exc_info())
        return 1
    return 0


def was_anything_reported():
    """Return whether a fault or a leak was reported; print the leaks to standard error."""
    import gc

    if not library.is_running():
        return False
    gc.collect()
    control.settle()
    leaks = control.leaks()
    for leak in leaks:
        size = f", {leak.bytes} bytes" if leak.bytes else ""
        site = f", created at {leak.created_at}" if leak.created_at else ""
        print(f"emulator: leak: {leak.kind} {leak.id:#x}{size}{site}", file=sys.stderr)
    return bool(leaks) or control.stats()["faults"] > 0


def run_program(arguments):
    """Replace this process by a program that uses the emulator; return 127 if not found."""
    options, program = read_options(arguments)
    if not program:
        print(usage(), file=sys.stderr)
        return 2
    try:
        chosen = {name: library.check_option(name, value) for name, value in options.items()}
        os.execvpe(program[0], program, environment_of_programs(chosen))
    except (ValueError, RuntimeError) as error:
        print(f"{program_name()}: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        return explain_start(program[0], error)


def print_path(arguments):
    """Print a folder that contains the emulator as libcuda.so.1 and libnvidia-ml.so.1."""
    print(driver_folder())
    return 0
