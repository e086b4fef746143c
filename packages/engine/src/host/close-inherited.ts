import { closeSync, readdirSync, readFileSync } from "node:fs";

const STANDARD_ERROR = 2;
/** O_CLOEXEC of Linux. */
const CLOSE_ON_EXEC = 0o2000000;

/**
 * Closes what the program that started this one has left open. Node.js passes such descriptors on to what it starts, above 16 at least: code of
 * a version that runs before the runner (a hijacked interpreter, a .pth file) could read there what was never mounted for it. To be called before
 * anything else is started; what Node.js has opened itself is not inherited and stays. Does nothing where the system does not list descriptors.
 */
export function closeInherited(): void {
  for (const descriptor of listDescriptors()) if (isInherited(descriptor)) closeSync(descriptor);
}

function listDescriptors(): readonly number[] {
  try {
    return readdirSync("/proc/self/fd")
      .map(Number)
      .filter((descriptor) => descriptor > STANDARD_ERROR);
  } catch {
    return [];
  }
}

function isInherited(descriptor: number): boolean {
  try {
    const flags = /^flags:\s*(\d+)$/mu.exec(readFileSync(`/proc/self/fdinfo/${descriptor}`, "latin1"))?.[1];
    return flags !== undefined && (Number.parseInt(flags, 8) & CLOSE_ON_EXEC) === 0;
  } catch {
    return false; // That of the listing: it is closed already.
  }
}
