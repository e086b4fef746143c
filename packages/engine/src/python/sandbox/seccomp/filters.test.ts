import { existsSync, readFileSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { runBpf } from "../../../testing/run-bpf.ts";
import type { Decision } from "../../../testing/run-bpf.ts";
import { createBaseFilter, createChildFilter, createClosedFilter, createConfinedFilter } from "./filters.ts";
import { REFUSED_CALLS } from "./refused-calls.ts";
import { SYSCALLS } from "./syscalls.ts";
import type { Architecture } from "./syscalls.ts";

const ARCHITECTURES = [
  ["x86_64", 0xc000_003e],
  ["aarch64", 0xc000_00b7],
] as const;
const ERRNO = { done: 0, EPERM: 1, ENOSYS: 38, EPROTONOSUPPORT: 93, EAFNOSUPPORT: 97 };

/** Name, numbers on x86_64 and aarch64. */
const REFUSED = `
EPERM ptrace 101 117, process_vm_readv 310 270, process_vm_writev 311 271, pidfd_getfd 438 438, kcmp 312 272
ENOSYS process_madvise 440 440, process_mrelease 448 448, clone3 435 435
EPERM setns 308 268, unshare 272 97, chroot 161 51, pivot_root 155 41, umount2 166 39
EPERM open_tree 428 428, move_mount 429 429, fsopen 430 430, fsconfig 431 431, fsmount 432 432, fspick 433 433, mount_setattr 442 442
EPERM open_by_handle_at 304 265, name_to_handle_at 303 264, bpf 321 280, perf_event_open 298 241
ENOSYS io_uring_setup 425 425, io_uring_enter 426 426, io_uring_register 427 427, io_setup 206 0
EPERM userfaultfd 323 282, vmsplice 278 75, add_key 248 217, request_key 249 218, keyctl 250 219
ENOSYS memfd_secret 447 447, statmount 457 457, listmount 458 458, cachestat 451 451
ENOSYS lsm_get_self_attr 459 459, lsm_set_self_attr 460 460, lsm_list_modules 461 461
EPERM mbind 237 235, set_mempolicy 238 237, set_mempolicy_home_node 450 450, migrate_pages 256 238, move_pages 279 239
EPERM fanotify_init 300 262, fanotify_mark 301 263, lookup_dcookie 212 18
done sync 162 81, syncfs 306 267
EPERM kexec_load 246 104, kexec_file_load 320 294, init_module 175 105, finit_module 313 273, delete_module 176 106
EPERM reboot 169 142, swapon 167 224, swapoff 168 225, quotactl 179 60, quotactl_fd 443 443, acct 163 89, syslog 103 116
EPERM clock_settime 227 112, clock_adjtime 305 266, settimeofday 164 170, adjtimex 159 171
EPERM sethostname 170 161, setdomainname 171 162, vhangup 153 58, iopl 172 -, ioperm 173 -, modify_ldt 154 -
ENOSYS _sysctl 156 -, afs_syscall 183 -, create_module 174 -, epoll_ctl_old 214 -, epoll_wait_old 215 -, get_kernel_syms 177 -
ENOSYS getpmsg 181 -, nfsservctl 180 42, putpmsg 182 -, query_module 178 -, security 185 -, sysfs 139 -, tuxcall 184 -
ENOSYS uselib 134 -, ustat 136 -, vserver 236 -
`;
const REFUSED_ROWS = REFUSED.trim()
  .split("\n")
  .flatMap((line) => {
    const [verdict = "", ...rest] = line.split(" ");
    return rest
      .join(" ")
      .split(", ")
      .map((call) => [verdict, ...call.split(" ")] as const);
  });

/** Calls of Python, its libraries and the programs that it starts; numbers on x86_64 and aarch64. */
const HONEST = `
read 0 63, write 1 64, openat 257 56, close 3 57, mmap 9 222, mprotect 10 226, munmap 11 215, brk 12 214, madvise 28 233, execve 59 221
exit_group 231 94, wait4 61 260, futex 202 98, pipe2 293 59, epoll_create1 291 20, sendto 44 206, connect 42 203, bind 49 200
sendfile 40 71, splice 275 76, tee 276 77, copy_file_range 326 285, memfd_create 319 279, inotify_init1 294 26, mq_open 240 180
shmget 29 194, getrandom 318 278, rseq 334 293, pidfd_open 434 434, pidfd_send_signal 424 424, kill 62 129, tgkill 234 131
set_robust_list 273 99, prlimit64 302 261, sched_setaffinity 203 122, setpriority 141 140, fsync 74 82, statx 332 291
landlock_create_ruleset 444 444, prctl 157 167, membarrier 324 283, fchmodat2 452 452, mseal 462 462
getsockopt 55 209, get_mempolicy 239 236, mlock 149 228, setsid 112 157, capset 126 91
`;
const HONEST_ROWS = HONEST.trim()
  .split(/,\s|\n/u)
  .map((call) => call.split(" "));

function decide(
  program: Buffer,
  architecture: Architecture,
  number: number | null,
  args: readonly (number | bigint)[] = [],
): Decision {
  if (number === null) throw new Error("There is no such call.");
  const audit = architecture === "x86_64" ? 0xc000_003e : 0xc000_00b7;
  return runBpf(program, { architecture: audit, number, args });
}

/** Judges a call of the x86_64 table. */
function judge(program: Buffer, name: keyof typeof SYSCALLS, args: readonly (number | bigint)[]): Decision {
  return decide(program, "x86_64", SYSCALLS[name][0], args);
}

const REFUSAL = { errno: 1 };
const CONFINED = { epoll: "allowed", siblings: "unsignalled" } as const;
const base = createBaseFilter("x86_64", { network: "shared", epoll: "allowed" });
const own = createBaseFilter("x86_64", { network: "own", epoll: "allowed" });
const child = createChildFilter("x86_64", "hidden");
const build = createClosedFilter("x86_64", "allowed");

test("the table of these tests names what is refused, and nothing else", () => {
  const named = new Set<string | undefined>(REFUSED_ROWS.map(([, name]) => name));
  expect(named).toEqual(new Set(["unshare", ...REFUSED_CALLS.flatMap(({ calls }) => [...calls])]));
});

describe.each(ARCHITECTURES)("on %s", (architecture, audit) => {
  const column = architecture === "x86_64" ? 2 : 3;
  const programs = [
    createBaseFilter(architecture, { network: "shared", epoll: "allowed" }),
    createBaseFilter(architecture, { network: "own", epoll: "allowed" }),
    createClosedFilter(architecture, "allowed"),
  ];

  test.each(REFUSED_ROWS.filter((row) => row[column] !== "-"))("%s for %s", (...row) => {
    const errno = ERRNO[row[0] as keyof typeof ERRNO];
    for (const program of programs)
      for (const args of [[], [1, 2, 3, 4, 5, 6], [-1, -1, -1, -1, -1, -1]])
        expect(decide(program, architecture, Number(row[column]), args)).toEqual({ errno });
  });

  test("what honest programs call is allowed", () => {
    for (const row of HONEST_ROWS)
      for (const program of [...programs, createChildFilter(architecture, "hidden")])
        expect([row[0], decide(program, architecture, Number(row[column - 1]))]).toEqual([row[0], "allow"]);
  });

  test("epoll does not exist where user code runs as the user of the platform, and only there", () => {
    for (const epoll of ["allowed", "refused"] as const)
      for (const program of [
        createBaseFilter(architecture, { network: "shared", epoll }),
        createBaseFilter(architecture, { network: "own", epoll }),
        createConfinedFilter(architecture, { network: "refused", epoll, siblings: "exposed" }),
        createClosedFilter(architecture, epoll),
      ])
        for (const number of architecture === "x86_64" ? [213, 291] : [20])
          expect(decide(program, architecture, number, [0])).toEqual(
            epoll === "allowed" ? "allow" : { errno: ERRNO.ENOSYS },
          );
  });

  test("calls that are newer than the rules do not exist", () => {
    for (const program of [...programs, createChildFilter(architecture, "exposed")])
      for (const number of [463, 500, 0xffff_ffff])
        expect(decide(program, architecture, number)).toEqual({ errno: 38 });
  });

  test("calls of other interfaces to the same kernel do not exist", () => {
    const others = [0x4000_0003, 0x4000_0028, 0xc000_003e, 0xc000_00b7].filter((number) => number !== audit);
    for (const program of programs) {
      for (const other of others)
        expect(runBpf(program, { architecture: other, number: 0 })).toEqual({ errno: 38 });
      expect(decide(program, architecture, 0x4000_0000 + 101)).toEqual({ errno: 38 });
    }
  });
});

const NEW = { ns: 0x20000, cgroup: 0x2000000, uts: 0x4000000, ipc: 0x8000000, user: 0x10000000 };
const PID = 0x20000000;
const NET = 0x40000000;
const OF_RUN = NEW.user + NEW.ns + NEW.ipc + PID;
const TID_AND_SIGNAL = 0x01000000 + 0x00200000 + 17;

test("threads and forks are allowed everywhere", () => {
  for (const flags of [17, 0x4111, 0x01200011, 0x003d0f00])
    for (const program of [base, own, child, build]) expect(judge(program, "clone", [flags])).toBe("allow");
});

test("the namespaces of a run can be made by the sandbox only, and no others", () => {
  expect(judge(base, "clone", [OF_RUN + TID_AND_SIGNAL])).toBe("allow");
  expect(judge(own, "clone", [OF_RUN + NET + TID_AND_SIGNAL])).toBe("allow");
  expect(judge(base, "clone", [OF_RUN + NET + TID_AND_SIGNAL])).toEqual(REFUSAL);
  expect(judge(own, "clone", [OF_RUN + TID_AND_SIGNAL])).toEqual(REFUSAL);
  for (const flags of [
    ...Object.values(NEW),
    PID,
    NET,
    NEW.user + NET,
    OF_RUN + NEW.uts,
    OF_RUN + NEW.cgroup,
  ])
    for (const program of [base, own, child, build])
      expect(judge(program, "clone", [flags + 17])).toEqual(REFUSAL);
  for (const program of [child, build])
    for (const flags of [OF_RUN, OF_RUN + NET, OF_RUN + TID_AND_SIGNAL])
      expect(judge(program, "clone", [flags])).toEqual(REFUSAL);
});

test("a run does not mount; what prepares it mounts only in the ways that it needs", () => {
  for (const flags of [0x6, 0xe, 0xa, 0x5000]) {
    expect(judge(base, "mount", [0, 0, 0, flags, 0])).toBe("allow");
    for (const program of [child, build]) expect(judge(program, "mount", [0, 0, 0, flags])).toEqual(REFUSAL);
  }
  // No flags, remounting, moving, binding alone, sharing.
  for (const flags of [0, 0x20, 0x1020, 0x2000, 0x1000, 0x100000, 0x40000])
    expect(judge(base, "mount", [0, 0, 0, flags])).toEqual(REFUSAL);
});

test("a run and a build add no filters; what prepares a run does", () => {
  for (const program of [child, build]) {
    expect(judge(program, "prctl", [22, 2])).toEqual(REFUSAL);
    expect(judge(program, "seccomp", [1])).toEqual({ errno: ERRNO.ENOSYS });
    expect(judge(program, "prctl", [15])).toBe("allow");
  }
  for (const program of [base, own, createConfinedFilter("x86_64", { ...CONFINED, network: "refused" })])
    for (const call of ["prctl", "seccomp"] as const) expect(judge(program, call, [22])).toBe("allow");
});

test("new namespaces by unshare are refused in a child too", () => {
  expect(judge(child, "unshare", [0x10000000])).toEqual(REFUSAL);
});

describe.each([
  ["base", base],
  ["build", build],
])("the filter of a %s", (_, program) => {
  test("keeps the personality", () => {
    expect(judge(program, "personality", [0])).toBe("allow");
    expect(judge(program, "personality", [0xffffffff])).toBe("allow");
    expect(judge(program, "personality", [0xffffffffffffffffn])).toBe("allow");
    for (const persona of [0x0040000, 0x0400000, 0x0100000, 8])
      expect(judge(program, "personality", [persona])).toEqual(REFUSAL);
  });

  test("types into no terminal, whatever the upper half of the argument", () => {
    expect(judge(program, "ioctl", [0, 0x5401])).toBe("allow");
    expect(judge(program, "ioctl", [0, 0x5413])).toBe("allow");
    for (const request of [0x5412, 0x541c, 0x5423, 0x1_0000_5412, 0xffffffff00005412n])
      expect(judge(program, "ioctl", [0, request])).toEqual(REFUSAL);
  });

  test("sets no flags of files, and reads them", () => {
    for (const request of [0x80086601, 0x801c581f])
      expect(judge(program, "ioctl", [0, request])).toBe("allow");
    for (const request of [0x40086602, 0x40046602, 0x40087602, 0x401c5820])
      expect(judge(program, "ioctl", [0, request])).toEqual(REFUSAL);
  });

  test("takes no pages that the operator has set aside", () => {
    expect(judge(program, "mmap", [0, 4096, 3, 0x22])).toBe("allow");
    expect(judge(program, "memfd_create", [1, 0x1])).toBe("allow");
    expect(judge(program, "shmget", [1, 4096, 0o1600])).toBe("allow");
    // Also with the size of the pages in the upper bits.
    for (const flags of [0x4_0022, 0x4_0000, 0x5404_0022])
      expect(judge(program, "mmap", [0, 4096, 3, flags])).toEqual(REFUSAL);
    for (const flags of [0x4, 0x5, 0x5400_0005])
      expect(judge(program, "memfd_create", [1, flags])).toEqual(REFUSAL);
    for (const flags of [0o4000, 0o5600]) expect(judge(program, "shmget", [1, 4096, flags])).toEqual(REFUSAL);
  });

  test("sets no rules of firewalls", () => {
    expect(judge(program, "setsockopt", [3, 1, 64])).toBe("allow"); // SOL_SOCKET
    expect(judge(program, "setsockopt", [3, 6, 1])).toBe("allow"); // TCP_NODELAY
    expect(judge(program, "setsockopt", [3, 41, 26])).toBe("allow"); // IPV6_V6ONLY
    for (const [level, name] of [
      [0, 64],
      [41, 64],
      [0, 96],
      [0, 128],
    ])
      expect(judge(program, "setsockopt", [3, level ?? 0, name ?? 0])).toEqual(REFUSAL);
  });

  test("attaches no programs to sockets", () => {
    for (const name of [26, 50, 51, 52]) expect(judge(program, "setsockopt", [3, 1, name])).toEqual(REFUSAL);
    for (const name of [2, 15, 25, 27]) expect(judge(program, "setsockopt", [3, 1, name])).toBe("allow");
  });

  test.each([
    ["UNIX, any type", [1, 1, 0], "allow"],
    ["UNIX", [1, 5 + 0o2000000, 0], "allow"],
    ["TCP", [2, 1 + 0o2004000, 0], "allow"],
    ["TCP named", [2, 1, 6], "allow"],
    ["TCP over IPv6", [10, 1, 6], "allow"],
    ["UDP", [2, 2, 17], "allow"],
    ["ping", [2, 2, 1], "allow"],
    ["ping over IPv6", [10, 2, 58], "allow"],
    ["routes", [16, 3, 0], "allow"],
    ["raw IPv4", [2, 3, 1], "EPROTONOSUPPORT"],
    ["raw IPv6, not blocking", [10, 3 + 0o4000, 255], "EPROTONOSUPPORT"],
    ["packets through IPv4", [2, 10, 3], "EPROTONOSUPPORT"],
    ["SCTP", [2, 1, 132], "EPROTONOSUPPORT"],
    ["Multipath TCP", [2, 1, 262], "EPROTONOSUPPORT"],
    ["netfilter", [16, 3, 12], "EAFNOSUPPORT"],
    ["generic netlink", [16, 3, 16], "EAFNOSUPPORT"],
    ["packets", [17, 3, 0], "EAFNOSUPPORT"],
    ["the hypervisor", [40, 1, 0], "EAFNOSUPPORT"],
    ["crypto", [38, 5, 0], "EAFNOSUPPORT"],
    ["TIPC", [30, 5, 0], "EAFNOSUPPORT"],
    ["Bluetooth", [31, 3, 0], "EAFNOSUPPORT"],
    ["CAN", [29, 3, 1], "EAFNOSUPPORT"],
    ["RDS", [21, 5, 0], "EAFNOSUPPORT"],
    ["XDP", [44, 3, 0], "EAFNOSUPPORT"],
  ] as const)("decides over sockets: %s", (_name, args, verdict) => {
    const expected = verdict === "allow" ? verdict : { errno: ERRNO[verdict] };
    for (const call of ["socket", "socketpair"] as const)
      expect(judge(program, call, [...args])).toEqual(expected);
  });
});

test("where runs make networks of their own, no routes can be set", () => {
  expect(judge(own, "socket", [16, 3, 0])).toEqual({ errno: 97 });
  expect(judge(own, "socket", [2, 1, 0])).toBe("allow");
});

test("without a mount namespace, sockets are connected pairs, and the network where there is one", () => {
  const open = createConfinedFilter("x86_64", { ...CONFINED, network: "shared" });
  const shut = createConfinedFilter("x86_64", { ...CONFINED, network: "refused" });
  for (const program of [open, shut]) {
    for (const type of [1, 2, 5]) expect(judge(program, "socket", [1, type, 0])).toEqual(REFUSAL);
    for (const type of [1, 5, 0x80801]) expect(judge(program, "socketpair", [1, type, 0])).toBe("allow");
    // Datagrams of a pair can be sent to any address; the kernel takes raw ones for datagrams.
    for (const type of [2, 3, 0x80802]) expect(judge(program, "socketpair", [1, type, 0])).toEqual(REFUSAL);
    expect(judge(program, "socket", [38, 5, 0])).toEqual({ errno: 97 });
  }
  for (const type of [1, 2]) {
    expect(judge(open, "socket", [2, type, 0])).toBe("allow");
    expect(judge(shut, "socket", [2, type, 0])).toEqual({ errno: 97 });
  }
});

const OWN_PID = 0x7ffffff1;
const PARENT_PID = 0x7ffffff2;
const SET_BY_NUMBER = [
  "prlimit64",
  "sched_setaffinity",
  "sched_setscheduler",
  "sched_setparam",
  "sched_setattr",
] as const;

test("without a pid namespace a version changes no limits and priorities of the process that started it", () => {
  const program = createConfinedFilter("x86_64", { ...CONFINED, network: "refused" });
  for (const name of SET_BY_NUMBER) {
    for (const other of [0, OWN_PID, 4242]) expect(judge(program, name, [other])).toBe("allow");
    expect(judge(program, name, [PARENT_PID])).toEqual(REFUSAL);
  }
  for (const [name, process] of [
    ["setpriority", 0],
    ["ioprio_set", 1],
  ] as const) {
    for (const other of [0, 4242]) expect(judge(program, name, [process, other])).toBe("allow");
    expect(judge(program, name, [process, PARENT_PID])).toEqual(REFUSAL);
    for (const many of [process + 1, process + 2]) expect(judge(program, name, [many, 0])).toEqual(REFUSAL);
  }
});

test("without a pid namespace a run changes no limits and priorities of others", () => {
  for (const siblings of ["unsignalled", "exposed"] as const) {
    const program = createChildFilter("x86_64", siblings);
    for (const name of SET_BY_NUMBER) {
      for (const self of [0, OWN_PID]) expect(judge(program, name, [self])).toBe("allow");
      for (const other of [1, 4242, -1]) expect(judge(program, name, [other])).toEqual(REFUSAL);
    }
    for (const [name, process] of [
      ["setpriority", 0],
      ["ioprio_set", 1],
    ] as const) {
      for (const self of [0, OWN_PID]) expect(judge(program, name, [process, self])).toBe("allow");
      expect(judge(program, name, [process, 4242])).toEqual(REFUSAL);
      // A process group, and all processes of the user.
      for (const many of [process + 1, process + 2]) expect(judge(program, name, [many, 0])).toEqual(REFUSAL);
    }
  }
});

test("without Landlock's scopes too, a run signals itself only", () => {
  const program = createChildFilter("x86_64", "exposed");
  for (const name of ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"] as const) {
    expect(judge(program, name, [OWN_PID, 9])).toBe("allow");
    for (const other of [1, 4242, -1, -4242]) expect(judge(program, name, [other, 9])).toEqual(REFUSAL);
    expect(judge(createChildFilter("x86_64", "unsignalled"), name, [4242, 9])).toBe("allow");
  }
  for (const name of ["tkill", "pidfd_open", "pidfd_send_signal"] as const)
    expect(judge(program, name, [OWN_PID, 9])).toEqual(REFUSAL);
  for (const owning of [8, 15]) expect(judge(program, "fcntl", [3, owning, 4242])).toEqual(REFUSAL);
  for (const owning of [0x8901, 0x8902]) expect(judge(program, "ioctl", [3, owning])).toEqual(REFUSAL);
  for (const other of [1, 4, 10, 1030]) expect(judge(program, "fcntl", [3, other])).toBe("allow");
  expect(judge(program, "ioctl", [3, 0x5421])).toBe("allow");
});

test("takes no leases of files, which those who open them wait for", () => {
  const confined = createConfinedFilter("x86_64", { ...CONFINED, network: "refused" });
  for (const program of [base, own, build, confined]) {
    for (const lease of [1024, 1040]) expect(judge(program, "fcntl", [3, lease, 1])).toEqual(REFUSAL);
    for (const other of [0, 1, 2, 3, 4, 6, 7, 8, 37, 1025, 1030, 1031, 1033])
      expect(judge(program, "fcntl", [3, other, 1])).toBe("allow");
  }
});

test("without an IPC namespace there are no objects that belong to the whole host", () => {
  const confined = createConfinedFilter("x86_64", { ...CONFINED, network: "refused" });
  for (const call of ["shmget", "shmat", "semget", "semop", "msgget", "msgrcv", "mq_open"] as const) {
    expect(judge(confined, call, [])).toEqual({ errno: 38 });
    expect(judge(build, call, [])).toBe("allow");
  }
});

const HEADERS = [
  ["x86_64", "/usr/include/x86_64-linux-gnu/asm/unistd_64.h", 0],
  ["aarch64", "/usr/include/asm-generic/unistd.h", 1],
] as const;
test.each(HEADERS.filter(([, path]) => existsSync(path)))(
  "the numbers of %s are those of the kernel's header %s",
  (_architecture, path, column) => {
    const lines = readFileSync(path, "utf8").matchAll(/^#define __NR(?:3264)?_(\w+)\s+(\d+)$/gmu);
    const header = new Map(Array.from(lines, ([, name, number]) => [name, Number(number)]));
    const newest = Math.max(...header.values());
    const judged = Object.entries(SYSCALLS).filter(([, numbers]) => (numbers[column] ?? 0) < newest);
    expect(judged.map(([name]) => [name, header.get(name) ?? null])).toEqual(
      judged.map(([name, numbers]) => [name, numbers[column]]),
    );
  },
);
