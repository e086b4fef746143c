import type { Rule } from "./program.ts";

/**
 * Calls that no service has a use for, and that attacks on the kernel or on other processes begin with. Most need a capability
 * that the sandbox does not have, but a user namespace gives capabilities over itself: what the kernel checks there is more code
 * to trust. The default profiles of Docker and Flatpak refuse nearly the same; where these rules go further, the reason is given.
 *
 * The errors: ENOSYS where libraries have another way on kernels without the call, else EPERM.
 */
export const REFUSED_CALLS = [
  {
    reason:
      "Reading, writing and steering other processes, and taking descriptors from them. Docker allows some of it among the processes of a container; here these are of several callers.",
    calls: ["ptrace", "process_vm_readv", "process_vm_writev", "pidfd_getfd", "kcmp"],
    verdict: "EPERM",
  },
  {
    reason:
      "Advice on the memory of other processes; allocators use it on themselves, and madvise(2) instead.",
    calls: ["process_madvise", "process_mrelease"],
    verdict: "ENOSYS",
  },
  {
    reason:
      "Namespaces of another kind than a run gets. The flags of clone3 lie in memory, where no filter sees them: glibc falls back to clone, which has a rule of its own.",
    calls: ["clone3"],
    verdict: "ENOSYS",
  },
  { reason: "Entering namespaces of other processes.", calls: ["setns"], verdict: "EPERM" },
  {
    reason:
      "Another root, and mounts by other ways than mount(2), whose flags are checked: this interface passes them in memory or in pieces.",
    calls: [
      "chroot",
      "pivot_root",
      "umount2",
      "open_tree",
      "move_mount",
      "fsopen",
      "fsconfig",
      "fsmount",
      "fspick",
      "mount_setattr",
    ],
    verdict: "EPERM",
  },
  {
    reason:
      "Opening a file by its number instead of its path leads around bind mounts (the Docker escape `shocker`).",
    calls: ["open_by_handle_at", "name_to_handle_at"],
    verdict: "EPERM",
  },
  {
    reason:
      "Large parts of the kernel with many past errors, reached by a program of the caller's. Tracing also reads other processes.",
    calls: ["bpf", "perf_event_open"],
    verdict: "EPERM",
  },
  {
    reason:
      "A second way to do most calls, which filters do not see, and a frequent source of errors. libuv and others fall back to epoll.",
    calls: ["io_uring_setup", "io_uring_enter", "io_uring_register"],
    verdict: "ENOSYS",
  },
  {
    reason:
      "Requests of asynchronous input and output are counted for the whole machine (fs.aio-max-nr): a run could take all of them from the host's databases.",
    calls: ["io_setup"],
    verdict: "ENOSYS",
  },
  {
    reason: "Stops the kernel at a chosen access to memory, which makes races in it easy to win.",
    calls: ["userfaultfd"],
    verdict: "EPERM",
  },
  {
    reason:
      "Lends pages of the process to a pipe, where the kernel shares them: part of several attacks on it. coreutils' only use of it has a fallback.",
    calls: ["vmsplice"],
    verdict: "EPERM",
  },
  {
    reason: "Memory that neither the limits of a run nor a dump of the machine can see.",
    calls: ["memfd_secret"],
    verdict: "ENOSYS",
  },
  {
    reason: "Keys belong to users and sessions, not to namespaces: runs of one user would share them.",
    calls: ["add_key", "request_key", "keyctl"],
    verdict: "EPERM",
  },
  {
    reason:
      "Placing memory on nodes, also that of other processes: a matter of the operator. OpenBLAS ignores the refusal, as in Docker.",
    calls: ["mbind", "set_mempolicy", "set_mempolicy_home_node", "migrate_pages", "move_pages"],
    verdict: "EPERM",
  },
  {
    reason:
      "Watching files of a whole mount, and what is mounted or cached of files that a run may only read.",
    calls: ["fanotify_init", "fanotify_mark", "lookup_dcookie"],
    verdict: "EPERM",
  },
  {
    reason:
      "New and of use to tools of the system only: the table of mounts, contents of the page cache, security modules.",
    calls: [
      "statmount",
      "listmount",
      "cachestat",
      "lsm_get_self_attr",
      "lsm_set_self_attr",
      "lsm_list_modules",
    ],
    verdict: "ENOSYS",
  },
  {
    reason:
      "Waits until the disks of the host have written everything, which slows its databases. All that a service may write is temporary: nothing is lost when it does not happen.",
    calls: ["sync", "syncfs"],
    verdict: "done",
  },
  {
    reason:
      "The machine itself: its kernel, modules, swap, quotas, clock, names, log, consoles, ports and accounting.",
    calls: [
      "kexec_load",
      "kexec_file_load",
      "init_module",
      "finit_module",
      "delete_module",
      "reboot",
      "swapon",
      "swapoff",
      "quotactl",
      "quotactl_fd",
      "acct",
      "clock_settime",
      "clock_adjtime",
      "settimeofday",
      "adjtimex",
      "sethostname",
      "setdomainname",
      "syslog",
      "vhangup",
      "iopl",
      "ioperm",
    ],
    verdict: "EPERM",
  },
  {
    reason:
      "Segments of 16-bit programs: used by emulators only, with a history of errors in the way back from the kernel.",
    calls: ["modify_ldt"],
    verdict: "EPERM",
  },
  {
    reason: "Obsolete: most kernels no longer have them, and those that do need not be trusted in this.",
    calls: [
      "_sysctl",
      "afs_syscall",
      "create_module",
      "epoll_ctl_old",
      "epoll_wait_old",
      "get_kernel_syms",
      "getpmsg",
      "nfsservctl",
      "putpmsg",
      "query_module",
      "security",
      "sysfs",
      "tuxcall",
      "uselib",
      "ustat",
      "vserver",
    ],
    verdict: "ENOSYS",
  },
] as const satisfies readonly (Rule & { readonly reason: string })[];
