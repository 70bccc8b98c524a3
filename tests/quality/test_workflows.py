# SPDX-License-Identifier: Apache-2.0
"""`python -m tests.workflows` can run each workflow here, and runs one like GitHub."""

import subprocess
import sys

import pytest

pytest.importorskip("yaml", reason="PyYAML is not installed (extra `dev`)")

from ..workflows.machine import Machine, stand_in
from ..workflows.plan import NotUnderstood, jobs_of

CONTEXT = {"github.ref": "refs/tags/v1.0", "github.ref_name": "v1.0", "github.run_number": "7"}
TOY = """
on: push
env: {COLOR: red, SHAPE: round}
jobs:
  last:
    needs: [first]
    runs-on: ubuntu-24.04
    steps:
      - run: echo "$COLOR $SHAPE $SIZE" >> "$GITHUB_WORKSPACE/../../said"
        env: {SIZE: "${{ github.run_number }}"}
  first:
    strategy: {matrix: {python: ["3.11", "3.12"], kind: [a]}}
    runs-on: ubuntu-24.04
    env: {COLOR: blue}
    steps:
      - run: |
          echo "COLOR=${{ matrix.python }}" >> "$GITHUB_ENV"
          echo "$PWD/programs" >> "$GITHUB_PATH"
          mkdir -p programs results && echo '#!/bin/sh' > programs/mine && chmod +x programs/mine
          false | true
      - run: mine && echo "$COLOR $GITHUB_REF_NAME" > results/one
      - uses: actions/upload-artifact@v4
        with: {name: "of-${{ matrix.python }}", path: results/*}
"""


def write(folder, text):
    path = folder / ".github" / "workflows" / "toy.yml"
    path.parent.mkdir(parents=True)
    path.write_text(text)
    return path


def machine_in(folder, name="0", **instead):
    return Machine(folder, folder / "jobs" / name, folder / "artifacts", {}, instead)


@pytest.mark.parametrize(
    "name", ["codeql.yml", "docs.yml", "nightly.yml", "release.yml", "test.yml", "wheels.yml"]
)
def test_each_workflow_can_be_run_here(root, name):
    """Each construct is supported, each action has a stand-in, and the shells can parse the
    scripts."""
    jobs = list(jobs_of(root / ".github" / "workflows" / name, CONTEXT))
    assert jobs and all(job.steps for job in jobs)
    for step in (step for job in jobs for step in job.steps):
        if step.action:
            assert stand_in(step.action)
        else:
            read = [step.shell[0], "-n"]
            done = subprocess.run(read, input=step.script, text=True, capture_output=True)
            assert (done.returncode, done.stderr) == (0, ""), step.title


def test_no_expression_is_in_a_script(root):
    """The shell would execute its value; variables of a step are not."""
    for path in (root / ".github" / "workflows").glob("*.yml"):
        plain, marked = jobs_of(path, CONTEXT), jobs_of(path, dict.fromkeys(CONTEXT, "marked"))
        scripts = [[[s.script for s in job.steps] for job in jobs] for jobs in (plain, marked)]
        assert scripts[0] == scripts[1]


def test_jobs_run_after_their_dependencies_for_each_value(tmp_path):
    jobs = list(jobs_of(write(tmp_path, TOY), CONTEXT))
    assert [(job.title, job.choice.get("python")) for job in jobs] == [
        ("toy.yml: first", "3.11"),
        ("toy.yml: first", "3.12"),
        ("toy.yml: last", None),
    ]


def test_steps_pass_on_variables_and_files(tmp_path):
    first, _, last = jobs_of(write(tmp_path, TOY), CONTEXT)
    machine_in(tmp_path).run(first, CONTEXT, {})
    assert (tmp_path / "artifacts" / "of-3.11" / "one").read_text() == "blue v1.0\n"
    machine_in(tmp_path, "1").run(last, CONTEXT, {"SHAPE": "square"})
    assert (tmp_path / "jobs" / "said").read_text() == "red square 7\n"


def test_a_failing_step_ends_the_job(tmp_path):
    text = "on: push\njobs: {one: {steps: [{run: 'exit 3'}, {run: touch ../reached}]}}"
    (job,) = jobs_of(write(tmp_path, text), CONTEXT)
    with pytest.raises(subprocess.CalledProcessError, match="exit status 3"):
        machine_in(tmp_path).run(job, CONTEXT, {})
    assert not (tmp_path / "jobs" / "0" / "reached").exists()


def test_text_of_a_script_can_be_replaced(tmp_path):
    text = "on: push\njobs: {one: {steps: [{run: unknown ../reached && unknown ../as-well}]}}"
    (job,) = jobs_of(write(tmp_path, text), CONTEXT)
    machine_in(tmp_path, unknown="touch").run(job, CONTEXT, {})
    assert all((tmp_path / "jobs" / "0" / name).exists() for name in ("reached", "as-well"))


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("steps: [{run: 'echo ${{ secrets.TOKEN }}'}]", "the expression secrets.TOKEN"),
        ("steps: [{run: ls, if: always()}]", "ls: if"),
        ("services: {}", "toy.yml: one: services"),
        ("{needs: [one], steps: []}", "jobs need each other"),
        ("steps: [{run: ls, shell: pwsh}]", "the shell pwsh"),
    ],
)
def test_an_unsupported_construct_is_refused(tmp_path, text, message):
    path = write(tmp_path, f"on: push\njobs: {{one: {text if text[0] == '{' else f'{{{text}}}'}}}")
    with pytest.raises(NotUnderstood) as raised:
        list(jobs_of(path, CONTEXT))
    assert str(raised.value) == message


def test_only_these_actions_have_a_stand_in():
    with pytest.raises(NotUnderstood, match="the action someone/something"):
        stand_in("someone/something@v1")


def test_the_command_selects_one_value_of_a_matrix(root):
    command = [sys.executable, "-m", "tests.workflows", "test.yml", "--matrix", "python=2.7"]
    done = subprocess.run(command, cwd=root, capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (1, "no job has these values\n")
