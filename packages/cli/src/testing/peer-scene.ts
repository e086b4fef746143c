import { afterEach, beforeEach } from "vitest";
import { createCliHome } from "./cli-process.ts";
import type { CliHome, RunOptions } from "./cli-process.ts";
import { TOKEN, startPlatformPeer } from "./platform-peer.ts";
import type { PlatformPeer } from "./platform-peer.ts";

/** A user who is logged in by variables, and the platform that answers; both are new for each test of the file. */
export interface PeerScene {
  readonly home: CliHome;
  readonly peer: PlatformPeer;
  readonly run: (words: readonly string[], options?: RunOptions) => ReturnType<CliHome["run"]>;
}

interface PeerSceneOptions {
  /** Name of a service that the organisation has; missing: it has none. */
  readonly service?: string;
}

/** Makes the scene of a file before each of its tests. */
export function usePeer({ service }: PeerSceneOptions = {}): PeerScene {
  let scene: Pick<PeerScene, "home" | "peer"> | undefined;
  const read = () => {
    if (scene === undefined) throw new Error("The scene is there in tests only.");
    return scene;
  };
  beforeEach(async () => {
    const [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
    scene = { home, peer };
    if (service !== undefined) await createService(peer, service);
  });
  afterEach(() => Promise.all([scene?.home.close(), scene?.peer.close()]));
  return {
    get home() {
      return read().home;
    },
    get peer() {
      return read().peer;
    },
    run: (words, options = {}) => {
      const { home, peer } = read();
      const login = { PLATFORM_ENDPOINT: peer.url, PLATFORM_PERSONAL_ACCESS_TOKEN: TOKEN };
      return home.run(words, { ...options, variables: { ...login, ...options.variables } });
    },
  };
}

async function createService({ url }: PlatformPeer, name: string): Promise<void> {
  const { ok, status } = await fetch(`${url}/api/services`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: `Bearer ${TOKEN}` },
    body: JSON.stringify({ name }),
  });
  if (!ok) throw new Error(`the service was not created: ${status}`);
}
