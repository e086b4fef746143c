import { expect, test } from "vitest";
import { readUserRoom } from "./user-room.ts";

const FILES = {
  "/proc/self/limits": "Max file size  unlimited  unlimited  bytes\nMax processes  9000  9500  processes\n",
  "/proc/sys/user/max_user_namespaces": "7000\n",
  "/proc/sys/kernel/pid_max": "32768\n",
  "/proc/sys/kernel/threads-max": "20000\n",
  "/proc/self/mountinfo": "36 31 0:33 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
  "/proc/self/cgroup": "0::/system.slice/platform.service\n",
  "/sys/fs/cgroup/system.slice/platform.service/pids.max": "max\n",
  "/sys/fs/cgroup/system.slice/pids.max": "max\n",
};

function readFrom(files: Readonly<Record<string, string>>) {
  return (path: string): string => {
    const text = files[path];
    if (text === undefined) throw new Error(`ENOENT: ${path}`);
    return text;
  };
}

test.each([
  [9000, "its own limit", {}],
  [20_000, "the host's", { "/proc/self/limits": "Max processes  unlimited  unlimited  processes\n" }],
  [4915, "that of its unit", { "/sys/fs/cgroup/system.slice/platform.service/pids.max": "4915\n" }],
  [512, "that of a group above", { "/sys/fs/cgroup/system.slice/pids.max": "512\n" }],
  [9000, "its own where no groups are mounted", { "/proc/self/mountinfo": "" }],
])("a user may have %i processes where the least limit is %s", (room, _, changed) => {
  expect(readUserRoom(readFrom({ ...FILES, ...changed }))).toEqual({ namespaces: 7000, processes: room });
});
