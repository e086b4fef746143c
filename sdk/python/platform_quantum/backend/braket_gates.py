"""Names of Qiskit, and what Braket calls the same gates."""

from __future__ import annotations

TO_BRAKET = {
    **{name: name for name in ("h", "x", "y", "z", "s", "t", "rx", "ry", "rz")},
    **{name: name for name in ("cy", "cz", "swap", "iswap", "ecr", "cswap")},
    "sdg": "si",
    "tdg": "ti",
    "sx": "v",
    "sxdg": "vi",
    "id": "i",
    "p": "phaseshift",
    "r": "prx",
    "u": "U",
    "cx": "cnot",
    "cp": "cphaseshift",
    "csx": "cv",
    "ccx": "ccnot",
    "rxx": "xx",
    "ryy": "yy",
    "rzz": "zz",
}
