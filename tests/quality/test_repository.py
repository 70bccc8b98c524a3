# SPDX-License-Identifier: Apache-2.0
"""The files around the code are correct: workflows, hooks, recipe, policies, their links."""

import ast
import importlib.util
import itertools
import re
import shlex
import sys
import tomllib

import pytest

from .test_lint import CHECKS, SPELLING

yaml = pytest.importorskip("yaml", reason="PyYAML is not installed (extra `dev`)")

PAGES = ("README.md", "CHANGELOG.md", "CODE_OF_CONDUCT.md", "CONTRIBUTING.md", "SECURITY.md")
# Modules for `python -m` from outside the tree, with the packages that provide them.
INSTALLED = {"pip", "playwright", "pytest", "sphinx"}


@pytest.fixture(scope="session")
def project(root):
    return tomllib.loads((root / "pyproject.toml").read_text())


@pytest.fixture(scope="session")
def workflows(root):
    paths = (root / ".github" / "workflows").glob("*.yml")
    return {path.name: yaml.safe_load(path.read_text()) for path in sorted(paths)}


@pytest.fixture(scope="session")
def recipe(root):
    return yaml.safe_load((root / "recipe" / "recipe.yaml").read_text())


@pytest.fixture(scope="session")
def support(root):
    return (root / "docs" / "guide" / "support.rst").read_text()


def assigned(path, name):
    """Return the literal that a module assigns to a name."""
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.Assign) and node.targets[0].id == name:
            return ast.literal_eval(node.value)
    raise LookupError(f"{path}: no {name}")


def versions_of_python(project):
    pattern = r"Programming Language :: Python :: (3\.\d+)"
    return [m[1] for c in project["project"]["classifiers"] if (m := re.fullmatch(pattern, c))]


def jobs_of(workflows):
    for name, workflow in workflows.items():
        for job in workflow["jobs"].values():
            yield name, job


def commands_of(workflows):
    """Return (workflow, words) of each simple command."""
    for name, job in jobs_of(workflows):
        for step in job.get("steps", []):
            for line in step.get("run", "").splitlines():
                yield from ((name, words) for words in simple_commands(line))


def simple_commands(line):
    """Return the words of each simple command of a line."""
    lexer = shlex.shlex(line, posix=True, punctuation_chars=";&|")
    lexer.whitespace_split = True
    for is_between, words in itertools.groupby(lexer, lambda word: set(word) <= set(";&|")):
        if not is_between:
            yield list(words)


def test_there_are_workflows(workflows):
    names = {"codeql", "docs", "nightly", "release", "test", "wheels"}
    assert {f"{name}.yml" for name in names} == set(workflows)


def test_workflows_have_limits_and_few_rights(workflows):
    for name, workflow in workflows.items():
        assert workflow["permissions"] == {"contents": "read"}, name
        assert True in workflow, f"{name}: no `on`, which YAML 1.1 reads as true"
    jobs = [(name, job) for name, job in jobs_of(workflows) if "steps" in job]
    assert [name for name, job in jobs if "timeout-minutes" not in job] == []


def test_actions_are_pinned_by_commit(root):
    """A tag can move; the comment names it."""
    texts = [path.read_text() for path in (root / ".github" / "workflows").glob("*.yml")]
    uses = [line for text in texts for line in re.findall(r"uses: (?!\./)(.*)", text)]
    pinned = re.compile(r"[\w/-]+@[0-9a-f]{40} # v\d+(\.\d+)+")
    assert len(uses) > 10 and [each for each in uses if not pinned.fullmatch(each)] == []


def test_one_commit_of_each_action_is_used(root):
    texts = [path.read_text() for path in (root / ".github" / "workflows").glob("*.yml")]
    pins = {pin for text in texts for pin in re.findall(r"uses: ([\w-]+/[\w-]+)\S*@(\S+)", text)}
    assert len({action for action, _ in pins}) == len(pins)


