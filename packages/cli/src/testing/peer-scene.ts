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

/** Makes the scene of a file before each of its tests. */
export function usePeer(): PeerScene {
  let scene: Pick<PeerScene, "home" | "peer"> | undefined;
  const read = () => {
    if (scene === undefined) throw new Error("The scene is there in tests only.");
    return scene;
  };
  beforeEach(async () => {
    const [home, peer] = await Promise.all([createCliHome(), startPlatformPeer()]);
    scene = { home, peer };
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
