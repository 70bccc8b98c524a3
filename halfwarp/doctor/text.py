# SPDX-License-Identifier: Apache-2.0
"""Formats the doctor's record as a page of text, and as a summary."""

GIGABYTE = 1 << 30


def page(report):
    """Format the whole record."""
    facts = report["facts"]
    sections = {
        "Python": python_lines(facts["python"]),
        "Packages": package_lines(facts["packages"]),
        "Files": file_lines(facts["files"]),
        "Driver": driver_lines(facts["driver"]),
        "Libraries": library_lines(facts["libraries"]),
        "Backend": backend_lines(facts["backend"]),
        "Environment": variable_lines(facts["environment"]),
        "Warnings": finding_lines(report["warnings"]),
        "Problems": finding_lines(report["problems"]),
    }
    return "\n\n".join(
        "\n".join([title, *(f"  {line}" for line in lines or ["none"])])
        for title, lines in sections.items()
    )


def brief(report):
    """Format versions, backend, devices and the first problem."""
    facts = report["facts"]
    python = facts["python"].get("version", "unknown")
    lines = [f"{versions(facts['packages'])}, Python {python}", *backend_lines(facts["backend"])]
    problems = report["problems"]
    if problems:
        remaining = f"; {len(problems) - 1} more" if len(problems) > 1 else ""
        lines += [f"problem: {problems[0]['what']}", f"remedy: {problems[0]['remedy']}"]
        lines.append(f"`halfwarp doctor` shows all findings{remaining}")
    return "\n".join(lines)


def versions(packages):
    names = ("halfwarp", "cuda.bindings", "cuda.core")
    return ", ".join(f"{name} {packages.get(name, 'unknown')}" for name in names)


def python_lines(python):
    if not python:
        return ["unknown"]
    threads = ", free-threaded" if python["is_free_threaded"] else ""
    return [
        f"{python['version']} ({python['implementation']}{threads}), {python['executable']}",
        python["platform"],
    ]


def package_lines(packages):
    if "location" not in packages:
        return ["unknown"]
    lines = [versions(packages), f"{packages['installed_as']} in {packages['location']}"]
    return lines + [f"{name} {version}" for name, version in packages["related"].items()]


def file_lines(files):
    if "recorded" not in files:
        return ["unknown"]
    if not files["recorded"]:
        return ["no record of what was installed: not compared"]
    return [
        f"{files['recorded']} recorded, {len(files['changed'])} changed, "
        f"{len(files['missing'])} missing, {len(files['not_ours'])} not ours"
    ]


def driver_lines(driver):
    if not driver.get("is_found"):
        return ["not found", *searched(driver)]
    lines = [f"CUDA {driver['version']}, {driver['library'] or 'library unknown'}"]
    if driver["kernel_module"]:
        lines.append(f"kernel module {driver['kernel_module']}")
    if driver["missing_functions"]:
        lines.append(f"lacks {len(driver['missing_functions'])} of {driver['functions']} functions")
    return lines


def library_lines(libraries):
    lines, missing = [], []
    for name, library in libraries.items():
        if "is_found" not in library:
            lines.append(f"{name:9} could not be examined")
        elif library.get("is_found"):
            package = library["package_version"]
            origin = f"{library['package']} {package}" if package else library["found_by"]
            lines.append(f"{name:9} {library.get('version', '?'):8} {library['path']} ({origin})")
        else:
            lines.append(f"{name:9} not found")
            missing.append(library)
    return lines + searched(*missing)


def searched(*facts):
    """Return a line for each folder that was searched for a missing library, without repeats."""
    folders = [folder for each in facts for folder in each.get("searched", [])]
    return [f"looked in {folder}" for folder in dict.fromkeys(folders)]


def backend_lines(backend):
    if not backend:
        return ["backend: unknown"]
    setting = f" (HALFWARP_BACKEND={backend['setting']})" if backend.get("is_set", True) else ""
    lines = [f"backend: {backend['backend'] or 'none'}{setting}"]
    for device in backend.get("devices", ()):
        lines.append(
            f"device {device['ordinal']}: {device['name']}, compute capability "
            f"{device['compute_capability']}, {device['memory'] / GIGABYTE:.1f} GiB"
        )
    return lines


def variable_lines(environment):
    return [f"{each['name']}={each['value']}" for each in environment.get("variables", [])]


def finding_lines(findings):
    lines = []
    for number, finding in enumerate(findings, 1):
        lines += [f"{number}. {finding['what']}", f"   remedy: {finding['remedy']}"]
    return lines
