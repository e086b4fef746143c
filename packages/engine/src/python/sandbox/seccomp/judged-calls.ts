import { CORE_LIMIT, OLD_CORE_LIMIT } from "./core-limit.ts";
import type { Clause, Rule } from "./program.ts";

/*
 * Calls that depend on their arguments. Numbers: include/uapi/linux/{sched,mount,socket,in,netlink,personality}.h and
 * asm-generic/ioctls.h of Linux.
 */

const CLONE_NEWNS = 0x0002_0000;
const CLONE_NEWCGROUP = 0x0200_0000;
const CLONE_NEWUTS = 0x0400_0000;
const CLONE_NEWIPC = 0x0800_0000;
const CLONE_NEWUSER = 0x1000_0000;
const CLONE_NEWPID = 0x2000_0000;
const CLONE_NEWNET = 0x4000_0000;
/** Time namespaces cannot be made by clone(2): their bit is part of the signal there. */
const NAMESPACES =
  CLONE_NEWNS + CLONE_NEWCGROUP + CLONE_NEWUTS + CLONE_NEWIPC + CLONE_NEWUSER + CLONE_NEWPID + CLONE_NEWNET;

/** The namespaces that the zygote makes for a run (`isolation.py`). */
const RUN_NAMESPACES = CLONE_NEWUSER + CLONE_NEWNS + CLONE_NEWIPC + CLONE_NEWPID;

/** Processes without namespaces of their own and, unless the network is null, with exactly those of a run. */
export function judgeClone(network: "own" | "shared" | null): Rule {
  const ofRun = network === "own" ? RUN_NAMESPACES + CLONE_NEWNET : RUN_NAMESPACES;
  const allowed = network === null ? [0] : [0, ofRun];
  return {
    calls: ["clone"],
    clauses: [{ when: [{ argument: 0, mask: NAMESPACES, isOneOf: allowed }], verdict: "allow" }],
    otherwise: "EPERM",
  };
}

const MS_NOSUID = 0x2;
const MS_NODEV = 0x4;
const MS_NOEXEC = 0x8;
const MS_BIND = 0x1000;
const MS_REC = 0x4000;

/**
 * The mounts that a child makes before its own filter refuses them all: memory for /tmp, /proc, pseudo-terminals, and folders
 * inside /tmp shown again. No file system's kind can be checked, as its name lies in memory.
 */
export const MOUNTS_OF_A_RUN: Rule = {
  calls: ["mount"],
  clauses: [
    {
      when: [
        {
          argument: 3,
          isOneOf: [
            MS_NOSUID + MS_NODEV,
            MS_NOSUID + MS_NODEV + MS_NOEXEC,
            MS_NOSUID + MS_NOEXEC,
            MS_BIND + MS_REC,
          ],
        },
      ],
      verdict: "allow",
    },
  ],
  otherwise: "EPERM",
};

const PER_LINUX = 0;
const ASK_PERSONALITY = 0xffff_ffff;

/** Other personalities switch off the random layout of memory, or make readable memory executable. */
const PERSONALITY: Rule = {
  calls: ["personality"],
  clauses: [{ when: [{ argument: 0, isOneOf: [PER_LINUX, ASK_PERSONALITY] }], verdict: "allow" }],
  otherwise: "EPERM",
};

const TIOCSTI = 0x5412;
const TIOCLINUX = 0x541c;
const TIOCSETD = 0x5423;
/** FS_IOC_SETFLAGS (of 32 bits too), FS_IOC_SETVERSION, FS_IOC_FSSETXATTR: the owner sets them by a descriptor for reading. */
const FLAGS_OF_FILES = [0x4008_6602, 0x4004_6602, 0x4008_7602, 0x401c_5820];

/**
 * TIOCSTI and TIOCLINUX type into a terminal that the platform was started from (CVE-2017-5226, CVE-2023-28100); TIOCSETD loads
 * line disciplines for modems, which are rarely tested. The kernel ignores the upper half of the argument, and so does this
 * (CVE-2019-10063).
 */
const TERMINALS: Rule = refuseValues("ioctl", [TIOCSTI, TIOCLINUX, TIOCSETD, ...FLAGS_OF_FILES]);

const AF_UNIX = 1;
const AF_INET = 2;
const AF_INET6 = 10;
const AF_NETLINK = 16;
const SOCK_STREAM = 1;
const SOCK_DGRAM = 2;
const SOCK_SEQPACKET = 5;
/** The other bits of the type are SOCK_NONBLOCK and SOCK_CLOEXEC. */
const SOCK_TYPE_MASK = 0xf;
const NETLINK_ROUTE = 0;
const IPPROTO = { any: 0, icmp: 1, tcp: 6, udp: 17, icmpv6: 58 };