def test_dependabot_proposes_updates_of_actions_and_packages(root):
    config = yaml.safe_load((root / ".github" / "dependabot.yml").read_text())
    proposed = {each["package-ecosystem"] for each in config["updates"]}
    assert proposed == {"github-actions", "pip"}


def test_commands_of_workflows_exist(root, workflows):
    wrong = []
    for name, words in commands_of(workflows):
        if "-m" in words:
            module = words[words.index("-m") + 1]
            package = module.split(".")[0]
            is_ours = (root / package).is_dir() and importlib.util.find_spec(module)
            if package not in INSTALLED | sys.stdlib_module_names and not is_ours:
                wrong.append(f"{name}: {module}")
        paths = [w for w in words[:1] if w.startswith(".")] + [w for w in words if "tests/" in w]
        wrong += [f"{name}: {path}" for path in paths if not (root / path).exists()]
    assert wrong == []


def test_extras_of_workflows_exist(project, workflows):
    lines = [" ".join(words) for _, words in commands_of(workflows)]
    extras = [
        e for line in lines for m in re.findall(r"\.\[([\w,]+)\]", line) for e in m.split(",")
    ]
    assert extras and set(extras) <= set(project["project"]["optional-dependencies"])


def test_groups_of_workflows_exist(project, workflows):
    named = [w[w.index("--group") + 1] for _, w in commands_of(workflows) if "--group" in w]
    assert named and set(named) <= set(project["dependency-groups"])


def test_wheels_are_built_for_each_supported_python(project, workflows):
    pythons = workflows["wheels.yml"]["jobs"]["wheels"]["env"]["PYTHONS"].split()
    stated = [f"cp{version.replace('.', '')}" for version in versions_of_python(project)]
    assert pythons == [*(f"{each}-{each}" for each in stated), "cp314-cp314t"]


def test_only_the_publishing_jobs_may_request_a_token(workflows):
    asking = {n: j["permissions"] for n, j in jobs_of(workflows) if "permissions" in j}
    assert asking == {
        "codeql.yml": {"contents": "read", "security-events": "write"},
        "nightly.yml": {"contents": "read", "pages": "write", "id-token": "write"},
        "release.yml": {"id-token": "write", "attestations": "write"},
    }
    publish = workflows["release.yml"]["jobs"]["publish"]
    assert publish["environment"] == "pypi"
    *_, attest, upload = publish["steps"]
    assert attest["uses"].startswith("actions/attest-build-provenance@")
    assert upload["uses"].startswith("pypa/gh-action-pypi-publish@")
    assert upload["with"]["attestations"] is True
    assert "secrets" not in str(workflows["release.yml"])  # a trusted publisher needs none


def test_the_tests_run_on_each_supported_python(project, workflows):
    matrix = workflows["test.yml"]["jobs"]["test"]["strategy"]["matrix"]
    assert matrix["python"] == versions_of_python(project)


def test_the_hooks_run_the_same_tools_as_the_tests(root, project):
    config = yaml.safe_load((root / ".pre-commit-config.yaml").read_text())
    (hooks,) = (each["hooks"] for each in config["repos"])
    entries = {hook["id"]: tuple(hook["entry"].split()) for hook in hooks}
    on_messages = {hook["id"] for hook in hooks if hook.get("stages") == ["commit-msg"]}
    assert on_messages == {"commit-message", "commit-spelling"}
    assert entries["commit-spelling"] == SPELLING
    assert {name: entry for name, entry in entries.items() if name not in on_messages} == CHECKS
    needed = {name for hook in hooks for name in hook.get("additional_dependencies", ())}
    assert needed <= set(project["project"]["optional-dependencies"]["dev"])


