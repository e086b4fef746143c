import {
  chmodSync,
  chownSync,
  mkdtempSync,
  readFileSync,
  readdirSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ATTACKED_LEVELS, createAttackedFixture } from "../testing/attack-levels.ts";
import { listClosed } from "../testing/make-listable.ts";
import { ORDINARY_RUNNERS } from "../testing/ordinary-user.ts";
import { waitFor } from "../testing/python-fixture.ts";
import type { Fixture } from "../testing/python-fixture.ts";
import type { VersionRunner } from "../testing/version-runner.ts";

/* Input by reference is a file in a folder of its zygote, a hard link where it can be: a run attacks that of its siblings, and its own. */

const USER = 65_534;
const SECRET = "c81e-input-of-the-victim";
const PARTS = SECRET.split("-");

const FIND = `
import contextlib, ctypes, mmap, os, re, time
LIBC = ctypes.CDLL(None, use_errno=True)

def find_place():
    home = os.environ["HOME"]
    return "/run/platform/zygote/in" if home == "/tmp" else os.path.join(os.path.dirname(os.path.dirname(home)), "in")

def attempt(done, name, action):
    try:
        action()
        done.append(name)
    except OSError:
        pass

def call(function, *arguments):
    if function(*arguments) < 0:
        raise OSError(ctypes.get_errno(), "call")

def list_as_root_of_a_namespace(place):
    pid = os.fork()
    if pid == 0:
        try:
            call(LIBC.unshare, 0x10000000 | 0x00020000)
            os._exit(len(os.listdir(place)))
        finally:
            os._exit(0)
    if os.waitpid(pid, 0)[1] != 0:
        return
    raise OSError
`;

/** Looks for the names of inputs, and for what is in them. */
const SEARCH = `${FIND}
def read(path):
    try:
        return open(path, "rb").read(1 << 20)
    except OSError:
        return b""

def search(secret):
    place, done = find_place(), []
    attempt(done, "list", lambda: os.listdir(place))
    attempt(done, "scan", lambda: list(os.scandir(f"/proc/self/root{place}")))
    attempt(done, "descriptor", lambda: os.listdir(os.open(place, os.O_PATH)))
    attempt(done, "watch", lambda: call(LIBC.inotify_add_watch, LIBC.inotify_init1(0), place.encode(), 0xFFF))
    attempt(done, "namespace", lambda: list_as_root_of_a_namespace(place))
    attempt(done, "list after chmod", lambda: (os.chmod(place, 0o777), os.listdir(place)))
    attempt(done, "rename", lambda: os.rename(place, place + "2"))
    attempt(done, "make", lambda: os.mkdir(os.path.join(place, "made")))
    others = [pid for pid in os.listdir("/proc") if pid.isdigit() and int(pid) != os.getpid()]
    told = [f"/proc/{pid}/{file}" for pid in others for file in ("cmdline", "environ", "maps", "mountinfo", "mem", "fd/3", "fd/4", "fd/5")]
    found = b"".join(map(read, told))
    done += ["content"] if secret.encode() in found else []
    done += ["name"] if re.search(rb"/in/[0-9a-f]{32}", found) else []
    return done

def run(data):
    if data["role"] == "victim":
        print("here", flush=True)
        while True:
            time.sleep(1)
    if data["role"] == "told":
        return [read(os.path.join(find_place(), data["name"], "data")).decode()]
    return search("-".join(data["parts"]))
`;

