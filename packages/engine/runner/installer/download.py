"""Downloads what requirements name, with the pip of the interpreter that runs it.

    python -I download.py TARGET wheels|sources PIP-ARGUMENT...

It executes no code of any package. pip runs setup code in processes of its own, so none may be
started here: `pip download` with `--only-binary :all:` alone still builds what a wheel's metadata
or a line names by address.

With `sources`, also source distributions are downloaded. What they depend on is read from the
metadata that lies in them, where pip would run their setup code, and the packages that they need
to be built are downloaded as wheels. TARGET then holds:

    packages/     what is to be installed: wheels and source distributions
    build/        wheels that building the source distributions may need
    folders.json  folders named by requirements, which are built in place
"""

from __future__ import annotations

import email.parser
import json
import os
import re
import sys
import tomllib

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

STARTS = frozenset(
    {
        "os.exec",
        "os.fork",
        "os.forkpty",
        "os.posix_spawn",
        "os.spawn",
        "os.system",
        "pty.spawn",
        "subprocess.Popen",
    }
)
REFUSAL = "a package would run code of its own here"

# PEP 517: what a source distribution without a [build-system] is built with.
DEFAULT_REQUIRES = ("setuptools>=40.8.0", "wheel")


def refuse_processes(allowed: frozenset[str]) -> None:
    """Makes every start of a process an error, except of the programs in `allowed`; for good."""

    def judge(event: str, args: tuple[Any, ...]) -> None:
        if event not in STARTS:
            return
        program = args[0] if event == "subprocess.Popen" and args else ""
        if isinstance(program, str) and program in allowed:
            return
        # What pip starts to describe the system to an index, it does without.
        raise PermissionError(f"{REFUSAL}: {event} {program!r}")

    sys.addaudithook(judge)


def read_toml(path: str) -> dict[str, Any]:
    """The tables of a TOML file; empty for one that is missing or damaged."""
    try:
        with open(path, "rb") as file:
            return tomllib.load(file)
    except (OSError, ValueError, RecursionError):
        return {}


def read_table(document: dict[str, Any], name: str) -> dict[str, Any]:
    """One table of a document; empty if it is none."""
    table = document.get(name)
    return table if isinstance(table, dict) else {}


def list_strings(value: object) -> list[str]:
    """The strings of a list; none if it is no list."""
    return [item for item in value if isinstance(item, str)] if isinstance(value, list) else []


def write_metadata(source: str, target: str) -> str:
    """The folder of a source's static metadata, made in `target` unless the source has one."""
    for folder in (source, os.path.join(source, "src")):
        for name in sorted(os.listdir(folder)) if os.path.isdir(folder) else []:
            if name.endswith(".egg-info") and os.path.isfile(
                os.path.join(folder, name, "PKG-INFO")
            ):
                return os.path.join(folder, name)
    try:
        with open(os.path.join(source, "PKG-INFO"), encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        text = describe_project(source)
    info = os.path.join(target, name_metadata(text))
    os.makedirs(info)
    with open(os.path.join(info, "METADATA"), "w", encoding="utf-8") as file:
        file.write(text)
    return info


def name_metadata(text: str) -> str:
    """The name of a folder of metadata, of which pip takes name and version."""
    headers = email.parser.HeaderParser().parsestr(text)
    words = [re.sub(r"[^A-Za-z0-9.!+]+", "_", str(headers[key])) for key in ("Name", "Version")]
    return f"{'-'.join(words)}.dist-info"


def describe_project(source: str) -> str:
    """Metadata of a folder without any, from its pyproject.toml."""
    project = read_table(read_toml(os.path.join(source, "pyproject.toml")), "project")
    fallback = (
        re.sub(r"[^A-Za-z0-9]+", "-", os.path.basename(source.rstrip("/"))).strip("-") or "project"
    )
    name = project.get("name")
    version = project.get("version")
    lines = [
        "Metadata-Version: 2.1",
        f"Name: {name if isinstance(name, str) else fallback}",
        f"Version: {version if isinstance(version, str) else '0'}",
    ]
    lines += [f"Requires-Dist: {item}" for item in list_strings(project.get("dependencies"))]
    for extra, items in read_table(project, "optional-dependencies").items():
        lines.append(f"Provides-Extra: {extra}")
        for item in list_strings(items):
            named, _, marker = item.partition(";")
            condition = f"({marker.strip()}) and " if marker.strip() else ""
            lines.append(f'Requires-Dist: {named.strip()} ; {condition}extra == "{extra}"')
    return "".join(f"{' '.join(line.split())}\n" for line in lines)


def read_build_requires(source: str) -> list[str]:
    """What a source names to be built with, but for addresses: only an index is asked."""
    from pip._vendor.packaging.requirements import InvalidRequirement, Requirement

    system = read_table(read_toml(os.path.join(source, "pyproject.toml")), "build-system")
    named = list_strings(system["requires"]) if "requires" in system else list(DEFAULT_REQUIRES)
    requires = []
    for text in named:
        try:
            requirement = Requirement(text)
        except InvalidRequirement:
            continue
        if requirement.url is None:
            requires.append(str(requirement))
    return requires


class Sources:
    """The sources that pip came across."""

    def __init__(self) -> None:
        self.folders: list[str] = []
        self.requires: list[list[str]] = []

    def read_statically(self) -> None:
        """Makes pip read a source's static metadata where it would run its setup code."""
        import tempfile

        from pip._internal.distributions.sdist import SourceDistribution

        def prepare(distribution: Any, *_args: Any, **_options: Any) -> None:
            req = distribution.req
            source = req.unpacked_source_directory
            req.metadata_directory = write_metadata(source, tempfile.mkdtemp())
            if req.name is None:
                req._set_requirement()
            if req.link is not None and req.link.is_existing_dir():
                self.folders.append(source)
            self.requires.append(read_build_requires(source))

        if not hasattr(SourceDistribution, "prepare_distribution_metadata"):
            raise SystemExit(
                "ERROR: this version of pip cannot download sources without running them"
            )
        SourceDistribution.prepare_distribution_metadata = prepare  # type: ignore[method-assign, assignment]


def download(target: str, arguments: list[str]) -> int:
    """Runs `pip download` in this process; returns its exit code."""
    from pip._internal.cli.main import main as run_pip

    return int(run_pip(["download", "--dest", target, *arguments]))


COMMON = ("--no-input", "--disable-pip-version-check", "--no-color", "--progress-bar", "off")
ONLY_WHEELS = ("--only-binary", ":all:")


def main(target: str, kind: str, arguments: list[str]) -> int:
    """Downloads; returns pip's exit code."""
    packages = os.path.join(target, "packages")
    if kind == "wheels":
        refuse_processes(frozenset())
        return download(packages, [*COMMON, *ONLY_WHEELS, *arguments])
    refuse_processes(frozenset({"git"}))
    sources = Sources()
    sources.read_statically()
    code = download(packages, [*COMMON, *arguments])
    for requires in sources.requires if code == 0 else []:
        if requires and code == 0:
            code = download(os.path.join(target, "build"), [*COMMON, *ONLY_WHEELS, *requires])
    with open(os.path.join(target, "folders.json"), "w", encoding="utf-8") as file:
        json.dump(sources.folders, file)
    return code


if __name__ == "__main__":
    sys.exit(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
