import type { MissingPiece, SandboxPiece } from "@platform/contract/sandbox";

/** How to get bubblewrap itself. */
export const INSTALL_BUBBLEWRAP =
  "Install the package `bubblewrap` (apt-get install bubblewrap, dnf install bubblewrap).";

/** At level C nothing else keeps a version from what Landlock does not judge. */
export const SHARED_USER: MissingPiece = {
  piece: "users of their own",
  why: "Versions run as the user of this process, and may change the permissions, times and attributes of all its files, and the limits and priorities of its processes: all deployed code must be trusted.",
  remedy: "Run the worker as root: each version then has a user of its own.",
};

/** How to get a piece that was tried and does not work; for the operator. `docs/guide/isolation.md` has the same in full. */
export const REMEDIES: Readonly<
  Record<Exclude<SandboxPiece, "network" | "control groups" | "users of their own">, string>
> = {
  "user namespaces":
    "Allow unprivileged user namespaces (sysctl kernel.unprivileged_userns_clone=1, or kernel.apparmor_restrict_unprivileged_userns=0 on newer Ubuntu; user.max_user_namespaces must not be 0); in a container, its seccomp profile must allow clone, unshare and mount, and /proc must not be masked (Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined; Kubernetes: a seccomp profile of type Unconfined and procMount: Unmasked).",
  seccomp:
    "Use a kernel with CONFIG_SECCOMP_FILTER on x86_64 or aarch64; in a container, its seccomp profile must allow prctl and seccomp.",
  Landlock:
    "Use Linux 5.19 or newer with `landlock` in /sys/kernel/security/lsm (kernel parameter lsm=landlock,...); in a container, its seccomp profile must allow the three calls landlock_* (Docker 20.10.11 or newer does).",
};
