# SPDX-License-Identifier: Apache-2.0
"""The recorded texts of structs equal the installed reference."""

import json
import os
import subprocess
from pathlib import Path

DATA = Path(__file__).parents[1] / "data"


def test_the_recorded_texts_of_structs_equal_the_reference(reference):
    environment = {k: v for k, v in os.environ.items() if k != "PYTHONPATH"}
    done = subprocess.run(
        [reference, str(DATA / "record_struct_texts.py")],
        env=environment,
        cwd=DATA,
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    recorded = json.loads((DATA / "struct_texts_13.5.json").read_text())
    assert json.loads(done.stdout) == recorded
