import { connect, createServer } from "node:net";
import type { AddressInfo, Socket } from "node:net";
import type { CutWay } from "./schedule.ts";

/** The way of one process to the database, which can be cut. */
export interface Link {
  readonly port: number;
  /** Bytes are held back, and new connections wait. */
  readonly cut: (way: CutWay) => void;
  /** What was held back arrives, late, as where a network sends lost packets again; or all connections break, and it is lost. */
  readonly heal: (isReset: boolean) => void;
  readonly close: () => Promise<void>;
}

interface Pair {
  /** Of the process. */
  readonly inner: Socket;
  /** To the database. */
  readonly outer: Socket;
}

/** A proxy in this process, to a port of this machine or of another. */
export async function openLink(target: { readonly host: string; readonly port: number }): Promise<Link> {
  const pairs = new Set<Pair>();
  let way: CutWay | null = null;
  const hold = ({ inner, outer }: Pair) => {
    // Not piped: a socket that is paused fills, and its sender waits, as at a dead network.
    if (way === "both" || way === "requests") inner.unpipe(outer).pause();
    if (way === "both" || way === "answers") outer.unpipe(inner).pause();
  };
  const end = ({ inner, outer }: Pair) => {
    inner.destroy();
    outer.destroy();
  };
  const server = createServer({ pauseOnConnect: true }, (inner) => {
    const pair = { inner, outer: connect(target) };
    pairs.add(pair);
    for (const socket of [inner, pair.outer])
      socket
        .setNoDelay(true)
        .on("error", () => undefined)
        .on("close", () => {
          // A connection of which one end is gone behind a cut: the other end does not hear of it yet.
          if (way !== null) return;
          pairs.delete(pair);
          end(pair);
        });
    inner.pipe(pair.outer);
    pair.outer.pipe(inner);
    if (way !== null) hold(pair);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, "127.0.0.1", resolve);
  });
  return {
    port: (server.address() as AddressInfo).port,
    cut: (next) => {
      way = next;
      for (const pair of pairs) hold(pair);
    },
    heal: (isReset) => {
      const held = way;
      way = null;
      for (const pair of pairs) {
        if (isReset || pair.outer.destroyed || pair.inner.destroyed) {
          pairs.delete(pair);
          end(pair);
          continue;
        }
        // Also where the process has given the connection up: what it had sent arrives.
        if (held !== "answers") pair.inner.pipe(pair.outer);
        if (held !== "requests") pair.outer.pipe(pair.inner);
      }
    },
    close: async () => {
      for (const pair of pairs) end(pair);
      await new Promise<void>((resolve) => {
        server.close(() => resolve());
      });
    },
  };
}
