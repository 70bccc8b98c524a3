# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core.emulation``: the device table, scripts, other programs, a path for them."""

import os
import sys
from pathlib import Path

from cuda.core.emulation import control, library

USAGE = """\
usage: python -m cuda.core.emulation          print the device table
       python -m cuda.core.emulation run [--OPTION VALUE]... SCRIPT [ARG]...
       python -m cuda.core.emulation exec [--OPTION VALUE]... PROGRAM [ARG]...
       python -m cuda.core.emulation path     print a folder for LD_LIBRARY_PATH"""


def main(arguments):
    """Run one command; its exit status."""
    commands = {"run": run_script, "exec": run_program, "path": print_path}
    if not arguments:
        return print_table()
    if arguments[0] in commands:
        return commands[arguments[0]](arguments[1:])
    print(USAGE, file=sys.stdout if arguments[0] in ("-h", "--help") else sys.stderr)
    return 0 if arguments[0] in ("-h", "--help") else 2


def print_table():
    """All device attributes, a column per compute capability."""
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
    """Run a script on the emulator; 1 when it caused a fault or left something behind."""
    import runpy

    options, script = read_options(arguments)
    if not script:
        print(USAGE, file=sys.stderr)
        return 2
    if not Path(script[0]).exists():
        print(f"python -m cuda.core.emulation: there is no script {script[0]!r}", file=sys.stderr)
        return 2
    try:
        control.enable(**options)
    except (ValueError, RuntimeError) as error:
        print(f"python -m cuda.core.emulation: {error}", file=sys.stderr)
        return 2
    sys.argv[:] = script
    sys.path[0] = str(Path(script[0]).resolve().parent)
    status = run_guarded(runpy.run_path, script[0])
    return status or (1 if was_anything_reported() else 0)


def run_guarded(run_path, script):
    """The exit status of a script that may raise."""
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


def read_options(arguments):
    """The options before the script, and the script with its arguments."""
    options, rest = {}, list(arguments)
    while rest and rest[0].startswith("--"):
        name, has_value, value = rest.pop(0)[2:].replace("-", "_").partition("=")
        if not has_value:
            value = rest.pop(0) if rest else ""
        options[name] = value
    return options, rest


def was_anything_reported():
    """Whether a fault arose, or something is left; what is left is listed on standard error."""
    import gc

    if not library.is_running():
        return False
    gc.collect()
    control.settle()
    left = control.leaks()
    for leak in left:
        size = f", {leak.bytes} bytes" if leak.bytes else ""
        site = f", created at {leak.created_at}" if leak.created_at else ""
        print(f"emulator: leak: {leak.kind} {leak.id:#x}{size}{site}", file=sys.stderr)
    return bool(left) or control.stats()["faults"] > 0


def run_program(arguments):
    """Become any program, with the emulator as its driver; 127 when there is none of that name."""
    options, program = read_options(arguments)
    if not program:
        print(USAGE, file=sys.stderr)
        return 2
    try:
        chosen = {name: library.check_option(name, value) for name, value in options.items()}
        os.execvpe(program[0], program, environment_of_programs(chosen))
    except (ValueError, RuntimeError) as error:
        print(f"python -m cuda.core.emulation: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"python -m cuda.core.emulation: {program[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def environment_of_programs(options):
    """The variables that make a program, and those that it starts, find the emulator."""
    folder = driver_folder()
    preloaded = folder / library.preload_path().name
    # The list has no quotes: a path with a blank is found by its name, in the folder.
    last = preloaded.name if set(" :;") & set(str(preloaded)) else str(preloaded)
    return {
        **os.environ,
        **{library.PREFIX + name.upper(): value for name, value in options.items()},
        "HALFWARP_BACKEND": "emulator",
        "LD_LIBRARY_PATH": joined(str(folder), os.environ.get("LD_LIBRARY_PATH")),
        # Behind what is there: a sanitizer wants to be the first.
        "LD_PRELOAD": joined(os.environ.get("LD_PRELOAD"), last),
    }


def joined(*paths):
    """A list of paths of those that there are."""
    return ":".join(filter(None, paths))


def print_path(arguments):
    """A folder whose libcuda.so.1 and libnvidia-ml.so.1 are the emulator's."""
    print(driver_folder())
    return 0


def driver_folder():
    """A folder with the emulator's libraries under the names that programs look for, made anew."""
    import hashlib

    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    target = library.path().resolve()
    # One folder per installation, so that several can be used side by side.
    name = hashlib.sha256(str(target).encode()).hexdigest()[:12]
    folder = Path(base) / "halfwarp" / f"emulated-driver-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    point_to(folder / "libcuda.so.1", target)
    point_to(folder / "libnvidia-ml.so.1", library.management_path().resolve())
    point_to(folder / library.preload_path().name, library.preload_path().resolve())
    return folder


def point_to(link, target):
    """Make a link, or let it point elsewhere, beside others who may do so."""
    if not link.exists() or link.resolve() != target:
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        fresh.symlink_to(target)
        fresh.replace(link)
