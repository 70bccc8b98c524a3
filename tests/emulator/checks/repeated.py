# SPDX-License-Identifier: Apache-2.0
"""Run one planted kernel several times, and print the text of all reports of each run."""

import importlib
import json
import sys

from cuda.core import Device

from .cases import codes_of, findings_of


def main():
    planted = importlib.import_module(f"tests.emulator.checks.planted.{sys.argv[1]}")
    device = Device(0)
    device.set_current()
    stream = device.create_stream()
    codes = codes_of(planted, {name: planted.CASES[name] for name in sys.argv[2:]})
    texts = [
        "".join(findings_of(device, stream, planted.CASES[name], codes[name, "mistake"]))
        for name in sys.argv[2:]
    ]
    print(json.dumps({"texts": texts}))


if __name__ == "__main__":
    main()