const UNIX: Clause = { when: [{ argument: 0, isOneOf: [AF_UNIX] }], verdict: "allow" };
const INTERNET: Clause = {
  when: [
    { argument: 0, isOneOf: [AF_INET, AF_INET6] },
    { argument: 1, mask: SOCK_TYPE_MASK, isOneOf: [SOCK_STREAM, SOCK_DGRAM] },
    { argument: 2, isOneOf: Object.values(IPPROTO) },
  ],
  verdict: "allow",
};
/** Raw sockets, and protocols such as SCTP that the kernel would load a module for. */
const OTHER_INTERNET: Clause = {
  when: [{ argument: 0, isOneOf: [AF_INET, AF_INET6] }],
  verdict: "EPROTONOSUPPORT",
};
/** getaddrinfo(3) asks the kernel by it which addresses there are, and goes on without an answer. */
const ROUTES: Clause = {
  when: [
    { argument: 0, isOneOf: [AF_NETLINK] },
    { argument: 2, isOneOf: [NETLINK_ROUTE] },
  ],
  verdict: "allow",
};

/** Whose network the processes of a sandbox use: each run has an empty one of its own, all share that of the sandbox, or they may use none. */
const CLAUSES_OF_SOCKETS = {
  own: [UNIX, INTERNET, OTHER_INTERNET],
  shared: [UNIX, INTERNET, OTHER_INTERNET, ROUTES],
  refused: [UNIX],
} as const satisfies Readonly<Record<string, readonly Clause[]>>;

type FilteredNetwork = keyof typeof CLAUSES_OF_SOCKETS;

/**
 * UNIX, TCP, UDP and ping. Not: the machine below (AF_VSOCK reaches its hypervisor), crypto (AF_ALG), raw packets, firewalls and
 * other families with modules of their own. Where runs have a network of their own, its maker has CAP_NET_ADMIN over it, and
 * could reach the kernel's traffic control through NETLINK_ROUTE: it is refused there too.
 */
export function judgeSockets(network: FilteredNetwork): Rule {
  return {
    calls: ["socket", "socketpair"],
    clauses: CLAUSES_OF_SOCKETS[network],
    otherwise: "EAFNOSUPPORT",
  };
}

/**
 * Without a mount namespace a version can name the sockets of the host, and Landlock does not judge who connects to those that have a path: a
 * database, a bus. Connected pairs are left, which asyncio and multiprocessing use; those of datagrams could send to any address.
 */
export function judgeSocketsByPath(network: FilteredNetwork): readonly Rule[] {
  return [
    {
      calls: ["socket"],
      clauses: [
        { when: UNIX.when, verdict: "EPERM" },
        ...CLAUSES_OF_SOCKETS[network].filter((clause) => clause !== UNIX),
      ],
      otherwise: "EAFNOSUPPORT",
    },
    {
      calls: ["socketpair"],
      clauses: [
        {
          when: [...UNIX.when, { argument: 1, mask: SOCK_TYPE_MASK, isOneOf: [SOCK_STREAM, SOCK_SEQPACKET] }],
          verdict: "allow",
        },
      ],
      otherwise: "EPERM",
    },
  ];
}

const SOL_SOCKET = 1;
const IPPROTO_IP = 0;
const IPPROTO_IPV6 = 41;
/** Tables of ip_tables and ip6_tables, arp_tables, ebtables: replaced by the first option from each base. */
const REPLACE_TABLE = [64, 96, 128];
/** SO_ATTACH_FILTER, SO_ATTACH_BPF, SO_ATTACH_REUSEPORT_CBPF, SO_ATTACH_REUSEPORT_EBPF. */
const ATTACH_PROGRAM = [26, 50, 51, 52];

/**
 * Rules of the kernel's older firewalls are set by options of sockets: another way to what AF_NETLINK is refused for (CVE-2021-22555).
 *
 * Programs are for sockets of raw packets. The kernel compiles them into memory of which all users of the host have one amount
 * (net.core.bpf_jit_limit), and which no limit of memory counts: 40 KB for each socket, so that one run could use it up. Filters of system
 * calls come from it too: no execution of any version would start.
 */
