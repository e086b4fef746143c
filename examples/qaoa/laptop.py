"""The same from a laptop, with the login of the command line tool.

python3 laptop.py input/data.json [BACKEND]
"""

import json
import sys

from src.maxcut import Settings, solve

from platform_quantum import PlatformQuantumProvider


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        edges = json.load(file)["edges"]
    name = sys.argv[2] if len(sys.argv) > 2 else "sim.statevector"
    backend = PlatformQuantumProvider().get_backend(name)
    found = solve(backend, edges, Settings(), lambda number, score: print(number, f"{score:.3f}"))
    print(json.dumps(found))


if __name__ == "__main__":
    main()
