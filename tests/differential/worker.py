# SPDX-License-Identifier: Apache-2.0
"""Evaluates the cases of themes in one implementation; run by file name, by either interpreter.

`python worker.py OUT THEME.py...` writes to OUT the outcome of each case, by theme and case.
"""

import gc
import importlib.util
import json
import linecache
import re
import sys
import warnings
from pathlib import Path

from describing import describe

sys.path.append(str(Path(__file__).parents[1]))
import machine_settings


def main(out, *themes):
    if not all(Path(theme).parent.name == "settings" for theme in themes):
        keep_settings()
    outcomes = {Path(theme).stem: run_theme(Path(theme)) for theme in themes}
    gc.collect()
    Path(out).write_text(json.dumps(outcomes))


def keep_settings():
    """Prevent themes on a GPU from changing settings that outlive the process."""

    def refuse(name):
        sys.exit(f"a theme calls nvml.{name}: its place is the folder of themes named settings")

    try:
        from cuda.bindings import nvml
    except ImportError:
        return
    machine_settings.replace_setters(nvml, refuse)


def run_theme(path):
    spec = importlib.util.spec_from_file_location(path.stem, path)
    theme = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(theme)
    outcomes = {}
    for case in theme.CASES:
        title = title_of(case)
        if title in outcomes:
            raise ValueError(f"{path}: {title} is there twice")
        outcomes[title] = outcome_of(case)
    return outcomes


def title_of(case):
    """Return the text of a lambda's body on one line, or the name of a function."""
    if case.__name__ != "<lambda>":
        return case.__name__
    code = case.__code__
    spans = [span for span in code.co_positions() if None not in span and span[2:] != (0, 0)]
    first, column = min((line, start) for line, _, start, _ in spans)
    last, end = max((line, end) for _, line, _, end in spans)
    lines = [linecache.getline(code.co_filename, number) for number in range(first, last + 1)]
    lines[-1] = lines[-1].encode()[:end].decode()
    lines[0] = lines[0].encode()[column:].decode()
    text = " ".join(line.strip() for line in lines)
    return re.sub(r"(?<=[(\[]) | (?=[)\]])", "", text).replace(",)", ")")


def outcome_of(case):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            result, bases = describe(case()), []
        except Exception as error:
            result = f"raises {type(error).__name__}"
            bases = [f"raises {base.__name__}" for base in type(error).__mro__]
    kinds = sorted({f"{each.category.__name__}" for each in caught})
    return {"result": result, "bases": bases, "warnings": kinds}


if __name__ == "__main__":
    main(*sys.argv[1:])
