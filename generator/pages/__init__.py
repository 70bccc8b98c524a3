# SPDX-License-Identifier: Apache-2.0
"""Reference pages of the low layer, in reStructuredText, from the same model as the modules.

The documentation build generates them; they are not stored.
"""

from __future__ import annotations

from pathlib import Path

from ..libraries import load_all
from ..model import Library
from .functions import functions_pages
from .text import GUIDE, title
from .themes import manual_of
from .types import enums_pages, types_pages

PARTS = {"types": types_pages, "enumerations": enums_pages}


def pages(headers: Path | None = None) -> dict[str, str]:
    """Map paths below the folder of reference pages to texts.

    `headers` is the folder of the CUDA headers, which define the themes of the functions.
    """
    libraries = load_all()
    texts = {"index.rst": index(libraries)}
    for name, library in libraries.items():
        written = {"functions": functions_pages(library, headers)}
        written |= {part: write(library) for part, write in PARTS.items()}
        parts = {
            part if number == 1 else f"{part}_{number}": text
            for part, pages_of_part in written.items()
            for number, text in enumerate(pages_of_part, 1)
        }
        texts |= {f"{name}/{part}.rst": text for part, text in parts.items()}
        texts[f"{name}/index.rst"] = module_page(library, list(parts))
    return texts


def index(libraries: dict[str, Library]) -> str:
    entries = "\n".join(f"   {name}/index" for name in libraries)
    return (
        f"{title('Reference of the low layer', '=')}\n{GUIDE}\n"
        "Every name of the modules of ``cuda.bindings``, from the same facts as the modules.\n"
        "NVIDIA's manuals have the details of each function: each module and theme has a link.\n\n"
        f".. toctree::\n   :maxdepth: 1\n\n{entries}\n"
    )


def module_page(library: Library, parts: list[str]) -> str:
    entries = "\n".join(f"   {part}" for part in parts)
    if library.raises:
        raised = library.decisions.exception
        convention = f"A function returns its outputs; it raises ``{raised}`` when it fails."
    else:
        code = (
            f"A function returns a tuple: a ``{library.decisions.result_enum}``, then the outputs,"
        )
        convention = f"{code}\nwhich are None on an error."
    manual = f"`NVIDIA's manual <{manual_of(library.module)}>`__ has the details."
    return (
        f"{title(f'{library.package}.{library.module}', '=')}\n"
        f"{GUIDE}\n{convention}\n\n{manual}\n\n.. toctree::\n   :maxdepth: 1\n\n{entries}\n"
    )