const SOCKET_OPTIONS: Rule = {
  calls: ["setsockopt"],
  clauses: [
    {
      when: [
        { argument: 1, isOneOf: [IPPROTO_IP, IPPROTO_IPV6] },
        { argument: 2, isOneOf: REPLACE_TABLE },
      ],
      verdict: "EPERM",
    },
    {
      when: [
        { argument: 1, isOneOf: [SOL_SOCKET] },
        { argument: 2, isOneOf: ATTACH_PROGRAM },
      ],
      verdict: "EPERM",
    },
  ],
  otherwise: "allow",
};

/**
 * What epoll watches is counted for each user of the host (fs.epoll.max_user_watches), not for each user namespace: who shares the user of the
 * platform could take all of them, and libuv aborts a Node that gets none. Python's own libraries fall back to poll(2).
 */
export const NO_EPOLL: Rule = { calls: ["epoll_create", "epoll_create1"], verdict: "ENOSYS" };

const PR_SET_SECCOMP = 22;

/** For what prepares nothing any more: filters of its own, which would use up the same memory for compiled programs. */
export const NO_MORE_FILTERS: readonly Rule[] = [
  {
    calls: ["prctl"],
    clauses: [{ when: [{ argument: 0, isOneOf: [PR_SET_SECCOMP] }], verdict: "EPERM" }],
    otherwise: "allow",
  },
  { calls: ["seccomp"], verdict: "ENOSYS" },
];

const F_SETLEASE = 1024;
/** Since Linux 6.19: the same for folders. */
const F_SETDELEG = 1040;

/**
 * Who has a lease of a file keeps others waiting who open it, 45 s for each (fs.lease-break-time). An owner may have one: where versions run as the
 * user of the platform, an execution that had those of the runner let no other version start, and of other files could stop the worker itself.
 */
const LEASES: Rule = refuseValues("fcntl", [F_SETLEASE, F_SETDELEG]);

/** By the second argument. */
function refuseValues(call: "fcntl" | "ioctl", values: readonly number[]): Rule {
  return {
    calls: [call],
    clauses: [{ when: [{ argument: 1, isOneOf: values }], verdict: "EPERM" }],
    otherwise: "allow",
  };
}

const MAP_HUGETLB = 0x4_0000;
const MFD_HUGETLB = 0x4;
const SHM_HUGETLB = 0x800;

/**
 * Pages that the operator has set aside (vm.nr_hugepages), for a database, say: no limit of memory counts them, and a run could take all. Pages
 * that the kernel joins by itself (madvise(2) with MADV_HUGEPAGE) are something else.
 */
const RESERVED_PAGES: readonly Rule[] = [
  refuseFlag("mmap", 3, MAP_HUGETLB),
  refuseFlag("memfd_create", 1, MFD_HUGETLB),
  refuseFlag("shmget", 2, SHM_HUGETLB),
];

function refuseFlag(call: "mmap" | "memfd_create" | "shmget", argument: number, flag: number): Rule {
  return {
    calls: [call],
    clauses: [{ when: [{ argument, mask: flag, isOneOf: [flag] }], verdict: "EPERM" }],
    otherwise: "allow",
  };
}

/** Rules for every sandbox, beside `REFUSED_CALLS`. To stand first: memory is mapped often. */
export const JUDGED_CALLS: readonly Rule[] = [
  ...RESERVED_PAGES,
  PERSONALITY,
  TERMINALS,
  SOCKET_OPTIONS,
  LEASES,
];

/** Stands for the process id of the child, which is known only there: `seccomp.py` replaces it. Above every real one (pid_max). */
const OWN_PID = 0x7fff_fff1;
const SELF = [0, OWN_PID];
/** Stands for the process id of the parent of the process that installs the filter, in the same way. */
const PARENT_PID = 0x7fff_fff2;
/** Stands for the process group of that parent, as kill(2) takes it: its negative number. */
const PARENT_GROUP = 0x7fff_fff3;

/**
 * Without an IPC namespace these are objects of the whole host, by keys and numbers that anybody can guess: siblings, which are one
 * user, read them, and they outlive the processes of a version. Memory is shared with own processes by mmap(2) or a file.
 */
export const SHARED_IPC: Rule = {
  calls: [
    ...(["shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl"] as const),
    ...(["msgget", "msgsnd", "msgrcv", "msgctl", "mq_open", "mq_unlink"] as const),
  ],
  verdict: "ENOSYS",
};

const PRIO_PROCESS = 0;
const IOPRIO_WHO_PROCESS = 1;
const OF_SELF: Clause = { when: [{ argument: 0, isOneOf: SELF }], verdict: "allow" };
const OF_PARENT: Clause = { when: [{ argument: 0, isOneOf: [PARENT_PID] }], verdict: "EPERM" };
const SETTINGS_BY_NUMBER = [
  "sched_setaffinity",
  "sched_setattr",
  "sched_setparam",
  "sched_setscheduler",
] as const;

