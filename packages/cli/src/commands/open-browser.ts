import { findExecutables } from "@platform/engine/host/find-executables";
import { spawnTrusted } from "@platform/engine/host/processes";
import type { Settings } from "../base/settings.ts";

/** Shows a page of http or https in the user's browser, if there is one. Never fails: the user has the address as well. */
export async function openBrowser(text: string, { searchPath, hostVariables }: Settings): Promise<void> {
  const url = parseUrl(text);
  const [name, ...args] = findOpener(hostVariables);
  if (url === null || name === undefined) return;
  const [program] = await findExecutables(name, searchPath);
  if (program === undefined) return;
  const env = listVariables(hostVariables);
  const child = spawnTrusted(program, [...args, url.href], { env, stdio: "ignore", detached: true });
  child.on("error", () => undefined);
  child.unref();
}

/** The address is from a server: it must not name a file or an option. */
function parseUrl(text: string): URL | null {
  try {
    const url = new URL(text);
    return url.protocol === "https:" || url.protocol === "http:" ? url : null;
  } catch {
    return null;
  }
}

/** Program and arguments; none: there is no browser with windows, and one in the terminal would get in the way. */
function findOpener(variables: Settings["hostVariables"]): readonly string[] {
  if (process.platform === "darwin") return ["open"];
  if (process.platform === "win32") return ["rundll32.exe", "url.dll,FileProtocolHandler"];
  return variables["DISPLAY"] || variables["WAYLAND_DISPLAY"] ? ["xdg-open"] : [];
}

/** The user's own, but for those of the platform: a browser needs no token. */
function listVariables(variables: Settings["hostVariables"]): Readonly<Record<string, string>> {
  return Object.fromEntries(
    Object.entries(variables).flatMap(([name, value]) =>
      value === undefined || name.startsWith("PLATFORM_") ? [] : [[name, value]],
    ),
  );
}
