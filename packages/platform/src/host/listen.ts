import { once } from "node:events";
import { createServer } from "node:net";
import { StartError, describeSystemError } from "./start-error.ts";

/** Where a server of this process listens, and the flag that sets its port. */
export interface Address {
  readonly host: string;
  readonly port: number;
  readonly flag: "--gateway-port" | "--api-port" | "--metrics-port";
}

/**
 * Checks that all addresses can be listened on, before anything slow is started.
 *
 * @throws StartError naming the flag to change
 */
export async function checkAddresses(addresses: readonly Address[]): Promise<void> {
  const servers = addresses.map((address) => ({ address, server: createServer() }));
  try {
    for (const { address, server } of servers)
      await explainListening(address, async () => {
        server.listen({ host: address.host, port: address.port });
        await once(server, "listening");
      });
  } finally {
    for (const { server } of servers) server.close();
  }
}

/** Runs `listen` and explains why it fails. @throws StartError naming the flag to change */
export async function explainListening(
  { host, port, flag }: Address,
  listen: () => Promise<unknown>,
): Promise<void> {
  try {
    await listen();
  } catch (error) {
    const reason = describeSystemError(error);
    if (reason === null) throw error;
    const hostFlag = flag === "--metrics-port" ? "--metrics-host" : "--host";
    const isHost = error instanceof Error && /EADDRNOTAVAIL|ENOTFOUND/.test(error.message);
    throw new StartError(
      `The platform cannot listen on ${host}, port ${port}: ${reason}. Choose another with ${isHost ? hostFlag : flag}.`,
      { cause: error },
    );
  }
}
