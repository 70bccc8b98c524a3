# SPDX-License-Identifier: Apache-2.0
"""Contents of a workflow of ``.github/workflows``: its jobs in order, one for each matrix value."""

import itertools
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml

EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")
# Supported keys of a job and of a step; any other key ends the plan.
OF_JOB = {"name", "needs", "strategy", "runs-on", "container", "timeout-minutes", "env", "steps"}
OF_JOB |= {"uses", "environment", "permissions", "with"}
OF_STEP = {"name", "uses", "with", "run", "env", "shell"}


class NotUnderstood(Exception):
    """A part of a workflow that cannot be run here like on GitHub."""


@dataclass(frozen=True)
class Step:
    """A script, or an action with its inputs."""

    title: str
    script: str = ""
    action: str = ""
    inputs: Mapping[str, str] = field(default_factory=dict)
    variables: Mapping[str, str] = field(default_factory=dict)
    shell: tuple[str, ...] = ()


@dataclass(frozen=True)
class Job:
    """A job with one choice of its matrix."""

    title: str
    choice: Mapping[str, str]
    steps: tuple[Step, ...]
    is_in_container: bool = False


def jobs_of(path: Path, context: Mapping[str, str]) -> Iterator[Job]:
    """Return each job after its dependencies. `context` has the values of `github.ref` and
    similar ones."""
    workflow = yaml.safe_load(path.read_text())
    context = {**defaults_of(workflow), **context}
    for name in in_order(workflow["jobs"]):
        job = workflow["jobs"][name]
        check_supported(job, OF_JOB, f"{path.name}: {name}")
        if called := job.get("uses"):
            passed = {f"inputs.{name}": value for name, value in job.get("with", {}).items()}
            yield from jobs_of(path.parents[2] / called, {**context, **passed})
            continue
        for choice in choices(job.get("strategy", {}).get("matrix", {})):
            values = {**context, **{f"matrix.{key}": value for key, value in choice.items()}}
            variables = workflow.get("env", {}) | job.get("env", {})
            steps = tuple(step_of(each, job, variables, values) for each in job["steps"])
            yield Job(f"{path.name}: {name}", choice, steps, "container" in job)


def defaults_of(workflow: Mapping) -> dict[str, str]:
    """Return the inputs that a workflow has if nothing calls it with others."""
    triggers = workflow[True]  # `on`, which YAML 1.1 reads as true
    called = triggers.get("workflow_call") if isinstance(triggers, dict) else None
    inputs = (called or {}).get("inputs", {})
    return {f"inputs.{name}": each.get("default", "") for name, each in inputs.items()}


def in_order(jobs: Mapping[str, Mapping]) -> list[str]:
    """Return the names, each after its dependencies."""
    ordered: list[str] = []
    while len(ordered) < len(jobs):
        ready = [n for n in jobs if n not in ordered and needed(jobs[n]) <= set(ordered)]
        if not ready:
            raise NotUnderstood("jobs need each other")
        ordered += ready
    return ordered


def needed(job: Mapping) -> set[str]:
    needs = job.get("needs", [])
    return {needs} if isinstance(needs, str) else set(needs)


def choices(matrix: Mapping[str, list]) -> list[dict[str, str]]:
    """Return all combinations of a matrix of lists; without lists, the entries of `include`."""
    lists = {key: values for key, values in matrix.items() if key != "include"}
    if lists and "include" in matrix:
        raise NotUnderstood("a matrix of lists with more to include")
    if not lists and "include" in matrix:
        return [{key: str(value) for key, value in each.items()} for each in matrix["include"]]
    combined = itertools.product(*lists.values())
    return [dict(zip(lists, map(str, values), strict=True)) for values in combined]


def step_of(step: Mapping, job: Mapping, variables: Mapping, values: Mapping[str, str]) -> Step:
    script, action = step.get("run", ""), step.get("uses", "")
    title = step.get("name") or action or script.splitlines()[0]
    check_supported(step, OF_STEP, title)
    every = {
        key: filled(value, values) for key, value in {**variables, **step.get("env", {})}.items()
    }
    inputs = {key: filled(value, values) for key, value in step.get("with", {}).items()}
    shell = shell_of(step.get("shell"), "container" in job)
    return Step(title, filled(script, values), action, inputs, every, shell)


def shell_of(name: str | None, is_in_container: bool) -> tuple[str, ...]:
    """Return GitHub's command lines: only a requested shell notices failures in a pipe."""
    if name is None:
        return ("sh", "-e") if is_in_container else ("bash", "-e")
    if name == "bash":
        return ("bash", "--noprofile", "--norc", "-eo", "pipefail")
    raise NotUnderstood(f"the shell {name}")


def filled(value: object, values: Mapping[str, str]) -> str:
    """Replace expressions by their values."""
    if isinstance(value, bool):
        return str(value).lower()

    def found(match: re.Match) -> str:
        if match[1] not in values:
            raise NotUnderstood(f"the expression {match[1]}")
        return values[match[1]]

    return EXPRESSION.sub(found, str(value))


def check_supported(part: Mapping, keys: set[str], place: str) -> None:
    if unknown := part.keys() - keys:
        raise NotUnderstood(f"{place}: {', '.join(sorted(unknown))}")
