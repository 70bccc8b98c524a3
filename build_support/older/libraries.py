# SPDX-License-Identifier: Apache-2.0
"""What to link with, for a system older than this one: its libraries, cut to what that has.

Of each library of the compiler's a copy is written that has names alone, each in its newest
version among those that the manylinux policy allows. What is linked with the copies asks for no
other version. A few functions that have none are in a static library beside them.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
# Since glibc 2.34 these are in libc; before, in libraries of their own.
MOVED = {
    "libdl.so.2": r"dl(open|close|sym|vsym|error|addr1?|info|mopen)",
    "librt.so.1": r"(aio|lio|mq|timer)_\w+|shm_(open|unlink)",
    "libpthread.so.0": r"_?_?(pthread|sem)_\w+|(call_once|cnd|mtx|thrd|tss)\w*",
    "libutil.so.1": r"openpty|forkpty|login|login_tty|logout|logwtmp",
}
LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", *MOVED)
SECTIONS = {  # by the kind of a symbol: where it lies, and its type in assembly
    "STT_OBJECT": (".data", "object"),
    "STT_TLS": ('.section .tdata,"awT"', "tls_object"),
}
FUNCTION = (".text", "function")
# an object takes what it calls, and not all that the older system lacks
SECTIONED = ("-ffunction-sections", "-fdata-sections")

STANDARD = "-std=c++20"  # of setup.py


@dataclass(frozen=True)
class Symbol:
    """A name that a library exports, in one version, such as GLIBC_2.17."""

    name: str
    version: str
    kind: str = "STT_FUNC"


@dataclass(frozen=True)
class Compiler:
    """The compilers that a build uses, and where they find their libraries."""

    c: tuple[str, ...]
    cpp: tuple[str, ...]
    flags: tuple[str, ...] = field(default=("-O2", "-fPIC", "-fvisibility=hidden", *SECTIONED))

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Compiler:
        """Those that setup.py takes from the environment."""
        named = [shlex.split(variables.get(n, d)) for n, d in (("CC", "gcc"), ("CXX", "g++"))]
        return cls(*map(tuple, named))

    def file(self, name: str) -> Path:
        """Of the C++ compiler's libraries."""
        found = Path(output(*self.cpp, f"-print-file-name={name}").strip())
        if not found.is_absolute():
            raise SystemExit(f"{shlex.join(self.cpp)} does not find {name}")
        return found.resolve()


def output(*command: object) -> str:
    """What it prints; the end of the program when it fails."""
    line = [str(each) for each in command]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(line)}\n{done.stdout}{done.stderr}")
    return done.stdout


def allowed_by(platform: str) -> frozenset[str]:
    """The versions of symbols that auditwheel's policy of this name lets a wheel ask for."""
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.policy import WheelPolicies

    for policy in WheelPolicies(libc=Libc.GLIBC, arch=Architecture(processor_of(platform))):
        if platform in (policy.name, *policy.aliases):
            sets = policy.symbol_versions.items()
            return frozenset(f"{family}_{each}" for family, those in sets for each in those)
    raise SystemExit(f"auditwheel has no policy for {platform}")


def processor_of(platform: str) -> str:
    """manylinux_2_28_aarch64 -> aarch64."""
    return re.sub(r"^manylinux(\d+|_\d+_\d+)_", "", platform)


def exported(library: Path) -> Iterator[Symbol]:
    """All versions of all names; none of those that libraries keep among themselves."""
    from elftools.elf.elffile import ELFFile  # auditwheel requires it

    with library.open("rb") as file:
        elf = ELFFile(file)
        names, numbers = (elf.get_section_by_name(s) for s in (".dynsym", ".gnu.version"))
        definitions = elf.get_section_by_name(".gnu.version_d")
        versions = {v["vd_ndx"]: next(a).name for v, a in definitions.iter_versions()}
        for index, symbol in enumerate(names.iter_symbols()):
            number = numbers.get_symbol(index)["ndx"]
            if symbol["st_shndx"] in ("SHN_UNDEF", "SHN_ABS") or not isinstance(number, int):
                continue
            version = versions[number & 0x7FFF]  # the highest bit: not the default one
            if not version.endswith("_PRIVATE"):
                yield Symbol(symbol.name, version, symbol["st_info"]["type"])


def age(version: str) -> list[int]:
    """Orders the versions of a name: GLIBC_2.2.5 before GLIBC_2.17."""
    return [int(part) for part in re.findall(r"\d+", version)]