/** Finds out where its own input is, and tries to change it in every way. */
const CHANGE = `${FIND}
import fcntl
import service_runner.execution as execution
PATHS = []
read_input = execution.read_input

def spy(files, name):
    PATHS.append(files["folder"] + "/" + name)
    return read_input(files, name)

execution.read_input = spy

def write(descriptor):
    try:
        os.write(descriptor, b"destroyed")
    finally:
        os.close(descriptor)

# At level C, calls seem to succeed that change nothing.
def alter(path, call):
    before = os.stat(path).st_ctime_ns
    call()
    if os.stat(path).st_ctime_ns == before:
        raise PermissionError

def map_for_writing(path):
    with open(path, "rb") as file, mmap.mmap(file.fileno(), 0, flags=mmap.MAP_SHARED, prot=mmap.PROT_READ | mmap.PROT_WRITE) as content:
        content[:9] = b"destroyed"

def run(data):
    [path], done = PATHS, []
    folder = os.path.dirname(path)
    own = os.open(path, os.O_RDONLY)
    attempt(done, "write", lambda: write(os.open(path, os.O_WRONLY)))
    attempt(done, "truncate", lambda: os.truncate(path, 0))
    attempt(done, "open and truncate", lambda: os.close(os.open(path, os.O_RDONLY | os.O_TRUNC)))
    attempt(done, "reopen", lambda: write(os.open(f"/proc/self/fd/{own}", os.O_RDWR)))
    attempt(done, "map", lambda: map_for_writing(path))
    attempt(done, "attribute", lambda: os.setxattr(path, "user.x", b"x"))
    attempt(done, "unlink", lambda: os.unlink(path))
    attempt(done, "rename", lambda: os.rename(path, path + "2"))
    attempt(done, "rename folder", lambda: os.rename(folder, folder + "2"))
    attempt(done, "link", lambda: os.link(path, os.path.join(os.environ["TMPDIR"], "data")))
    attempt(done, "make", lambda: open(os.path.join(folder, "made"), "w").close())
    attempt(done, "lease", lambda: fcntl.fcntl(own, fcntl.F_SETLEASE, fcntl.F_RDLCK))
    attempt(done, "flags", lambda: fcntl.ioctl(own, 0x40086602, b"\\x10\\0\\0\\0\\0\\0\\0\\0"))
    attempt(done, "chmod", lambda: alter(path, lambda: os.chmod(path, 0o777)))
    attempt(done, "chmod by descriptor", lambda: alter(path, lambda: os.fchmod(own, 0o777)))
    attempt(done, "chown", lambda: alter(path, lambda: os.chown(path, os.getuid(), os.getgid())))
    attempt(done, "times", lambda: alter(path, lambda: os.utime(path, (1, 1))))
    attempt(done, "chmod folder", lambda: alter(folder, lambda: os.chmod(folder, 0o777)))
    for path in (path, f"/proc/self/fd/{own}"):
        attempt(done, "write after chmod", lambda: write(os.open(path, os.O_WRONLY)))
    return {"data": data, "done": done}
`;

/** Follows the names that inotify tells, of folders that its user may read: Landlock does not judge that. */
const WATCH = `${FIND}
import struct
MOVED_TO = 0x80

def run(data):
    if data["role"] == "victim":
        return data
    place, secret = find_place(), "-".join(data["parts"]).encode()
    events, folders, found, seen, moved = LIBC.inotify_init1(0), {}, [], set(), 0

    def watch(path):
        attempt([], "chmod", lambda: os.chmod(path, 0o777))
        number = LIBC.inotify_add_watch(events, path.encode(), 0xFFF)
        if number > 0:
            folders[number] = path

    for level in range(4):
        watch(place if level == 0 else os.path.normpath(place + "/.." * level))
    while place in folders.values() and moved < 4:
        told, offset = os.read(events, 1 << 16), 0
        while offset < len(told):
            number, mask, _, length = struct.unpack_from("iIII", told, offset)
            name = told[offset + 16 : offset + 16 + length].rstrip(b"\\0").decode()
            offset += 16 + length
            moved += folders.get(number) == place and bool(mask & MOVED_TO)
            path = os.path.join(folders.get(number, ""), name)
            if not name or path in seen:
                continue
            seen.add(path)
            watch(path)
            for file in (path, path + "/data"):
                with contextlib.suppress(OSError), open(file, "rb") as content:
                    found += ["content"] if secret in content.read(1 << 16) else []
    return found
`;

/** A file as the platform keeps its objects. */
function createObject(folder: string, text: string): string {
  const path = join(folder, `object-${readdirSync(folder).length}`);
  writeFileSync(path, text);
  chmodSync(path, 0o444);
  return path;
}

