/** The debugger of a Node process that was started with `--inspect=127.0.0.1:0` (Chrome DevTools Protocol). */
export interface Inspector {
  /** Bytes that are in use after everything unused was collected. */
  readonly measureHeap: () => Promise<number>;
  readonly close: () => void;
}

/** `log`: what the process wrote at its start, with the debugger's address. */
export async function openInspector(log: string): Promise<Inspector> {
  const url = /ws:\/\/127\.0\.0\.1:\d+\/[\w-]+/.exec(log)?.[0];
  if (url === undefined) throw new Error(`the log names no debugger:\n${log}`);
  const socket = new WebSocket(url);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve, { once: true });
    socket.addEventListener("error", reject, { once: true });
  });
  const waiting = new Map<number, (result: Readonly<Record<string, number>>) => void>();
  socket.addEventListener("message", ({ data }) => {
    const { id, result } = JSON.parse(String(data)) as { id: number; result: Record<string, number> };
    waiting.get(id)?.(result);
  });
  let count = 0;
  const call = (method: string) =>
    new Promise<Readonly<Record<string, number>>>((resolve) => {
      waiting.set((count += 1), resolve);
      socket.send(JSON.stringify({ id: count, method }));
    });
  return {
    measureHeap: async () => {
      // Twice: finalizers of the first round free more.
      await call("HeapProfiler.collectGarbage");
      await call("HeapProfiler.collectGarbage");
      const { usedSize = 0, backingStorageSize = 0 } = await call("Runtime.getHeapUsage");
      return usedSize + backingStorageSize;
    },
    close: () => socket.close(),
  };
}
