/** The hierarchies that limit or measure a run; some systems mount `cpu` and `cpuacct` as one. */
export const V1_CONTROLLERS = ["memory", "cpu", "cpuacct", "pids"] as const;

/** A path for each controller. */
export type V1Folders = Readonly<Record<(typeof V1_CONTROLLERS)[number], string>>;
