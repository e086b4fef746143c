"""Does what each line of standard input asks of a client, and answers with a line (drivers.ts)."""

import asyncio
import hashlib
import json
import sys
import threading

import promising_client as package
from promising_client import AsyncClient, Client, Data, FileReference, Params

clients = {}
lock = threading.Lock()


def open_client(ask):
    clients[ask["client"]] = Client(ask["keyId"], ask["secret"], endpoint=ask["endpoint"])


def use_key(ask):
    clients[ask["client"]].use_key(ask["keyId"], ask["secret"])


def run_typed(ask):
    data = Data(act="double", number=21)
    return {"number": clients[ask["client"]].run(data, Params(factor=2)).output.number}


def run(ask):
    data = FileReference(*ask["reference"]) if "reference" in ask else ask["data"]
    result = clients[ask["client"]].run(data, timeout=ask.get("timeout"))
    text = result.value["text"]
    return {
        "digits": str(result.value["number"]),
        "length": len(text),
        "sha256": hashlib.sha256(text.encode()).hexdigest(),
    }


def start(ask):
    return {"id": clients[ask["client"]].start(ask["data"]).id}


def describe(execution):
    return {"status": execution.status, "terminal": execution.terminal}


def state(ask):
    return describe(clients[ask["client"]].state(ask["id"]))


def wait(ask):
    return describe(clients[ask["client"]].wait(ask["id"], ask.get("timeout")))


def result(ask):
    return {"digits": str(clients[ask["client"]].result(ask["id"]).value["number"])}


def cancel(ask):
    return describe(clients[ask["client"]].cancel(ask["id"]))


def files(ask):
    client = clients[ask["client"]]
    names = client.files(ask["id"])
    return {name: client.download(ask["id"], name).decode() for name in names}


def log(ask):
    return {"messages": [line["message"] for line in clients[ask["client"]].log(ask["id"])]}


def list_ids(ask):
    return [one.id for one in clients[ask["client"]].list()]


def run_many(ask):
    async def run_all():
        given = {name: ask[value] for name, value in NAMES.items()}
        async with AsyncClient(**given) as client:
            calls = [client.run({"act": "double", "number": n}) for n in range(ask["count"])]
            return [one.output.number for one in await asyncio.gather(*calls)]

    return {"numbers": asyncio.run(run_all())}


NAMES = {"key_id": "keyId", "secret": "secret", "endpoint": "endpoint"}
ACTS = {
    "open": open_client,
    "useKey": use_key,
    "runTyped": run_typed,
    "run": run,
    "start": start,
    "state": state,
    "wait": wait,
    "result": result,
    "cancel": cancel,
    "files": files,
    "log": log,
    "list": list_ids,
    "runMany": run_many,
}


def answer(ask):
    try:
        said = {"answer": ACTS[ask["act"]](ask)}
    except package.ClientError as error:
        names = ("code", "detail", "id", "status")
        found = {name: getattr(error, name, None) for name in names}
        said = {"error": {"name": type(error).__name__, **found}}
    except BaseException as error:
        said = {"error": {"name": type(error).__name__, "detail": repr(error)}}
    with lock:
        print(json.dumps({"ask": ask["ask"], **said}), flush=True)


for line in sys.stdin:
    threading.Thread(target=answer, args=(json.loads(line),), daemon=True).start()
