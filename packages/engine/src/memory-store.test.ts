import { createMemoryStore } from "./memory-store.ts";
import { describeExecutionStore } from "./testing/store-conformance.ts";

describeExecutionStore("memory", async () => ({ store: createMemoryStore(), close: async () => undefined }));
