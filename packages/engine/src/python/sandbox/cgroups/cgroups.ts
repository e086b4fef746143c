/** Limits of the processes in one group; the kernel enforces them for all of them together. */
export interface GroupLimits {
  /** Private, shared and temporary memory, and the page cache of the files that they read. */
  readonly memoryBytes: number;
  /** Processors: 0.5 is half of one. */
  readonly cpus: number;
  /** Processes and threads. */
  readonly processes: number;
}

/** What the processes of a group have used since `begin`. */
interface GroupUsage {
  readonly cpuSeconds: number;
  /** Largest amount at any time; null: this kernel cannot measure it anew (cgroup v2 before Linux 6.12). */
  readonly peakMemoryBytes: number | null;
  /** Processes that the kernel killed because the group was at its own limit of memory, and not for want of memory elsewhere; version 2 counts one of them twice. */
  readonly outOfMemoryKills: number;
}

/** A process. Its number may be given to another one once it has ended; with the time of its start (`readStartTime`) it is unique. */
export interface KnownProcess {
  readonly pid: number;
  readonly start: string;
}

/** A control group of one run, used by one run after the other, or of a zygote. The methods throw the system's error. */
export interface Group {
  /** Opens the files that a process writes "0" to in order to join; the caller closes them. A process without any rights may write to them. */
  readonly openJoins: () => number[];
  readonly limit: (limits: GroupLimits) => void;
  /** Starts a new measurement. */
  readonly begin: () => void;
  readonly measure: () => GroupUsage;
  /**
   * Moves a process into it, by its number for this process, with its threads. Rejects when the system refuses it, or it has ended: another
   * process that was given its number is put back, and not killed.
   */
  readonly enter: (process: KnownProcess) => Promise<void>;
  readonly isEmpty: () => boolean;
  /**
   * Its memory in bytes without the page cache of disks, which the kernel gives back by itself; 0 when it is little. Once it is empty, what
   * ended processes have left: files that they sent away, buffers of pipes and sockets that others have open.
   */
  readonly readHeldMemory: () => number;
  /** SIGKILL to all its processes, but to none while one enters; a process that forks meanwhile may need another call (cgroup v1). */
  readonly kill: () => void;
  /** Kills what is left in it and removes it. False: processes of it did not end in time; it is removed with the worker's own group. */
  readonly remove: () => Promise<boolean>;
}

/** Creates the groups of one worker. Two adapters: cgroup v1 and v2. */
export interface Cgroups {
  readonly version: 1 | 2;
  readonly create: (name: string) => Group;
  /** A process enters or joins one of the groups in 10 to 20 ms, and shall not wait then. Never throws. */
  readonly expectEntry: () => void;
  /** Removes the worker's own group with all those that were created in it. It exists from the first `create` on, again after this. */
  readonly close: () => Promise<boolean>;
}
