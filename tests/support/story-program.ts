/** A service whose input says what it does: the acts of the story. */
export const STORY_PROGRAM = `
import ctypes, logging, os, sys, time
from dataclasses import dataclass

@dataclass
class Params:
    factor: int = 2

def run(data: dict, params: Params) -> dict:
    act = data.get("act", "multiply")
    if act == "sleep":
        time.sleep(60)
    if act == "raise":
        raise ValueError("no such thing")
    if act == "exit":
        sys.exit(3)
    if act == "die":
        os._exit(1)
    if act == "crash":
        ctypes.string_at(0)
    if act == "nan":
        return {"value": float("nan")}
    if act == "set":
        return {"value": {1, 2}}
    if act == "circular":
        value = []
        value.append(value)
        return {"value": value}
    if act == "large":
        return {"value": "x" * 50_000_000}
    if act == "bomb":
        while True:
            os.fork()
    if act == "flood":
        while True:
            print("x" * 1000)
    if act == "lines":
        for number in range(100_000):
            print("line", number)
        return {}
    if act == "memory":
        return {"size": len(bytearray(2_000_000_000))}
    if act == "host":
        import urllib.request
        urllib.request.urlopen("http://backend.invalid/")
    print("multiplying")
    logging.getLogger("story").warning("by %d", params.factor)
    return {"product": [params.factor * number for number in data.get("numbers", [])]}
`;