def test_the_recipe_has_this_version(root, project, recipe):
    assert recipe["context"]["version"] == assigned(root / "halfwarp/__init__.py", "__version__")
    host = dict(each.rsplit(" ", 1) for each in recipe["requirements"]["host"] if " " in each)
    run = dict(each.split(" ", 1) for each in recipe["requirements"]["run"])
    assert host["python"] == run.pop("python") == project["project"]["requires-python"]
    assert [f"{name}{bound}" for name, bound in run.items()] == project["project"]["dependencies"]
    requirements = project["build-system"]["requires"]
    assert {f"setuptools{host['setuptools']}", f"Cython{host['cython']}"} <= set(requirements)
    of_cuda = {bound for name, bound in host.items() if name.startswith("cuda-")}
    assert of_cuda == {f"{assigned(root / 'setup.py', 'CUDA')}.*"}
    for name in recipe["about"]["license_file"]:
        assert (root / name).is_file()


def test_the_recipe_has_the_console_scripts(project, recipe):
    scripts = [
        f"{name} = {entry_point}" for name, entry_point in project["project"]["scripts"].items()
    ]
    assert recipe["build"]["python"]["entry_points"] == scripts


def test_the_support_page_states_the_versions(root, project, support):
    table = dict(re.findall(r"\* - ``([\w.]+)``.*\n +- (.+)", support))
    version = assigned(root / "halfwarp/__init__.py", "__version__")
    levels = {
        f"cuda.{name}.__version__": assigned(root / f"cuda/{name}/__init__.py", "__version__")
        for name in ("bindings", "core")
    }
    implementation = {"cuda.core.__implementation__": f"halfwarp {version}"}
    assert table == {"halfwarp.__version__": version, **levels, **implementation}


def test_the_support_page_states_the_platforms(root, project, support):
    oldest = re.search(r"oldest_driver = (\d+)", (root / "cpp/driver/loader/fill.hpp").read_text())
    major, minor = divmod(int(oldest[1]), 1000)
    assert f"CUDA driver\n     - {major}.{minor // 10} and newer" in support
    assert f"CPython {project['project']['requires-python'].strip('>=')} and newer" in support
    assert ", ".join(versions_of_python(project)) in support
    assert f"header packages of CUDA {assigned(root / 'setup.py', 'CUDA')}" in support


@pytest.mark.parametrize("page", PAGES)
def test_links_between_the_pages_are_valid(root, page):
    text = (root / page).read_text()
    links = re.findall(r"\]\((?!https?:)([^)#]+)", text) + re.findall(r"`(docs/[\w/.]+)`", text)
    assert [link for link in links if not (root / link).exists()] == []


def test_the_changelog_begins_with_this_version(root):
    first = re.search(r"^## (\S+)", (root / "CHANGELOG.md").read_text(), re.M)[1]
    assert first == assigned(root / "halfwarp/__init__.py", "__version__")


def test_issue_forms_are_complete(root):
    forms = sorted((root / ".github" / "ISSUE_TEMPLATE").glob("*.yml"))
    forms = [yaml.safe_load(path.read_text()) for path in forms if path.name != "config.yml"]
    assert len(forms) >= 3
    for form in forms:
        assert {"name", "description", "body"} <= set(form)
        names = [each["id"] for each in form["body"]]
        assert len(set(names)) == len(names)
        assert {each["type"] for each in form["body"]} <= {"textarea", "input", "dropdown"}
        assert all(each["attributes"]["label"] for each in form["body"])


def test_the_names_of_options_are_not_booleans(root):
    """YAML 1.1 reads yes, no, on and off as booleans."""
    forms = (root / ".github" / "ISSUE_TEMPLATE").glob("*.yml")
    bodies = [yaml.safe_load(path.read_text()).get("body", []) for path in forms]
    options = [o for body in bodies for each in body for o in each["attributes"].get("options", [])]
    assert options and all(isinstance(option, str) for option in options)


def test_the_promises_about_doctor_are_true():
    """SECURITY.md lists the variables that the report shows."""
    from halfwarp.doctor.probes.environment import SHOWN

    assert SHOWN.match("CUDA_HOME") and SHOWN.match("LD_LIBRARY_PATH")
    assert not SHOWN.match("AWS_SECRET_ACCESS_KEY") and not SHOWN.match("HOME")
