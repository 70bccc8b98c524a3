# SPDX-License-Identifier: Apache-2.0
"""Hints for misspelt options."""

import difflib

from cuda.core.arguments.shown import shown

# Spellings of other libraries and of CUDA: our option.
SYNONYMS = {
    "blocks": "grid",
    "block_dim": "block",
    "cooperative": "is_cooperative",
    "dynamic_shared_memory": "shmem_size",
    "enable_timing": "timing_enabled",
    "griddim": "grid",
    "grid_dim": "grid",
    "include_paths": "include_path",
    "interprocess": "ipc_enabled",
    "lto": "link_time_optimization",
    "macros": "define_macro",
    "opt_level": "device_code_optimize",
    "rdc": "relocatable_device_code",
    "shared_mem": "shmem_size",
    "shared_memory": "shmem_size",
    "sharedmem": "shmem_size",
    "smem": "shmem_size",
    "standard": "std",
    "threads": "block",
}


def similar_name(name, names):
    """Return the hint at the most similar name; "" if no name is similar. Host only."""
    name, names = name if isinstance(name, str) else shown(name), list(names)
    matches = [SYNONYMS.get(name.lower()), *difflib.get_close_matches(name, names, n=1)]
    for match in matches:
        if match in names:
            return f"; did you mean {match!r}?"
    return ""


def names_hint(name, names):
    """Return the next step for an unknown option: the similar name, or all names. Host only."""
    return similar_name(name, names) or f"; the options are {', '.join(names)}"


def unknown_option(cls, options):
    """Return the text for a dict with an option that a dataclass lacks; "" if it lacks none."""
    fields = getattr(cls, "__dataclass_fields__", None)
    unknown = [name for name in options if fields is not None and name not in fields]
    if not unknown:
        return ""
    text = f"{cls.__name__}.__init__() got an unexpected keyword argument {unknown[0]!r}"
    return text + names_hint(str(unknown[0]), fields)
