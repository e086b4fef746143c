"""Turns a problem of TSPLIB into the input of this service.

python3 tsplib.py input/berlin52.tsp > berlin52.json

Reads symmetric problems whose distances are EUC_2D of coordinates (NODE_COORD_SECTION).
"""

import json
import sys
from collections.abc import Iterable, Iterator


class UnreadableProblem(Exception):
    """The text is no such problem; the message says why."""


def read_problem(lines: Iterable[str]) -> dict[str, list[list[float]]]:
    """The `data` of an execution; cities are in the order of the file."""
    rest = iter(lines)
    header = read_header(rest)
    kind = header.get("EDGE_WEIGHT_TYPE")
    if header.get("TYPE", "TSP") != "TSP" or kind != "EUC_2D":
        raise UnreadableProblem("it is not of TYPE TSP with EDGE_WEIGHT_TYPE EUC_2D")
    cities = [read_city(line) for line in take_section(rest)]
    wanted = header.get("DIMENSION", str(len(cities)))
    if wanted != str(len(cities)):
        raise UnreadableProblem(f"its DIMENSION is {wanted}, and it has {len(cities)} cities")
    return {"cities": cities}


def read_header(lines: Iterator[str]) -> dict[str, str]:
    header: dict[str, str] = {}
    for line in lines:
        if line.strip() == "NODE_COORD_SECTION":
            return header
        name, _, value = line.partition(":")
        header[name.strip()] = value.strip()
    raise UnreadableProblem("it has no NODE_COORD_SECTION")


def take_section(lines: Iterator[str]) -> Iterator[str]:
    for line in lines:
        text = line.strip()
        if text == "EOF" or text.endswith("SECTION"):
            return
        if text:
            yield text


def read_city(line: str) -> list[float]:
    try:
        _, x, y = line.split()
        return [float(x), float(y)]
    except ValueError:
        raise UnreadableProblem(f"{line!r} is no number with two coordinates") from None


def main() -> None:
    try:
        with open(sys.argv[1], encoding="utf-8") as file:
            problem = read_problem(file)
    except (IndexError, OSError, UnicodeDecodeError, UnreadableProblem) as error:
        sys.exit(f"tsplib.py: {sys.argv[1:]} cannot be read: {error}")
    print(json.dumps(problem))


if __name__ == "__main__":
    main()
