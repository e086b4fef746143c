"""What it costs to import the package, and what it needs."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

PACKAGE = Path(__file__).parents[1]


def run(code: str, *options: str) -> str:
    # Isolated and without site-packages: nothing but Python is installed.
    program = f"import sys; sys.path.insert(0, {str(PACKAGE)!r})\n{code}"
    command = [sys.executable, "-I", "-S", *options, "-c", program]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def test_importing_it_imports_nothing_else() -> None:
    # What it costs is what it imports: no time is measured, which a busy machine would decide.
    code = (
        "before = set(sys.modules); import platform_quantum\n"
        "print(sorted(set(sys.modules) - before - {'__future__'}))"
    )
    assert run(code).strip() == "['platform_quantum']"


def test_the_core_works_with_nothing_but_python_installed() -> None:
    code = (
        "from platform_quantum import *\n"
        "import platform_quantum as p\n"
        "provider = p.PlatformQuantumProvider('t', 'o', 'http://localhost:1')\n"
        "print(provider, [n for n in ('numpy', 'qiskit', 'dimod') if n in sys.modules])\n"
        "try: provider._to_backend(None)\n"
        "except ImportError as error: print(type(error).__name__, error)\n"
    ).replace("from platform_quantum import *\n", "")
    provider, refusal = run(code).splitlines()
    assert provider == "PlatformQuantumProvider('http://localhost:1') []"
    assert refusal.startswith("MissingDependencyError The package qiskit is not installed")
    assert refusal.endswith("pip install 'platform-quantum[qiskit]'")


def test_every_public_name_can_be_imported_and_no_other() -> None:
    code = (
        "import platform_quantum as p\n"
        "circuits = ('PlatformBackend', 'PlatformJob', 'SamplerV2', 'EstimatorV2')\n"
        "print([n for n in p.__all__ if n not in circuits and getattr(p, n).__name__ != n])\n"
        "print(hasattr(p, 'nothing'), set(p.__all__) <= set(dir(p)))"
    )
    assert run(code).splitlines() == ["[]", "False True"]
