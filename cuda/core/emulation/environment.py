# SPDX-License-Identifier: Apache-2.0
"""The environment in which programs load the emulator and its libraries."""

import os
from pathlib import Path

from cuda.core.emulation import library

# The names that programs are linked with. The first library needs the second.
RUNTIME_12, RUNTIME, NCCL = "libcudart.so.12", "libcudart.so.13", "libnccl.so.2"
# For linkers that search the folder of `path`: the names behind -lcuda, -lcudart and nvcc's default
# -lcudart_static and -lnccl, and the libraries that programs then ask for.
LINKED = {
    "libcuda.so": "libcuda.so.1",
    "libcudart.so": RUNTIME,
    "libcudart_static.a": RUNTIME,
    "libnccl.so": NCCL,
}


def environment_of_programs(options):
    """Return the environment in which a program and its children load the emulator."""
    folder = driver_folder()
    # LD_PRELOAD has no quoting: a path with a blank is found by name in the folder.
    is_quoted = bool(set(" :;") & set(str(folder)))
    # A preloaded library also serves programs with an RPATH, which precedes LD_LIBRARY_PATH.
    names = library.preload_path().name, RUNTIME_12, RUNTIME, NCCL
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
    point_to(folder / NCCL, library.communication_path().resolve())
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
