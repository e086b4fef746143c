"""A device for PennyLane: `qml.device("platform.qubit", wires=2, backend="sim.statevector")`."""

from __future__ import annotations

from typing import Any

from .needs import need

need("pennylane", "pennylane")
need("pennylane_qiskit", "pennylane")

from pennylane_qiskit import RemoteDevice  # noqa: E402 (says first how to install it)

from .errors import InvalidProblemError  # noqa: E402
from .job_options import SETTABLE_OPTIONS, refuse_dry_run  # noqa: E402
from .provider import PlatformQuantumProvider  # noqa: E402
from .qiskit.backend import PlatformBackend  # noqa: E402

_DEFAULT = "sim.statevector"


class PlatformQubitDevice(RemoteDevice):  # type: ignore[misc, unused-ignore]
    """PennyLane's device for backends of Qiskit, on a backend of the platform.

    `seed`, `tags`, `name`, `session`, `max_cost`, `cache`, and the options of the backend are those
    of all of its jobs. What else it takes is that of `qiskit.remote`: shots, options of the
    transpiler.
    """

    name = "platform.qubit"
    short_name = "platform.qubit"

    def __init__(
        self,
        wires: Any,
        backend: str | PlatformBackend = _DEFAULT,
        provider: PlatformQuantumProvider | None = None,
        **options: Any,
    ) -> None:
        if isinstance(backend, str):
            backend = (provider or PlatformQuantumProvider()).get_backend(backend)
        if not isinstance(backend, PlatformBackend):
            raise InvalidProblemError(
                f"backend must be the id of a backend, or one of the platform, not {backend!r}."
            )
        refuse_dry_run(options)
        names = {*SETTABLE_OPTIONS, *(backend.info.configuration.get("operations") or ())}
        own = {name: options.pop(name) for name in names & set(options)}
        chosen = backend.with_options(**own) if own else backend
        super().__init__(wires=wires, backend=chosen, **options)
