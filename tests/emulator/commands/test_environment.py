# SPDX-License-Identifier: Apache-2.0
"""The folder of links, and the environment of programs that load the emulator from it."""

import os
import sys
from types import SimpleNamespace

import pytest
from cuda.core.emulation import arguments, command, control, environment, library

LIBRARIES = {
    "libcuda.so.1": library.path,
    "libnvidia-ml.so.1": library.management_path,
    "libcudart.so.13": library.runtime_path,
    "libcudart.so.12": library.runtime_12_path,
    "libnccl.so.2": library.communication_path,
    "libcuda_preload.so": library.preload_path,
}
TEXTS = {
    "libcuda.so": "INPUT(-l:libcuda.so.1)\n",
    "libcudart.so": "INPUT(-l:libcudart.so.13)\n",
    "libcudart_static.a": "INPUT(-l:libcudart.so.13)\n",
    "libnccl.so": "INPUT(-l:libnccl.so.2)\n",
}


@pytest.fixture
def cache(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    return tmp_path


class TestFolder:
    def test_it_has_a_link_for_each_library_and_a_text_for_each_linker_name(self, cache):
        folder = environment.driver_folder()
        assert folder.parent == cache / "halfwarp"
        assert folder.name.startswith("emulated-driver-")
        assert len(folder.name) == len("emulated-driver-") + 12
        assert {path.name for path in folder.iterdir()} == {*LIBRARIES, *TEXTS}
        for name, find in LIBRARIES.items():
            assert (folder / name).resolve() == find().resolve()
        assert {name: (folder / name).read_text() for name in TEXTS} == TEXTS

    def test_right_entries_are_kept_and_wrong_ones_replaced(self, cache):
        def numbers():
            return {path.name: path.lstat().st_ino for path in folder.iterdir()}

        folder = environment.driver_folder()
        before = numbers()
        assert environment.driver_folder() == folder
        assert numbers() == before
        link, text, dangling = (folder / n for n in ("libcuda.so.1", "libcuda.so", "libnccl.so.2"))
        for wrong, target in ((link, library.runtime_path()), (dangling, cache / "nothing")):
            wrong.unlink()
            wrong.symlink_to(target)
        text.write_text("INPUT(-l:another)\n")
        environment.driver_folder()
        assert link.resolve() == library.path().resolve()
        assert dangling.resolve() == library.communication_path().resolve()
        assert text.read_text() == TEXTS["libcuda.so"]
        assert {path.name for path in folder.iterdir()} == {*LIBRARIES, *TEXTS}

    def test_the_default_is_below_the_home_directory(self, tmp_path, monkeypatch):
        monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
        monkeypatch.setenv("HOME", str(tmp_path))
        assert environment.driver_folder().parent == tmp_path / ".cache" / "halfwarp"


class TestVariables:
    PRELOADED = ("libcuda_preload.so", "libcudart.so.12", "libcudart.so.13", "libnccl.so.2")

    @pytest.fixture(autouse=True)
    def clean(self, monkeypatch):
        for name in ("LD_LIBRARY_PATH", "LD_PRELOAD"):
            monkeypatch.delenv(name, raising=False)

    def test_programs_find_the_libraries_and_the_options(self, cache):
        variables = environment.environment_of_programs({"devices": "3", "mode": "async"})
        folder = environment.driver_folder()
        assert variables["HALFWARP_BACKEND"] == "emulator"
        assert variables["HALFWARP_EMULATOR_DEVICES"] == "3"
        assert variables["HALFWARP_EMULATOR_MODE"] == "async"
        assert variables["LD_LIBRARY_PATH"] == str(folder)
        assert variables["LD_PRELOAD"].split(":") == [f"{folder}/{each}" for each in self.PRELOADED]
        assert variables["PATH"] == os.environ["PATH"]

    def test_existing_libraries_are_preloaded_first_and_searched_last(self, cache, monkeypatch):
        monkeypatch.setenv("LD_LIBRARY_PATH", "/other")
        monkeypatch.setenv("LD_PRELOAD", "libasan.so")
        variables = environment.environment_of_programs({})
        folder = environment.driver_folder()
        assert variables["LD_LIBRARY_PATH"] == f"{folder}:/other"
        assert variables["LD_PRELOAD"].split(":")[:2] == [
            "libasan.so",
            f"{folder}/libcuda_preload.so",
        ]

    @pytest.mark.parametrize("name", ["a blank", "a:colon", "a;semicolon"])
    def test_a_path_that_cannot_be_quoted_is_not_preloaded(self, tmp_path, monkeypatch, name):
        monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / name))
        variables = environment.environment_of_programs({})
        assert variables["LD_PRELOAD"] == ":".join(self.PRELOADED)


