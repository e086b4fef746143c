import { open } from "node:fs/promises";

/** Makes what was created, linked or renamed in a directory last through a power cut (fsync(2)). */
export async function syncDirectory(path: string): Promise<void> {
  const directory = await open(path, "r");
  try {
    await directory.sync();
  } finally {
    await directory.close();
  }
}
