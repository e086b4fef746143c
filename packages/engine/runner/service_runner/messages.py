"""The shapes of the messages between Node and the runner, for the type checker only.

Nothing imports this module at run time: `typing` would cost each start about 2 ms. `wire` parses
what Node sends into these shapes once; the rest of the runner relies on them. The TypeScript side
is `control-messages.ts`, and `packages/engine/wire` has samples that the tests of both sides read.
"""

from typing import Any, Literal, TypeAlias, TypedDict

StartMode: TypeAlias = Literal["auto", "spawn"]
Mode: TypeAlias = Literal["fork", "spawn"]
Probe: TypeAlias = Literal["none", "service", "backend"]
Network: TypeAlias = Literal["own", "shared"]
JsonObject: TypeAlias = dict[str, Any]


class Isolation(TypedDict):
    """How children are separated from each other.

    With `namespaces`, each is pid 1 of processes of its own, with its own user, mount and IPC
    namespace, and with the network `own` its own loopback interface and no other. `filter` is the
    base64 text of a program that filters system calls, None where none are. `landlock` lists
    what each may read besides its own folders, as far as the kernel can confine it; None: all.
    Below `opened` each may read the files whose paths it knows, and list no folder.
    """

    namespaces: bool
    network: Network
    filter: str | None
    landlock: list[str] | None
    opened: list[str]


class BootOrder(TypedDict):
    """The first line that a zygote reads: what to import, and within which limits.

    The paths are those that the sandbox sees. `keep` lists paths below /tmp or /dev/shm that a
    private /tmp must not hide. `memory` is what one execution may allocate, in bytes, on top of
    what the zygote holds; of these, `children` exist at a time at most. With a `probe`, the zygote
    says what a project of that kind has, and ends. Children of an `external` backend are told of
    their cancellation.
    """

    order: Literal["boot"]
    project: str
    home: str
    scratch: str
    keep: list[str]
    variables: dict[str, str]
    memory: int
    children: int
    isolation: Isolation
    startMode: StartMode
    probe: Probe
    external: bool


class ForkOrder(TypedDict):
    """Starts one child. `id` names it in events, `token` in the connections made for it."""

    order: Literal["fork"]
    id: int
    token: str


class KillOrder(TypedDict):
    """Sends a signal to a child: to its process group, or for SIGKILL to all that it started.

    A signal that a child in namespaces does not catch has no effect on it; it is killed instead.
    """

    order: Literal["kill"]
    id: int
    signal: int


Order: TypeAlias = BootOrder | ForkOrder | KillOrder


class HelloEvent(TypedDict):
    """The interpreter has started; user code has not been imported yet."""

    event: Literal["hello"]
    pid: int


class ReadyEvent(TypedDict):
    """User code is imported where it can be forked; `fork` orders are obeyed from now on."""

    event: Literal["ready"]
    mode: Mode


class UnsafeEvent(TypedDict):
    """The import left something that does not survive a fork; the zygote waits to be ended."""

    event: Literal["unsafe"]
    reason: str


class FailedEvent(TypedDict):
    """The import failed; the zygote waits to be told to end."""

    event: Literal["failed"]
    code: str
    detail: str
    traceback: str | None


class ProbedEvent(TypedDict):
    """JSON Schemas of `run` (null without hints), and why it cannot be forked (null: it can).

    `description` is what `describe` of a backend has returned; null for a service.
    """

    event: Literal["probed"]
    input: JsonObject | None
    output: JsonObject | None
    description: JsonObject | None
    mode: Mode
    reason: str | None


class ExitEvent(TypedDict):
    """A child ended, by exit code or by signal."""

    event: Literal["exit"]
    id: int
    code: int | None
    signal: int | None


class RefusedEvent(TypedDict):
    """The system refused to fork: no process came of the order."""

    event: Literal["refused"]
    id: int
    reason: str


class GoneEvent(TypedDict):
    """Nothing that the child started is left."""

    event: Literal["gone"]
    id: int


Event: TypeAlias = (
    HelloEvent
    | ReadyEvent
    | UnsafeEvent
    | FailedEvent
    | ProbedEvent
    | ExitEvent
    | RefusedEvent
    | GoneEvent
)


class InputPool(TypedDict):
    """A data pool: where in the input it stands, its id, and names and sizes of its files."""

    path: list[str]
    id: str
    files: list[tuple[str, int]]


class InputFiles(TypedDict):
    """Input by reference: files of `folder`, named `data` and `params`, and offset and length.

    On the wire the parts are members beside `folder`. The path is that which the sandbox sees. The
    files of each of `pools` are in the folder `pool-N`, by its number in the list; the member is
    missing where there are none.
    """

    folder: str
    parts: dict[str, tuple[int, int]]
    pools: list[InputPool]


class OutputPool(TypedDict):
    """The data pool that gets files of the run: where in the input it stands, and its id."""

    path: list[str]
    id: str


class OutputLimits(TypedDict):
    """What may be in OUTPUT_DIRECTORY and the output pool: entries, and bytes of all files."""

    count: int
    bytes: int


class QuantumAccess(TypedDict):
    """The token of this run for the quantum API, and the path of the door to it.

    `published`: also under the names that published clients of such platforms read.
    """

    token: str
    door: str
    published: bool


class ExternalRun(TypedDict):
    """What an external backend has begun elsewhere: the handle that was kept, None where none was.

    `wasLost`: the worker of an attempt before was lost.
    """

    handle: str | None
    wasLost: bool


class RequestOptions(TypedDict):
    """The frame REQUEST. `resultBytes` limits the result; errors name `memory`, in bytes.

    `attempt` is the number of the attempt; the member is missing for the first, which is 1.
    `linger`: the process lives until Node has read the answer, and what it has used with it.
    `inputs` is None where nothing was passed by reference; the member is missing then. So is
    `files` where files are not returned, and `outputPool` where the start names none. `trace` has
    the variables TRACEPARENT and TRACESTATE, as far as the start was part of a trace. `quantum` is
    None for runs that get no access to the quantum API; the member is missing then. So is
    `external` but for external backends.
    """

    executionId: str
    attempt: int
    resultBytes: int
    memory: int
    linger: bool
    inputs: InputFiles | None
    files: OutputLimits | None
    outputPool: OutputPool | None
    trace: dict[str, str]
    quantum: QuantumAccess | None
    external: ExternalRun | None


class SpawnedStart(TypedDict):
    """What a spawning zygote passes to a fresh interpreter on stdin.

    `connections` are the descriptors of control, stdout and stderr.
    """

    boot: BootOrder
    id: int
    connections: list[int]


class ConfineOrder(TypedDict):
    """What the launcher of isolation level C gets as its argument.

    `parent` is Node's process id, `home` the path of its socket. Of `readable`, `used`, `owned` and
    `opened` says `landlock` what the command may do there. `filter` is the base64 text of a seccomp
    program. Its user may have `processes` processes and threads more than before, or twice as many.
    """

    parent: int
    home: str
    command: list[str]
    directory: str
    readable: list[str]
    used: list[str]
    owned: list[str]
    opened: list[str]
    filter: str
    processes: int


class RestrictOrder(TypedDict):
    """What `restrict` gets as its argument: as of `ConfineOrder`; without a filter it is None."""

    parent: int
    command: list[str]
    readable: list[str]
    used: list[str]
    owned: list[str]
    filter: str | None
