"""The wheel: made by Python alone, always the same, with all that it promises."""

from __future__ import annotations

import subprocess
import sys
import tomllib
import zipfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
VERSION = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]["version"]
INFO = f"platform_quantum-{VERSION}.dist-info"
BUILD = "import build_backend, sys; print(build_backend.build_wheel(sys.argv[1]))"


def build(folder: Path) -> Path:
    folder.mkdir()
    command = [sys.executable, "-I", "-B", "-c", f"import sys; sys.path.insert(0, '.'); {BUILD}"]
    found = subprocess.run(
        [*command, str(folder)], check=True, capture_output=True, text=True, cwd=ROOT
    )
    return folder / found.stdout.strip()


def test_equal_sources_give_equal_bytes(tmp_path: Path) -> None:
    first, second = (build(tmp_path / name).read_bytes() for name in ("first", "second"))
    assert first == second


def test_it_has_types_a_licence_and_its_extras_and_needs_nothing(tmp_path: Path) -> None:
    wheel = build(tmp_path / "wheel")
    with zipfile.ZipFile(wheel) as archive:
        names = archive.namelist()
        metadata = archive.read(f"{INFO}/METADATA").decode()
        entries = archive.read(f"{INFO}/entry_points.txt").decode()
    assert "platform_quantum/py.typed" in names
    assert f"{INFO}/licenses/LICENSE" in names
    assert not any("test" in name for name in names)
    needed = [line for line in metadata.splitlines() if line.startswith("Requires-Dist")]
    assert needed
    assert all("extra ==" in line for line in needed)
    assert "platform.qubit = platform_quantum.pennylane:PlatformQubitDevice" in entries
    assert 'Requires-Dist: qiskit>=1.4.2,<3 ; extra == "qiskit"' in needed


def test_pip_installs_it_without_an_index_and_it_imports(tmp_path: Path) -> None:
    wheel = build(tmp_path / "wheel")
    target = tmp_path / "installed"
    options = ["--quiet", "--no-index", "--target", str(target)]
    install = [sys.executable, "-m", "pip", "install", *options, str(wheel)]
    subprocess.run(install, check=True, capture_output=True)
    code = f"import sys; sys.path.insert(0, {str(target)!r}); import platform_quantum as p"
    command = [sys.executable, "-I", "-S", "-c", f"{code}; print(p.PlatformQuantumProvider)"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True, cwd=tmp_path)
    assert "platform_quantum.provider" in shown.stdout
