import type { Outcome } from "@platform/engine/python/port/runtime";
import type { Claim, ExecutionStore } from "@platform/engine/store/execution-store";

/** What a run has said before it ended. */
interface Said {
  readonly log?: readonly string[];
  /** Its last checkpoint, as JSON. */
  readonly checkpoint?: string;
}

/** Runs the jobs of the peer, as far as a test says so. */
export interface PeerJobs {
  /** Runs every job that is waiting and ends it so; gives the bodies that they were started with. */
  readonly finishJobs: (outcome: Outcome, said?: Said) => Promise<readonly string[]>;
  /** Adds a line to the log of the job that waits first, which runs from then on. */
  readonly writeLine: (line: string) => Promise<void>;
}

export function createPeerJobs(store: ExecutionStore): PeerJobs {
  const running: Claim[] = [];
  return {
    finishJobs: async (outcome, { log = [], checkpoint } = {}) => {
      const claims = [...running.splice(0), ...(await claimJobs(store))];
      for (const claim of claims) {
        await store.appendLog(claim, toLines(log));
        if (checkpoint !== undefined)
          await store.noteProgress(claim, { progress: null, checkpoint: Buffer.from(checkpoint) });
        await store.finish(claim, outcome);
      }
      return claims.map((claim) => Buffer.from(claim.body).toString("utf8"));
    },
    writeLine: async (line) => {
      running.push(...(await claimJobs(store)));
      for (const claim of running) await store.appendLog(claim, toLines([line]));
    },
  };
}

async function claimJobs(store: ExecutionStore): Promise<readonly Claim[]> {
  const { claims } = await store.claim({
    workerId: "w",
    sandboxLevel: "B",
    limit: 100,
    free: { cpu: 100, memory: 100 },
    leaseSeconds: 60,
    excludedVersionIds: [],
  });
  return claims;
}

function toLines(messages: readonly string[]) {
  return messages.map((message) => ({ time: Date.now(), severity: "INFO" as const, message }));
}