def cut(symbols: Iterable[Symbol], allowed: frozenset[str]) -> dict[str, Symbol]:
    """Name -> its newest version among those allowed."""
    kept = sorted((s for s in symbols if s.version in allowed), key=lambda s: age(s.version))
    return {symbol.name: symbol for symbol in kept}


def sorted_by_library(
    found: Mapping[str, Iterable[Symbol]], allowed: frozenset[str]
) -> dict[str, list[Symbol]]:
    """Library -> what it has on the older system, where libc has less."""
    kept: dict[str, dict[str, Symbol]] = {}
    for library, symbols in found.items():
        every = list(symbols)
        newer = {s.name for s in every if s.version not in allowed}
        for name, symbol in cut(every, allowed).items():
            home = home_of(name) if library == "libc.so.6" and name in newer else library
            kept.setdefault(home, {})[name] = symbol
    return {library: [names[n] for n in sorted(names)] for library, names in kept.items()}


def home_of(name: str) -> str:
    """The library in which a function was whose version in libc is new."""
    homes = (library for library, names in MOVED.items() if re.fullmatch(names, name))
    return next(homes, "libc.so.6")


def assembly(symbols: Iterable[Symbol]) -> str:
    """Names of the right kind, of nothing."""
    lines = []
    for each in symbols:
        section, kind = SECTIONS.get(each.kind, FUNCTION)
        lines += [section, f".globl {each.name}", f".type {each.name}, %{kind}", f"{each.name}:"]
        lines += [f".size {each.name}, 8", ".zero 8"]
    return "\n".join([*lines, '.section .note.GNU-stack,"",%progbits', ""])


def version_script(symbols: Iterable[Symbol]) -> str:
    names: dict[str, list[str]] = {}
    for each in symbols:
        names.setdefault(each.version, []).append(f"{each.name};")
    return "\n".join(f"{v} {{ {' '.join(names[v])} }};" for v in sorted(names, key=age)) + "\n"


def write(folder: Path, compiler: Compiler, allowed: frozenset[str]) -> list[str]:
    """The flags of the linker; none where this system is no newer than that."""
    found = {name: list(exported(compiler.file(name))) for name in LIBRARIES}
    if all(s.version in allowed for s in found["libc.so.6"] if s.version.startswith("GLIBC_")):
        return []
    folder.mkdir(parents=True, exist_ok=True)
    for library, symbols in sorted_by_library(found, allowed).items():
        write_library(folder, library, symbols, compiler)
    for name, command in (("missing.c", compiler.c), ("missing.cpp", (*compiler.cpp, STANDARD))):
        output(*command, *compiler.flags, "-c", HERE / name, "-o", folder / f"{name}.o")
        archive = folder / f"lib{name.replace('.', '_')}.a"
        archive.unlink(missing_ok=True)
        output(
            output(*compiler.c, "-print-prog-name=ar").strip(),
            "rcsD",
            archive,
            f"{folder / name}.o",
        )
    write_scripts(folder, compiler)
    return [f"-L{folder}"]


def write_library(folder: Path, name: str, symbols: list[Symbol], compiler: Compiler) -> None:
    source, script, to = (folder / f"{name}{suffix}" for suffix in (".s", ".map", ""))
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script={script}"]
    output(*compiler.c, *options, source, "-o", to)


def write_scripts(folder: Path, compiler: Compiler) -> None:
    """What the linker looks for: libm.so, and for C and C++ what goes with it."""
    for name in ("libm.so.6", *MOVED):
        link = folder / f"{name.partition('.so')[0]}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(name)
    # __tls_get_addr is there, in the version that it always had
    loader = re.search(r"AS_NEEDED \( *(\S+) *\)", compiler.file("libc.so").read_text())
    # first: libc has pthread_atfork and atexit as well, for old programs
    static = [folder / "libmissing_c.a", compiler.file("libc_nonshared.a")]
    last = f"AS_NEEDED ( {folder / 'libdl.so.2'} {loader[1] if loader else ''} )"
    c = " ".join(map(str, [*static, folder / "libc.so.6", last]))
    (folder / "libc.so").write_text(f"GROUP ( {c} )\n")
    cpp = f"{folder / 'libstdc++.so.6'} {folder / 'libmissing_cpp.a'}"
    (folder / "libstdc++.so").write_text(f"GROUP ( {cpp} )\n")
