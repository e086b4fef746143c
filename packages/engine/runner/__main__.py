"""Entry of the Python half: `python -I <this folder>`; standard library only."""

import os
import sys

RUNNER_DIRECTORY = sys.path.pop(
    0
)  # python put this folder there; user code must not import from it

if __name__ == "__main__":
    sys.path.insert(0, RUNNER_DIRECTORY)
    import service_runner

    sys.path.remove(RUNNER_DIRECTORY)
    # Last: a module of this name that the project brings is the project's.
    sys.path.append(os.path.join(RUNNER_DIRECTORY, "helpers"))
    service_runner.main(sys.argv[1:])
