# SPDX-License-Identifier: Apache-2.0
"""``python -m cuda.core.emulation``: print the device table; run scripts and other programs."""

import os
import sys
from pathlib import Path

from cuda.core.emulation import control, explore, library, sarif
from cuda.core.emulation.profiling import command as profile_command

USAGE = """\
usage: {0}          print the device table
       {0} run [--cov] [--OPTION VALUE]... SCRIPT [ARG]...
       {0} exec [--OPTION VALUE]... PROGRAM [ARG]...
       {0} profile [--json FILE] [--html FILE] PROGRAM [ARG]...    count accesses
       {0} --fidelity PROGRAM [ARG]...     list the PTX that it executed
       {0} path     print a folder for LD_LIBRARY_PATH
       {0} explore N [--] PROGRAM [ARG]...    run N seeds
       {0} sarif [--suppress FILE] REPORTS.jsonl OUTPUT.sarif

The page "Without a GPU" of the guide describes the options. Two examples:
       {0} exec --check race,init python program.py
       {0} run --devices 2 --mode adversarial --seed 7 script.py"""


MAIN_FILES = ("__main__.py", "__main__.pyc")  # Python runs them for a folder or archive

# The names that nvcc's programs are linked with. The first library needs the second.
RUNTIME_12, RUNTIME = "libcudart.so.12", "libcudart.so.13"
# For linkers that search the folder of `path`: the names behind -lcuda, -lcudart and nvcc's default
# -lcudart_static and -lnccl, and the libraries that programs then ask for.
LINKED = {
    "libcuda.so": "libcuda.so.1",
    "libcudart.so": RUNTIME,
    "libcudart_static.a": RUNTIME,
    "libnccl.so": "libnccl.so.2",
}


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


def program_name():
    """Return the command as the user typed it."""
    program = Path(sys.argv[0])
    is_halfwarp = "halfwarp" in (program.name, program.parent.name)
    return "halfwarp emulate" if is_halfwarp else "python -m cuda.core.emulation"


def usage():
    return USAGE.format(program_name())


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

    is_measured = arguments[:1] == ["--cov"]
    options, script = read_options(arguments[is_measured:])
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


def read_options(arguments):
    """Split arguments into options, and the script with its arguments."""
    options, remaining = {}, list(arguments)
    while remaining and remaining[0].startswith("--"):
        name, has_value, value = remaining.pop(0)[2:].replace("-", "_").partition("=")
        if not has_value:
            value = remaining.pop(0) if remaining else ""
        options[name] = value
    return options, remaining


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
        print(f"{program_name()}: {program[0]}: {error.strerror}", file=sys.stderr)
        return 127 if isinstance(error, FileNotFoundError) else 126


def environment_of_programs(options):
    """Return the environment in which a program and its children load the emulator."""
    folder = driver_folder()
    # LD_PRELOAD has no quoting: a path with a blank is found by name in the folder.
    is_quoted = bool(set(" :;") & set(str(folder)))
    # A preloaded runtime also serves programs with an RPATH, which precedes LD_LIBRARY_PATH.
    names = library.preload_path().name, RUNTIME_12, RUNTIME
    preloaded = [name if is_quoted else str(folder / name) for name in names]
    return {
        **os.environ,
        **{library.PREFIX + name.upper(): value for name, value in options.items()},
        "HALFWARP_BACKEND": "emulator",
        "LD_LIBRARY_PATH": joined(str(folder), os.environ.get("LD_LIBRARY_PATH")),
        # Existing entries stay first, as a sanitizer requires.
        "LD_PRELOAD": joined(os.environ.get("LD_PRELOAD"), *preloaded),
    }


def joined(*paths):
    """Return the non-empty paths joined by colons."""
    return ":".join(filter(None, paths))


def print_path(arguments):
    """Print a folder that contains the emulator as libcuda.so.1 and libnvidia-ml.so.1."""
    print(driver_folder())
    return 0


def driver_folder():
    """Create a folder of links from the driver's library names to the emulator's libraries."""
    import hashlib

    base = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
    target = library.path().resolve()
    # Each installation has its own folder, so several can be used at once.
    name = hashlib.sha256(str(target).encode()).hexdigest()[:12]
    folder = Path(base) / "halfwarp" / f"emulated-driver-{name}"
    folder.mkdir(parents=True, exist_ok=True)
    point_to(folder / "libcuda.so.1", target)
    point_to(folder / "libnvidia-ml.so.1", library.management_path().resolve())
    point_to(folder / RUNTIME, library.runtime_path().resolve())
    point_to(folder / RUNTIME_12, library.runtime_12_path().resolve())
    point_to(folder / LINKED["libnccl.so"], library.communication_path().resolve())
    for name, target_name in LINKED.items():
        write_text(folder / name, f"INPUT(-l:{target_name})\n")
    point_to(folder / library.preload_path().name, library.preload_path().resolve())
    return folder


def write_text(path, text):
    """Create a file atomically, since other processes may do the same."""
    if not path.exists() or path.read_text() != text:
        fresh = path.with_name(f".{path.name}.{os.getpid()}")
        fresh.write_text(text)
        fresh.replace(path)


def point_to(link, target):
    """Create or replace a link atomically, since other processes may do the same."""
    if not link.exists() or link.resolve() != target:
        fresh = link.with_name(f".{link.name}.{os.getpid()}")
        fresh.symlink_to(target)
        fresh.replace(link)
