/** The cap of an execution's owner, after it was created. */
export interface ExecutionQuota {
  /** What the cap counts. */
  readonly unit: "execution" | "cpu-second";
  /** Units of each month. */
  readonly cap: number;
  /** Units that are left until `renewsAt`; of CPU-seconds to a millionth. */
  readonly left: number;
  /** Milliseconds since the epoch. */
  readonly renewsAt: number;
}

/** The headers that tell a caller of it. */
export function describeQuota({ cap, left, renewsAt }: ExecutionQuota): Readonly<Record<string, string>> {
  return {
    "x-quota-limit": String(cap),
    "x-quota-remaining": String(left),
    "x-quota-reset": new Date(renewsAt).toISOString(),
  };
}