class TestArguments:
    @pytest.mark.parametrize(
        ("words", "options", "remaining"),
        [
            ("", {}, ""),
            ("script.py --seed 3", {}, "script.py --seed 3"),
            ("--seed 3 script.py", {"seed": "3"}, "script.py"),
            ("--seed=3 --step-limit=9 x", {"seed": "3", "step_limit": "9"}, "x"),
            ("--cov x", {"cov": ""}, "x"),
            ("--cov --seed 3 x", {"cov": "", "seed": "3"}, "x"),
            ("--seed", {"seed": ""}, ""),
            ("--seed= x", {"seed": ""}, "x"),
        ],
    )
    def test_options_precede_the_program(self, words, options, remaining):
        assert arguments.read_options(words.split(), ("cov",)) == (options, remaining.split())

    @pytest.mark.parametrize(
        ("words", "result"),
        [
            ("--seed 3 exec x", "exec --seed 3 x"),
            ("--seed=3 run x y", "run --seed=3 x y"),
            ("exec --seed 3 x", "exec --seed 3 x"),
            ("--seed 3 profile x", "--seed 3 profile x"),
            ("--seed 3", "--seed 3"),
        ],
    )
    def test_options_may_precede_run_and_exec(self, words, result):
        assert command.options_after_command(words.split()) == result.split()

    @pytest.mark.parametrize(
        ("program", "name"),
        [
            ("/usr/bin/halfwarp", "halfwarp emulate"),
            ("/site/halfwarp/__main__.py", "halfwarp emulate"),
            ("/site/cuda/core/emulation/__main__.py", "python -m cuda.core.emulation"),
        ],
    )
    def test_the_usage_names_the_command_as_it_was_typed(self, monkeypatch, program, name):
        monkeypatch.setattr(sys, "argv", [program])
        assert arguments.program_name() == name
        assert arguments.usage().startswith(f"usage: {name}  ")
        assert arguments.usage().count(name) == 10

    @pytest.mark.parametrize(
        ("error", "status"), [(FileNotFoundError(2, "none"), 127), (OSError(13, "none"), 126)]
    )
    def test_a_program_that_does_not_start_is_named(self, capsys, error, status):
        assert arguments.explain_start("program", error) == status
        assert capsys.readouterr().err.endswith(": program: none\n")


class TestReports:
    @pytest.mark.parametrize(
        ("leaks", "faults", "is_running", "result"),
        [(0, 0, True, False), (0, 1, True, True), (1, 0, True, True), (1, 1, False, False)],
    )
    def test_a_leak_or_a_fault_is_a_report(
        self, monkeypatch, capsys, leaks, faults, is_running, result
    ):
        leak = SimpleNamespace(kind="memory", id=0xAB, bytes=64, created_at="a.py:3")
        monkeypatch.setattr(library, "is_running", lambda: is_running)
        monkeypatch.setattr(control, "settle", lambda: None)
        monkeypatch.setattr(control, "leaks", lambda: [leak] * leaks)
        monkeypatch.setattr(control, "stats", lambda: {"faults": faults})
        assert command.was_anything_reported() is result
        text = "emulator: leak: memory 0xab, 64 bytes, created at a.py:3\n"
        assert capsys.readouterr().err == (text if leaks and is_running else "")

    @pytest.mark.parametrize(
        ("address", "offset", "first"),
        [(0, 0, 0), (5, 3, 8), (2**63 - 1, 0, 2**63 - 1), (2**62, 2**62 - 1, 2**63 - 1)],
    )
    def test_a_range_starts_at_an_address(self, address, offset, first):
        assert control._range(address, offset, 4) == (first, 4)

    @pytest.mark.parametrize(
        ("values", "error", "text"),
        [
            ((-1, 0, 4), ValueError, "-1 is no address"),
            ((2**63 - 1, 1, 4), ValueError, "is no address"),
            ((0, -1, 4), ValueError, r"offset must be from 0 to 2\*\*63 - 1, got -1"),
            ((0, 0, 2**63), ValueError, r"size must be from 0"),
            ((0, 0.5, 4), TypeError, "offset must be an int, a number of bytes, got 0.5"),
            ((True, 0, 4), TypeError, "the address of device memory as an int, got bool: True"),
        ],
    )
    def test_a_wrong_range_is_refused(self, values, error, text):
        with pytest.raises(error, match=text):
            control._range(*values)


class TestCommands:
    @pytest.mark.parametrize(
        ("words", "status", "is_help"),
        [("-h", 0, True), ("--help", 0, True), ("unknown", 2, False), ("run", 2, False)],
    )
    def test_the_usage_is_printed(self, capsys, words, status, is_help):
        assert command.main([words]) == status
        printed = capsys.readouterr()
        assert (printed.out, printed.err) == (
            (arguments.usage() + "\n", "") if is_help else ("", arguments.usage() + "\n")
        )

    def test_a_script_without_read_permission_is_named(self, tmp_path, monkeypatch):
        script = tmp_path / "script.py"
        script.write_text("")
        assert command.problem_of(str(script)) is None
        monkeypatch.setattr(os, "access", lambda path, mode: mode != os.R_OK)
        assert command.problem_of(str(script)) == f"no permission to read {str(script)!r}"

    def test_the_path_is_printed(self, cache, capsys):
        assert command.main(["path"]) == 0
        assert capsys.readouterr().out == f"{environment.driver_folder()}\n"

    @pytest.mark.parametrize(
        ("values", "text"),
        [
            ((True, False), "1 0"),
            (({"race", "init"}, ["b", "a"]), "init,race a,b"),
            ((7, (2, 1)), "7 1,2"),
        ],
    )
    def test_values_of_options_are_texts(self, values, text):
        assert " ".join(map(library.option_text, values)) == text
