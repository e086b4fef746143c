import { once } from "node:events";
import { createServer } from "node:net";
import type { AddressInfo } from "node:net";
import { expect, test } from "vitest";
import { checkAddresses } from "./listen.ts";
import { describeStartError } from "./start-error.ts";

const FREE = { host: "127.0.0.1", port: 0, flag: "--gateway-port" } as const;

test("free ports are free afterwards", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  const address = { ...FREE, port } as const;
  await checkAddresses([address, FREE]);
  await expect(checkAddresses([address, FREE])).resolves.toBeUndefined();
});

test("a port that another program uses is refused with the flag that names it", async () => {
  const other = createServer().listen(0, "127.0.0.1");
  await once(other, "listening");
  const { port } = other.address() as AddressInfo;
  const error: unknown = await checkAddresses([FREE, { ...FREE, port, flag: "--api-port" }]).catch(
    (thrown: unknown) => thrown,
  );
  other.close();
  expect(describeStartError(error)).toBe(
    `The platform cannot listen on 127.0.0.1, port ${port}: another program listens there already. Choose another with --api-port.`,
  );
});

test("one port for both servers is refused", async () => {
  const probe = createServer().listen(0, "127.0.0.1");
  await once(probe, "listening");
  const { port } = probe.address() as AddressInfo;
  probe.close();
  await once(probe, "close");
  await expect(
    checkAddresses([
      { ...FREE, port },
      { ...FREE, port, flag: "--api-port" },
    ]),
  ).rejects.toThrow(`port ${port}: another program listens there already. Choose another with --api-port.`);
});

test("an address of another machine is refused with the flag that names it", async () => {
  await expect(checkAddresses([{ ...FREE, host: "192.0.2.1" }])).rejects.toThrow(
    "this machine does not have that address. Choose another with --host.",
  );
});
