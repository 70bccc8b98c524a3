# SPDX-License-Identifier: Apache-2.0
"""Libraries to link with for an older system, reduced to what that system has.

For each library of the compiler, writes a stub library without code. It exports each name in the
newest version that the manylinux policy allows, so that binaries linked with the stubs require no
newer version. A static library beside them defines a few functions that the older system lacks.
"""

from __future__ import annotations

import re
import shlex
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

HERE = Path(__file__).parent
# Since glibc 2.34 these functions are in libc; before, they were in separate libraries.
MOVED = {
    "libdl.so.2": r"dl(open|close|sym|vsym|error|addr1?|info|mopen)",
    "librt.so.1": r"(aio|lio|mq|timer)_\w+|shm_(open|unlink)",
    "libpthread.so.0": r"_?_?(pthread|sem)_\w+|(call_once|cnd|mtx|thrd|tss)\w*",
    "libutil.so.1": r"openpty|forkpty|login|login_tty|logout|logwtmp",
}
LIBRARIES = ("libc.so.6", "libm.so.6", "libstdc++.so.6", *MOVED)
SECTIONS = {  # symbol kind -> section and type in assembly
    "STT_OBJECT": (".data", "object"),
    "STT_TLS": ('.section .tdata,"awT"', "tls_object"),
}
FUNCTION = (".text", "function")
# lets the linker keep only called functions, and not all that the older system lacks
SECTIONED = ("-ffunction-sections", "-fdata-sections")

STANDARD = "-std=c++20"  # as in setup.py


@dataclass(frozen=True)
class Symbol:
    """A name that a library exports, in one version, such as GLIBC_2.17."""

    name: str
    version: str
    kind: str = "STT_FUNC"


@dataclass(frozen=True)
class Compiler:
    """The compilers of a build, which also locate their libraries."""

    c: tuple[str, ...]
    cpp: tuple[str, ...]
    flags: tuple[str, ...] = field(default=("-O2", "-fPIC", "-fvisibility=hidden", *SECTIONED))

    @classmethod
    def of(cls, variables: Mapping[str, str]) -> Compiler:
        """Return the compilers that setup.py reads from the environment."""
        named = [shlex.split(variables.get(n, d)) for n, d in (("CC", "gcc"), ("CXX", "g++"))]
        return cls(*map(tuple, named))

    def file(self, name: str) -> Path:
        """Return the path of a library of the C++ compiler."""
        file = Path(output(*self.cpp, f"-print-file-name={name}").strip())
        if not file.is_absolute():
            raise SystemExit(f"{shlex.join(self.cpp)} does not find {name}")
        return file.resolve()


def output(*command: object) -> str:
    """Return the stdout of a command; exit if it fails."""
    line = [str(each) for each in command]
    done = subprocess.run(line, capture_output=True, text=True)
    if done.returncode:
        raise SystemExit(f"{shlex.join(line)}\n{done.stdout}{done.stderr}")
    return done.stdout


def allowed_by(platform: str) -> frozenset[str]:
    """Return the symbol versions that auditwheel's policy allows a wheel to require."""
    from auditwheel.architecture import Architecture
    from auditwheel.libc import Libc
    from auditwheel.policy import WheelPolicies

    for policy in WheelPolicies(libc=Libc.GLIBC, arch=Architecture(processor_of(platform))):
        if platform in (policy.name, *policy.aliases):
            sets = policy.symbol_versions.items()
            return frozenset(f"{family}_{each}" for family, versions in sets for each in versions)
    raise SystemExit(f"auditwheel has no policy for {platform}")


def processor_of(platform: str) -> str:
    """Convert manylinux_2_28_aarch64 to aarch64."""
    return re.sub(r"^manylinux(\d+|_\d+_\d+)_", "", platform)


def exported(library: Path) -> Iterator[Symbol]:
    """Yield all versions of all names, without names that are private to glibc's libraries."""
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
            version = versions[number & 0x7FFF]  # the highest bit marks a non-default version
            if not version.endswith("_PRIVATE"):
                yield Symbol(symbol.name, version, symbol["st_info"]["type"])


def age(version: str) -> list[int]:
    """Return a sort key for versions: GLIBC_2.2.5 before GLIBC_2.17."""
    return [int(part) for part in re.findall(r"\d+", version)]


def cut(symbols: Iterable[Symbol], allowed: frozenset[str]) -> dict[str, Symbol]:
    """Map each name to its newest allowed version."""
    symbols_by_age = sorted(
        (s for s in symbols if s.version in allowed), key=lambda s: age(s.version)
    )
    return {symbol.name: symbol for symbol in symbols_by_age}


def sorted_by_library(
    symbols_by_library: Mapping[str, Iterable[Symbol]], allowed: frozenset[str]
) -> dict[str, list[Symbol]]:
    """Map each library to its symbols on the older system, whose libc has fewer."""
    result: dict[str, dict[str, Symbol]] = {}
    for library, symbols in symbols_by_library.items():
        every = list(symbols)
        newer = {s.name for s in every if s.version not in allowed}
        for name, symbol in cut(every, allowed).items():
            home = home_of(name) if library == "libc.so.6" and name in newer else library
            result.setdefault(home, {})[name] = symbol
    return {library: [names[n] for n in sorted(names)] for library, names in result.items()}


def home_of(name: str) -> str:
    """Return the library that had a function before it moved to libc."""
    homes = (library for library, names in MOVED.items() if re.fullmatch(names, name))
    return next(homes, "libc.so.6")


def assembly(symbols: Iterable[Symbol]) -> str:
    """Return assembly that defines symbols of the right kind without content."""
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
    """Write the stubs and return linker flags; none if this system is not newer."""
    exported_symbols = {name: list(exported(compiler.file(name))) for name in LIBRARIES}
    if all(
        s.version in allowed
        for s in exported_symbols["libc.so.6"]
        if s.version.startswith("GLIBC_")
    ):
        return []
    folder.mkdir(parents=True, exist_ok=True)
    for library, symbols in sorted_by_library(exported_symbols, allowed).items():
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
    source, script, target = (folder / f"{name}{suffix}" for suffix in (".s", ".map", ""))
    source.write_text(assembly(symbols))
    script.write_text(version_script(symbols))
    options = ["-shared", "-nostdlib", f"-Wl,-soname,{name}", f"-Wl,--version-script={script}"]
    output(*compiler.c, *options, source, "-o", target)


def write_scripts(folder: Path, compiler: Compiler) -> None:
    """Write the linker scripts libm.so, libc.so and libstdc++.so."""
    for name in ("libm.so.6", *MOVED):
        link = folder / f"{name.partition('.so')[0]}.so"
        link.unlink(missing_ok=True)
        link.symlink_to(name)
    # __tls_get_addr is in the loader, in the version that it always had
    loader = re.search(r"AS_NEEDED \( *(\S+) *\)", compiler.file("libc.so").read_text())
    # first, because libc also has pthread_atfork and atexit, for old programs
    static = [folder / "libmissing_c.a", compiler.file("libc_nonshared.a")]
    last = f"AS_NEEDED ( {folder / 'libdl.so.2'} {loader[1] if loader else ''} )"
    c = " ".join(map(str, [*static, folder / "libc.so.6", last]))
    (folder / "libc.so").write_text(f"GROUP ( {c} )\n")
    cpp = f"{folder / 'libstdc++.so.6'} {folder / 'libmissing_cpp.a'}"
    (folder / "libstdc++.so").write_text(f"GROUP ( {cpp} )\n")
