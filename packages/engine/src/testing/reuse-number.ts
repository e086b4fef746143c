/**
 * A program for the test of `family.ts`, with the path of an interpreter. Run as the first process of a pid namespace, where a number can be given twice. A zygote in a namespace of its own forks a child, which ends, and
 * another one, which gets the same number here and another one there. Prints both numbers of each, and whom the family finds.
 */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { createFamily } from "../python/watch/family.ts";
import { isOver, listChildren } from "../python/watch/process-files.ts";

const ZYGOTE = `
import os, signal, sys
for line in sys.stdin:
    if line != "fork\\n":
        os.kill(int(line), signal.SIGKILL)
        os.waitpid(int(line), 0)
    child = os.fork()
    if child == 0: signal.pause()
    print(child, flush=True)
`;

const launched = spawn(
  "unshare",
  ["--pid", "--fork", "--kill-child", process.argv[2] ?? "", "-I", "-S", "-c", ZYGOTE],
  {
    stdio: ["pipe", "pipe", "inherit"],
  },
);
const lines = createInterface({ input: launched.stdout });
const family = createFamily();

async function order(line: string): Promise<number> {
  launched.stdin.write(`${line}\n`);
  const [number] = await once(lines, "line");
  return Number(number);
}

const first = await order("fork");
family.open(launched.pid ?? 0, 1);
const pid = family.find(first)?.pid ?? 0;
const [zygote] = listChildren(launched.pid ?? 0);
writeFileSync("/proc/sys/kernel/ns_last_pid", String(pid - 1));
const second = await order(String(first));
const children = listChildren(zygote ?? 0).filter((child) => !isOver(child));
const found = family.find(second)?.pid ?? null;
process.stdout.write(`${JSON.stringify({ first, second, pid, children, found })}\n`);
launched.kill("SIGKILL");
