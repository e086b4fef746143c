import { expect, test } from "vitest";
import { locateGroups } from "./locate.ts";

const V1_MOUNTS = `32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd`;
const V2_MOUNT = "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw";

test("each v1 controller has a folder, also where two are mounted as one", () => {
  const membership = "8:pids:/a\n4:memory:/a/b:c\n2:cpu,cpuacct:/\n0::/d\n";
  expect(locateGroups(`${V1_MOUNTS}\n${V2_MOUNT}`, membership)).toEqual({
    version: 1,
    folders: {
      memory: "/sys/fs/cgroup/memory/a/b:c",
      cpu: "/sys/fs/cgroup/cpu,cpuacct",
      cpuacct: "/sys/fs/cgroup/cpu,cpuacct",
      pids: "/sys/fs/cgroup/pids/a",
    },
  });
});

test("without v1 controllers, the group of v2 is found", () => {
  const mounts = "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate";
  expect(locateGroups(mounts, "0::/system.slice/platform.service\n")).toEqual({
    version: 2,
    folder: "/sys/fs/cgroup/system.slice/platform.service",
    top: "/sys/fs/cgroup",
  });
});

test("a container that sees a part of the hierarchy finds its group in that part", () => {
  const mounts = "30 23 0:26 /docker/abc /sys/fs/cgroup ro - cgroup2 cgroup rw";
  expect(locateGroups(mounts, "0::/docker/abc/worker\n")).toEqual({
    version: 2,
    folder: "/sys/fs/cgroup/worker",
    top: "/sys/fs/cgroup",
  });
});

test.each([
  ["nothing is mounted", "", "0::/\n"],
  [
    "the own group is not in the part that is mounted",
    "30 23 0:26 /docker/abc /c ro - cgroup2 c rw",
    "0::/docker/abcd\n",
  ],
  ["the own group is above the namespace", "30 23 0:26 / /c rw - cgroup2 c rw", "0::/../other\n"],
])("no groups are found where %s", (_, mounts, membership) => {
  expect(locateGroups(mounts, membership)).toBeNull();
});
