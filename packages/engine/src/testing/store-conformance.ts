import { afterAll, beforeAll, describe } from "vitest";
import type { ExecutionStore } from "../store/execution-store.ts";
import { describeClaim, describeCreate } from "./claim-conformance.ts";
import { describeCancel, describeFinish, describeGiveBack, describeLeases } from "./ending-conformance.ts";
import { describeForesight } from "./foresight-conformance.ts";
import { describeClasses } from "./class-conformance.ts";
import { describeDeadlines } from "./deadline-conformance.ts";
import { describeHeld } from "./held-conformance.ts";
import { describeLimited } from "./limited-conformance.ts";
import { createLimitedQueue } from "./limited-queue.ts";
import type { LimitedQueue, LimitsUnderTest } from "./limited-queue.ts";
import { describeLive } from "./live-conformance.ts";
import { describeBatches } from "./batch-conformance.ts";
import { describeIdempotency } from "./idempotency-conformance.ts";
import { describePreparing } from "./preparing-conformance.ts";
import { describeProgress } from "./progress-conformance.ts";
import { describeRetries } from "./retries-conformance.ts";
import { describeExternal } from "./external-conformance.ts";
import { describeFairness } from "./queue-conformance.ts";
import {
  describeDigests,
  describeEvents,
  describeKept,
  describeList,
  describeLog,
  describeResult,
} from "./reading-conformance.ts";
import { describeWorkers } from "./worker-conformance.ts";
import { describeWatching } from "./watching-conformance.ts";

/** What a test needs of an adapter. `close` frees everything, the store included. */
export interface StoreUnderTest {
  readonly store: ExecutionStore;
  readonly limits: LimitsUnderTest;
  readonly close: () => Promise<void>;
}

/**
 * The promises of an ExecutionStore, tried on an adapter. `create` gives a store of its own, empty and ready; it is opened
 * once, and every test settles or claims what it has created.
 */
export function describeExecutionStore(name: string, create: () => Promise<StoreUnderTest>): void {
  describe(`${name} as an execution store`, () => {
    let opened: StoreUnderTest | null = null;
    beforeAll(async () => {
      opened = await create();
    });
    afterAll(async () => {
      await opened?.close();
    });
    const open = () => {
      if (opened === null) throw new Error("The store is not open.");
      return opened;
    };
    const use = () => open().store;
    let queue: LimitedQueue | null = null;
    const useQueue = () => (queue ??= createLimitedQueue(use(), open().limits));
    describeCreate(use);
    describeIdempotency(use);
    describeForesight(use);
    describeBatches(use);
    describeClaim(use);
    describeFairness(use);
    describeHeld(use);
    describeLimited(useQueue);
    describeClasses(use);
    describeDeadlines(use);
    describeLive(use);
    describeWorkers(use);
    describeFinish(use);
    describeCancel(use);
    describeLeases(use);
    describeGiveBack(use);
    describePreparing(use);
    describeProgress(use);
    describeRetries(use);
    describeExternal(use);
    describeResult(use);
    describeDigests(use);
    describeLog(use);
    describeList(use);
    describeKept(use);
    describeEvents(use);
    describeWatching(use);
  });
}
