import { spawnSync } from "node:child_process";
import { execPath } from "node:process";
import { REPOSITORY } from "../../../../tools/platform-process.ts";
import { offerSharedPlatform } from "./shared-platform.ts";

/** The console that the stories open is built of what is there now. */
export function setup(): Promise<() => Promise<void>> {
  const { status } = spawnSync(execPath, ["tools/build-console.ts"], { cwd: REPOSITORY, stdio: "inherit" });
  if (status !== 0) throw new Error("the console could not be built");
  return offerSharedPlatform();
}
