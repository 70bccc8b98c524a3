# SPDX-License-Identifier: Apache-2.0
"""Writes `<library>.pxd`: the classes for cimport, with the layouts in `cpp/bindings/objects`."""

from __future__ import annotations

from ...model import Handle, Library, Struct

# Fields between the object header and the C struct: `struct_object` in class_type.hpp.
BOOKKEEPING = ("_owner", "_kept", "_children", "_child_of_owner")


def emit(libraries: dict[str, Library]) -> dict[str, str]:
    """Text of each generated file, by path below the root."""
    return {
        f"{lib.folder}/{name}.pxd": declarations(lib)
        for name, lib in libraries.items()
        if not lib.raises
    }


def declarations(library: Library) -> str:
    module = f"cy{library.name}"
    classes = [handle_class(h, module) for h in library.handles]
    classes += [struct_class(s, module) for s in library.structs if is_declared(s)]
    return "\n\n\n".join([head(library, module), *classes]) + "\n"


def head(library: Library, module: str) -> str:
    return (
        f"# {library.origin}\n"
        f'"""Classes of {library.package}.{library.name} for cimport.\n\n'
        '`_pvt_ptr` points to the C value: `_pvt_val` unless the object is a view.\n"""\n\n'
        f"from {library.package} cimport {module}" + "".join(base_imports(library))
    )


def base_imports(library: Library) -> list[str]:
    """Lines that cimport the base classes of handles from other libraries."""
    bases = sorted(h.base.split(".") for h in library.handles if h.base)
    return [
        f"\nfrom {other.package}.{name} cimport {', '.join(b for o, b in bases if o == name)}"
        for name, other in library.uses.items()
    ]


def handle_class(handle: Handle, module: str) -> str:
    if handle.base:
        return cdef_class(handle.name, handle.base.rpartition(".")[2], [])
    return cdef_class(
        handle.name,
        None,
        [f"{module}.{handle.name} _pvt_val", f"{module}.{handle.name}* _pvt_ptr"],
    )


def struct_class(struct: Struct, module: str) -> str:
    if struct.base:
        return cdef_class(struct.name, struct.base, [])
    c_type = f"{module}.{struct.c_name}"
    members = [f"{c_type}* _pvt_ptr", *(f"void* {name}" for name in BOOKKEEPING)]
    if struct.alignment:  # contains the aligned C struct
        members.append(f"unsigned char _pvt_storage[{struct.size + struct.alignment}]")
    else:
        members.append(f"{c_type} _pvt_val")
    return cdef_class(struct.name, None, members)


def is_declared(struct: Struct) -> bool:
    """Whether the .pxd declares a struct. Anonymous types have views only, and unstable numbers."""
    return not struct.view_only or struct.c_type.isidentifier()


def cdef_class(name: str, base: str | None, members: list[str]) -> str:
    body = [f"    cdef {m}" for m in members] or ["    pass"]
    return "\n".join([f"cdef class {name}{f'({base})' if base else ''}:", *body])
