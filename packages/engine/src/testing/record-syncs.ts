import { readlinkSync } from "node:fs";
import { open } from "node:fs/promises";

/** For tests on Linux: the paths that this process fsyncs, in order, until `stop`; `onSync` runs before each, and is waited for. */
export async function recordSyncs(onSync: (path: string) => unknown = () => undefined): Promise<{
  readonly paths: string[];
  readonly stop: () => void;
}> {
  const handle = await open("/dev/null");
  const prototype: { sync: (this: { readonly fd: number }) => Promise<void> } = Object.getPrototypeOf(handle);
  await handle.close();
  const { sync } = prototype;
  const paths: string[] = [];
  prototype.sync = async function record() {
    const path = readlinkSync(`/proc/self/fd/${this.fd}`);
    paths.push(path);
    await onSync(path);
    return sync.call(this);
  };
  return { paths, stop: () => void (prototype.sync = sync) };
}