/** In the folders of all zygotes; as the platform sees them. */
function listInputs(directory: string): readonly string[] {
  const folder = join(directory, "run", "z");
  return readdirSync(folder).flatMap((name) => listClosed(join(folder, name, "in")));
}

function describeFile(path: string): unknown {
  const { mode, mtimeMs, uid, nlink } = statSync(path);
  return { text: readFileSync(path, "utf8"), mode, mtimeMs, uid, nlink };
}

describe.each(ATTACKED_LEVELS)("at level %s", (level) => {
  let fixture: Fixture;
  beforeAll(async () => {
    fixture = await createAttackedFixture(level);
  });
  afterAll(() => fixture.close());

  test.each(["auto", "spawn"] as const)(
    "a run finds neither the name nor the content of another's input (%s)",
    async (startMode) => {
      const version = fixture.createVersion(SEARCH, { startMode });
      const before = listInputs(fixture.directory);
      const victim = fixture.start(version, {
        files: await fixture.stage(JSON.stringify({ role: "victim", secret: SECRET })),
      });
      await waitFor("the victim runs", () => victim.lines.length > 0);
      const name = listInputs(fixture.directory).find((found) => !before.includes(found));
      const files = await fixture.stage(JSON.stringify({ role: "attacker", parts: PARTS }));
      expect((await fixture.finish(version, { files })).result).toEqual({ value: [] });
      // The attack looks in the right place: who is told the name reads the content.
      const told = await fixture.finish(version, { data: { role: "told", name } });
      expect(told.result).toEqual({ value: [expect.stringContaining(SECRET)] });
      victim.kill({ code: "CANCELLED", detail: "It was seen." });
      await victim.ended;
    },
  );

  test("an input cannot be changed, nor can the object that it is a link to", async () => {
    const object = createObject(fixture.directory, '{"a":1}');
    const before = describeFile(object);
    const version = fixture.createVersion(CHANGE);
    const files = await fixture.stage({ linkTo: object });
    const { result, outcome } = await fixture.finish(version, { files });
    expect([result, outcome]).toEqual([{ data: { a: 1 }, done: [] }, expect.anything()]);
    await waitFor("the link is removed", () => statSync(object).nlink === 1);
    expect(describeFile(object)).toEqual(before);
  });
});

describe.each(ORDINARY_RUNNERS)("run by an ordinary user, %s", (_how, createRunner) => {
  let runner: VersionRunner;
  let folder: string;
  beforeAll(async () => {
    runner = await createRunner();
    folder = mkdtempSync(join(tmpdir(), "objects-"));
    chmodSync(folder, 0o755);
  });
  afterAll(async () => {
    await runner.close();
    rmSync(folder, { recursive: true });
  });

  function createOwnObject(text: string): string {
    const path = createObject(folder, text);
    if (process.getuid?.() === 0) chownSync(path, USER, USER);
    return path;
  }

  test("a run lists no names of inputs, though its user owns their folder", async () => {
    const linkTo = createOwnObject(JSON.stringify({ role: "attacker", parts: PARTS }));
    expect((await runner.run({ program: SEARCH, linkTo })).result).toEqual({ value: [] });
  });

  test("a run that opens and watches the folder of inputs, and all above, reads no input of others", async () => {
    const linkTo = createOwnObject(JSON.stringify({ role: "attacker", parts: PARTS }));
    const beside = createOwnObject(JSON.stringify({ role: "victim", secret: SECRET }));
    const { outcome, result } = await runner.run({ program: WATCH, linkTo, beside });
    expect([result, outcome]).toEqual([{ value: [] }, expect.anything()]);
  });

  test("an input cannot be changed, nor can the object", async () => {
    const linkTo = createOwnObject('{"a":1}');
    const before = describeFile(linkTo);
    const { result, outcome } = await runner.run({ program: CHANGE, linkTo });
    expect([result, outcome]).toEqual([{ data: { a: 1 }, done: [] }, expect.anything()]);
    await waitFor("the link is removed", () => statSync(linkTo).nlink === 1);
    expect(describeFile(linkTo)).toEqual(before);
  });
});