/**
 * Without a pid namespace a run can name its siblings: changing their limits and priority. Also without a number: PRIO_USER is all processes of
 * its user, which 0 stands for.
 */
export const SETTINGS_OF_OTHERS: readonly Rule[] = [
  { calls: ["prlimit64"], clauses: [...CORE_LIMIT, OF_SELF], otherwise: "EPERM" },
  OLD_CORE_LIMIT,
  { calls: SETTINGS_BY_NUMBER, clauses: [OF_SELF], otherwise: "EPERM" },
  allowForSelf("setpriority", PRIO_PROCESS),
  allowForSelf("ioprio_set", IOPRIO_WHO_PROCESS),
];

function allowForSelf(call: "setpriority" | "ioprio_set", process: number): Rule {
  const when = [
    { argument: 0, isOneOf: [process] },
    { argument: 1, isOneOf: SELF },
  ];
  return { calls: [call], clauses: [{ when, verdict: "allow" }], otherwise: "EPERM" };
}

/**
 * The warden of a version (`confine.py`) is of the version's user: code at import could lower its limit of processor time, at which the kernel
 * kills it, or its priority, so that it never runs. What it has started would live on. Landlock does not judge either.
 */
export const SETTINGS_OF_PARENT: readonly Rule[] = [
  { calls: ["prlimit64"], clauses: [OF_PARENT, ...CORE_LIMIT], otherwise: "allow" },
  OLD_CORE_LIMIT,
  { calls: SETTINGS_BY_NUMBER, clauses: [OF_PARENT], otherwise: "allow" },
  refuseForParent("setpriority", PRIO_PROCESS),
  refuseForParent("ioprio_set", IOPRIO_WHO_PROCESS),
];

/** Also for groups of processes, which the parent may be in. */
function refuseForParent(call: "setpriority" | "ioprio_set", process: number): Rule {
  const ofProcess = { argument: 0, isOneOf: [process] };
  return {
    calls: [call],
    clauses: [
      { when: [ofProcess, { argument: 1, isOneOf: [PARENT_PID] }], verdict: "EPERM" },
      { when: [ofProcess], verdict: "allow" },
    ],
    otherwise: "EPERM",
  };
}

const F_SETOWN = 8;
const F_SETOWN_EX = 15;
const FIOSETOWN = 0x8901;
const SIOCSPGRP = 0x8902;

/**
 * Where Landlock cannot keep signals inside a run either: it may send them to itself only, and its own processes have to end by themselves. The
 * owner of a file or socket gets signals too, any that is chosen (F_SETSIG), when something can be read.
 */
export const SIGNALS_TO_OTHERS: readonly Rule[] = [
  {
    calls: ["kill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"],
    clauses: [{ when: [{ argument: 0, isOneOf: SELF }], verdict: "allow" }],
    otherwise: "EPERM",
  },
  { calls: ["tkill", "pidfd_open", "pidfd_send_signal"], verdict: "EPERM" },
  refuseValues("fcntl", [F_SETOWN, F_SETOWN_EX]),
  refuseValues("ioctl", [FIOSETOWN, SIOCSPGRP]),
];

/** kill(2) with -1. */
const EVERYBODY = 0xffff_ffff;

/**
 * Where Landlock does not keep signals from the warden: code at import could end or stop it, and what it has started would live on. The zygote
 * signals its children, so who may be signalled cannot be listed, only who may not: the warden is one process with one thread, in a group that
 * the version is not in. A descriptor names a process that is not seen here (pidfd_open(2), a folder of /proc), as the owner of a file may do.
 *
 * To stand ahead of `JUDGED_CALLS`, of which it repeats what concerns the same calls.
 */
export const SIGNALS_TO_PARENT: readonly Rule[] = [
  {
    calls: ["kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo"],
    clauses: [{ when: [{ argument: 0, isOneOf: [PARENT_PID, PARENT_GROUP, EVERYBODY] }], verdict: "EPERM" }],
    otherwise: "allow",
  },
  { calls: ["pidfd_send_signal"], verdict: "EPERM" },
  refuseValues("fcntl", [F_SETLEASE, F_SETDELEG, F_SETOWN, F_SETOWN_EX]),
  refuseValues("ioctl", [TIOCSTI, TIOCLINUX, TIOCSETD, FIOSETOWN, SIOCSPGRP, ...FLAGS_OF_FILES]),
];
