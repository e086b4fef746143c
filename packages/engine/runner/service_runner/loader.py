"""Imports the user's `src.program` and finds `run`."""

from __future__ import annotations

import os
import sys

from .binder import Binder
from .failure import Failure, describe_exception, format_traceback
from .isolation import release_reserve

STARTUP_ERROR = "STARTUP_ERROR"


def load_program(project: str, memory: int) -> Binder:
    """Imports the module, with the project as working directory and first on the path.

    Raises Failure with the code STARTUP_ERROR, or OUT_OF_MEMORY when it takes more than `memory`,
    in bytes.
    """
    os.chdir(project)
    if sys.path[:1] != [project]:
        sys.path.insert(0, project)
    if not os.path.isfile(os.path.join(project, "src", "program.py")):
        raise Failure(STARTUP_ERROR, "The project has no file src/program.py.")
    try:
        __import__("src.program")  # importlib.import_module would add a frame to each traceback
        module = sys.modules["src.program"]
    except MemoryError as error:
        release_reserve()
        limit = f"the memory limit of the version, {memory / (1 << 30):g} GB"
        remedy = "Raise resources.memory in platform.json."
        detail = f"The import of src/program.py exceeded {limit}. {remedy}"
        raise Failure("OUT_OF_MEMORY", detail, format_traceback(error)) from None
    except BaseException as error:  # sys.exit at import is an import that failed
        detail = f"src/program.py cannot be imported: {describe_exception(error)}"
        raise Failure(STARTUP_ERROR, detail, format_traceback(error)) from None
    try:
        run = module.run
    except AttributeError:
        raise Failure(STARTUP_ERROR, "src/program.py has no function named run.") from None
    if not callable(run):
        kind = type(run).__name__
        detail = f"run in src/program.py is not callable, it is of type {kind}."
        raise Failure(STARTUP_ERROR, detail)
    try:
        return Binder(run)
    except Failure:
        raise
    except Exception as error:
        detail = f"The signature of run cannot be read: {describe_exception(error)}"
        raise Failure(STARTUP_ERROR, detail, format_traceback(error)) from None
