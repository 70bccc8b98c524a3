# SPDX-License-Identifier: Apache-2.0
"""Record the results of NVML on this machine, for tests on machines without it.

``python tests/bindings/exceptions/record_nvml.py tests/data/nvml_recorded.json`` calls every
function that only reads. For each it stores the Python result and the bytes that each C call
wrote. `replay_nvml.py` builds a C library from them.
"""

import ctypes
import json
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[3]
sys.path[:0] = [str(ROOT), str(Path(__file__).parent)]

from c_layout import Layout  # noqa: E402

from generator import libraries  # noqa: E402
from tests.bindings.function_tables import slots  # noqa: E402

READS = re.compile(r"(\w+_)?get_\w+|device_on_same_board|device_is_mig_device_handle|error_string")
LEAVES_OUT = re.compile(
    r"\w*(event|wait|metadata_string|cper)\w*|device_get_handle_by_\w+"
    r"|\w*(serial|uuid|pdi|hostname)\w*"  # properties that identify a machine
)
# Arguments by name; unlisted arguments are 0. `device` and similar ones are queried first.
VALUES = {"node_set_size": 4, "cpu_set_size": 4, "level": 30, "nonce": bytes(32), "result": 3}
VALUES |= {"values": [15, 16], "memory_clock_m_hz": 2619}
ANSWERED = (0, 7)  # success; insufficient size, with the size that is needed


def text_of(value):
    """Convert a result to text for the comparison; handles are addresses, which differ."""
    if isinstance(value, tuple):
        return [text_of(v) for v in value]
    if hasattr(value, "asdict"):
        return [bytes(value).hex(), type(value).__name__]
    return value.tolist() if hasattr(value, "tolist") else value


class Recorder:
    """Fills the slots of the functions, calls the library, and records its writes."""

    def __init__(self, nvml):
        self.nvml, self.library = nvml, libraries.load("nvml")
        self.layout, self.answers, self.refs = Layout(self.library), [], []
        self.functions = {f.python_name: f for f in self.library.functions}

    def install(self):
        from cuda.bindings import _low

        for function in self.library.functions:
            # the slot of a missing function would call itself
            exists = _low.inspect_function_pointer("nvml", function.name)
            if exists and not function.ret.endswith("*"):
                self.wrap(function, slots("nvml")[function.name])

    def wrap(self, function, slot):
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_uint64] * len(function.params))
        real = kind(slot.value)

        def call(*words):
            code = real(*words)
            writes = self.writes(function, words) if code in ANSWERED else {}
            self.answers.append({"c": function.c_name, "code": code, "writes": writes})
            return code

        self.refs += [real, kind(call)]
        slot.value = ctypes.cast(self.refs[-1], ctypes.c_void_p).value

    def writes(self, function, words):
        return {
            str(i): packed(ctypes.string_at(word, size))
            for i, (p, word) in enumerate(zip(function.params, words, strict=True))
            if "*" in p.c_type and word and (size := self.size(function, p, words))
        }

    def size(self, function, param, words):
        """Return the number of bytes behind a pointer: one element, or the count beside it."""
        if param.c_type.startswith("const "):
            return 0
        element = self.layout.size(param.c_type.removesuffix("*").strip())
        if param.words.startswith("out:str"):
            return int(re.search(r"\d+", param.words)[0])
        names = [p.c_name for p in function.params]
        aux = param.aux or f"{param.c_name}Count"  # arrays of the caller
        if aux not in names or param.words.startswith("out:data"):
            return element
        position = names.index(aux)
        n = words[position]
        if "*" in function.params[position].c_type:
            n = ctypes.c_uint.from_address(n).value
        return n if function.params[position].words.startswith("const:") else n * element

    def record(self, name, arguments):
        self.answers = answers = []
        entry = {"function": name, "arguments": [stored(a) for a in arguments]}
        try:
            entry["result"] = text_of(getattr(self.nvml, name)(*arguments))
        except self.nvml.NvmlError as error:
            entry["error"] = int(error.status)
        except RuntimeError as error:  # the library is older than the function
            entry["missing"] = type(error).__name__
        self.answers = []  # for calls that are not recorded
        return entry | {"answers": answers}


def packed(data):
    """Return the length and the bytes without trailing zeros: most buffers are never filled."""
    return [len(data), data.rstrip(b"\0").hex()]


def stored(argument):
    return argument.hex() if isinstance(argument, bytes) else argument


def arguments_of(function, handles):
    """Return harmless arguments for every parameter; None if a required handle is missing."""
    arguments = []
    for name in (p.partition("=")[0] for p in function.py):
        value = handles.get(name, VALUES.get(name, 0))
        if value is None:
            return None
        arguments.append(value)
    return arguments


def dumps(data):
    """Write one line for each call, so that a new recording has a readable diff."""
    head = {k: v for k, v in data.items() if k != "calls"}
    calls = ",\n".join(json.dumps(call) for call in data["calls"])
    return f'{json.dumps(head)[:-1]}, "calls": [\n{calls}\n]}}\n'


def main(path):
    from cuda.bindings import nvml

    nvml.init_v2()
    device = nvml.device_get_handle_by_index_v2(0)
    handles = {"device": device, "device1": device, "device2": device}
    handles |= dict.fromkeys(
        ["unit", "gpu_instance", "compute_instance", "mig_device", "set", "event_set", "counters"]
    )
    handles |= dict.fromkeys(["in_data", "serial", "uuid", "pci_bus_id", "vgpu_metadata"])
    recorder = Recorder(nvml)
    recorder.install()
    calls = []
    for name, function in recorder.functions.items():
        if READS.fullmatch(name) and not LEAVES_OUT.fullmatch(name):
            arguments = arguments_of(function, handles)
            if arguments is not None:
                calls.append(recorder.record(name, arguments))
    data = {"machine": nvml.device_get_name(device), "calls": calls}
    data["driver"] = nvml.system_get_driver_version()
    Path(path).write_text(dumps(data))
    print(f"{len(calls)} calls on {data['machine']}, driver {data['driver']}")


if __name__ == "__main__":
    main(*sys.argv[1:])
