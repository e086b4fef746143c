"""The page does what it says."""

from __future__ import annotations

import ast
import importlib
import re
from pathlib import Path
from typing import Any

import pytest

from .support.needs import need_packages

need_packages("qiskit", "qiskit_qasm3_import")

from platform_quantum import MissingDependencyError  # noqa: E402
from platform_quantum.models import JobInfo  # noqa: E402
from platform_quantum.qiskit.result import build_result  # noqa: E402

from .support.descriptions import describe_job  # noqa: E402
from .support.wire import make_data, make_ghz, run_over_wire  # noqa: E402

README = Path(__file__).parents[1] / "README.md"


SNIPPETS: list[str] = re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)


def read_snippet(word: str) -> str:
    (found,) = [snippet for snippet in SNIPPETS if word in snippet]
    return found


def test_the_backend_of_twenty_lines_runs() -> None:
    text = read_snippet("gate_backend")
    assert len([line for line in text.splitlines() if line]) <= 20
    program: dict[str, Any] = {}
    exec(text, program)
    raw = run_over_wire(program["run"], make_data(make_ghz(3)), shots=100, seed=1)
    counts = build_result(raw, JobInfo.from_dict(describe_job("COMPLETED"))).get_counts()
    assert set(counts) == {"000", "111"}
    assert program["describe"]()["configuration"]["qubit_count"] == 10


@pytest.mark.parametrize("text", SNIPPETS)
def test_what_the_snippets_import_is_there(text: str) -> None:
    imports = [node for node in ast.walk(ast.parse(text)) if isinstance(node, ast.ImportFrom)]
    for node in imports:
        if node.module is None or not node.module.startswith("platform_quantum"):
            continue
        try:
            module = importlib.import_module(node.module)
        except MissingDependencyError as error:
            pytest.skip(str(error))
        missing = [alias.name for alias in node.names if not hasattr(module, alias.name)]
        assert missing == []


def test_all_subjects_have_a_snippet() -> None:
    modules = {
        line.split()[1] for text in SNIPPETS for line in text.splitlines() if "from pl" in line
    }
    names = ("", ".annealing", ".backend", ".braket")
    assert modules == {f"platform_quantum{name}" for name in names}
