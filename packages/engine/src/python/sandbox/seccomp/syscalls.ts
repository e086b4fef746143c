/*
 * Facts about Linux that the filters are made of. Numbers: arch/x86/include/generated/uapi/asm/unistd_64.h for x86_64,
 * include/uapi/asm-generic/unistd.h for aarch64; null where the architecture has no such call. From 424 on they are the same
 * on both.
 */

/** The processors that filters are assembled for. */
export type Architecture = "x86_64" | "aarch64";

/** AUDIT_ARCH_* of include/uapi/linux/audit.h, which seccomp reports with each call. */
export const AUDIT_NUMBERS: Readonly<Record<Architecture, number>> = {
  x86_64: 0xc000_003e,
  aarch64: 0xc000_00b7,
};

/** Calls of the x32 interface have this bit on x86_64 (asm/unistd.h): they reach the same kernel by other numbers. */
export const X32_BIT = 0x4000_0000;

/** The last call that the rules were written for, `mseal` of Linux 6.10: what is newer has not been judged. */
export const NEWEST_JUDGED = 462;

type Numbers = readonly [x86_64: number | null, aarch64: number | null];

/** Calls that a rule names. */
export const SYSCALLS = {
  _sysctl: [156, null],
  acct: [163, 89],
  add_key: [248, 217],
  adjtimex: [159, 171],
  afs_syscall: [183, null],
  bpf: [321, 280],
  cachestat: [451, 451],
  chroot: [161, 51],
  clock_adjtime: [305, 266],
  clock_settime: [227, 112],
  clone: [56, 220],
  clone3: [435, 435],
  create_module: [174, null],
  delete_module: [176, 106],
  epoll_ctl_old: [214, null],
  epoll_wait_old: [215, null],
  fanotify_init: [300, 262],
  fanotify_mark: [301, 263],
  finit_module: [313, 273],
  fsconfig: [431, 431],
  fsmount: [432, 432],
  fsopen: [430, 430],
  fspick: [433, 433],
  get_kernel_syms: [177, null],
  getpmsg: [181, null],
  init_module: [175, 105],
  io_setup: [206, 0],
  io_uring_enter: [426, 426],
  io_uring_register: [427, 427],
  io_uring_setup: [425, 425],
  ioctl: [16, 29],
  ioperm: [173, null],
  iopl: [172, null],
  ioprio_set: [251, 30],
  kcmp: [312, 272],
  kexec_file_load: [320, 294],
  kexec_load: [246, 104],
  keyctl: [250, 219],
  kill: [62, 129],
  listmount: [458, 458],
  lookup_dcookie: [212, 18],
  lsm_get_self_attr: [459, 459],
  lsm_list_modules: [461, 461],
  lsm_set_self_attr: [460, 460],
  mbind: [237, 235],
  memfd_create: [319, 279],
  memfd_secret: [447, 447],
  migrate_pages: [256, 238],
  mmap: [9, 222],
  modify_ldt: [154, null],
  mount: [165, 40],
  mount_setattr: [442, 442],
  move_mount: [429, 429],
  move_pages: [279, 239],
  mq_open: [240, 180],
  mq_unlink: [241, 181],
  msgctl: [71, 187],
  msgget: [68, 186],
  msgrcv: [70, 188],
  msgsnd: [69, 189],
  name_to_handle_at: [303, 264],
  nfsservctl: [180, 42],
  open_by_handle_at: [304, 265],
  open_tree: [428, 428],
  perf_event_open: [298, 241],
  personality: [135, 92],
  pidfd_getfd: [438, 438],
  pidfd_open: [434, 434],
  pidfd_send_signal: [424, 424],
  pivot_root: [155, 41],
  prlimit64: [302, 261],
  process_madvise: [440, 440],
  process_mrelease: [448, 448],
  process_vm_readv: [310, 270],
  process_vm_writev: [311, 271],
  ptrace: [101, 117],
  putpmsg: [182, null],
  query_module: [178, null],
  quotactl: [179, 60],
  quotactl_fd: [443, 443],
  reboot: [169, 142],
  request_key: [249, 218],
  rt_sigqueueinfo: [129, 138],
  rt_tgsigqueueinfo: [297, 240],
  sched_setaffinity: [203, 122],
  sched_setattr: [314, 274],
  sched_setparam: [142, 118],
  sched_setscheduler: [144, 119],
  security: [185, null],
  semctl: [66, 191],
  semget: [64, 190],
  semop: [65, 193],
  semtimedop: [220, 192],
  set_mempolicy: [238, 237],
  set_mempolicy_home_node: [450, 450],
  setdomainname: [171, 162],
  sethostname: [170, 161],
  setns: [308, 268],
  setpriority: [141, 140],
  setsockopt: [54, 208],
  settimeofday: [164, 170],
  shmat: [30, 196],
  shmctl: [31, 195],
  shmget: [29, 194],
  socket: [41, 198],
  socketpair: [53, 199],
  statmount: [457, 457],
  swapoff: [168, 225],
  swapon: [167, 224],
  sync: [162, 81],
  syncfs: [306, 267],
  sysfs: [139, null],
  syslog: [103, 116],
  tgkill: [234, 131],
  tkill: [200, 130],
  tuxcall: [184, null],
  umount2: [166, 39],
  unshare: [272, 97],
  uselib: [134, null],
  userfaultfd: [323, 282],
  ustat: [136, null],
  vhangup: [153, 58],
  vmsplice: [278, 75],
  vserver: [236, null],
} as const satisfies Readonly<Record<string, Numbers>>;

/** A call that a rule names. */
export type SyscallName = keyof typeof SYSCALLS;

/** The number of a call; null where the architecture does not have it. */
export function findNumber(name: SyscallName, architecture: Architecture): number | null {
  return SYSCALLS[name][architecture === "x86_64" ? 0 : 1];
}

/** The architecture of a name as Node.js has it (`process.arch`); null: there are no filters for it. */
export function findArchitecture(name: string): Architecture | null {
  if (name === "x64") return "x86_64";
  return name === "arm64" ? "aarch64" : null;
}
