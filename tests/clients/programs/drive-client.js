/** Does what each line of standard input asks of a client, and answers with a line (drivers.ts). */
import { createHash } from "node:crypto";
import { createInterface } from "node:readline";
import { stdin, stdout } from "node:process";
import { Client, FileReference } from "promising-client";

const clients = new Map();
const of = ({ client }) => clients.get(client);
const digitsOf = (result) => /"number":\s*(-?\d+)/u.exec(result.resultText)[1];
const describe = ({ status, terminal }) => ({ status, terminal });

const ACTS = {
  open: async ({ client, endpoint, keyId, secret }) => {
    clients.set(client, new Client({ endpoint, keyId, secret }));
  },
  useKey: async (ask) => of(ask).useKey(ask.keyId, ask.secret),
  runTyped: async (ask) => {
    const { output } = await of(ask).run({ act: "double", number: 21 }, { factor: 2 });
    return { number: output.number };
  },
  run: async (ask) => {
    const data = ask.reference === undefined ? ask.data : toReference(ask.reference);
    const result = await of(ask).run(data, null, { timeout: ask.timeout });
    const { text } = result.output;
    return {
      digits: digitsOf(result),
      length: text.length,
      sha256: createHash("sha256").update(text).digest("hex"),
    };
  },
  start: async (ask) => ({ id: (await of(ask).start(ask.data)).id }),
  state: async (ask) => describe(await of(ask).state(ask.id)),
  wait: async (ask) => describe(await of(ask).wait(ask.id, { timeout: ask.timeout })),
  result: async (ask) => ({ digits: digitsOf(await of(ask).result(ask.id)) }),
  cancel: async (ask) => describe(await of(ask).cancel(ask.id)),
  files: async (ask) => {
    const names = await of(ask).files(ask.id);
    const read = async (name) => [name, new TextDecoder().decode(await of(ask).download(ask.id, name))];
    return Object.fromEntries(await Promise.all(names.map(read)));
  },
  log: async (ask) => ({ messages: (await of(ask).log(ask.id)).map(({ message }) => message) }),
  list: async (ask) => (await of(ask).list()).map(({ id }) => id),
  runMany: async ({ count, endpoint, keyId, secret }) => {
    const client = new Client({ endpoint, keyId, secret });
    const run = async (number) => (await client.run({ act: "double", number })).output.number;
    return { numbers: await Promise.all(Array.from({ length: count }, (_, number) => run(number))) };
  },
};

function toReference([dataPoolId, dataSourceDescriptorId, fileId]) {
  return new FileReference({ dataPoolId, dataSourceDescriptorId, fileId });
}

async function answer(ask) {
  try {
    return { answer: (await ACTS[ask.act](ask)) ?? null };
  } catch (error) {
    const { name, code, detail = String(error), id, status } = error;
    return { error: { name, code, detail, id, status } };
  }
}

for await (const line of createInterface({ input: stdin })) {
  const ask = JSON.parse(line);
  void answer(ask).then((said) => stdout.write(`${JSON.stringify({ ask: ask.ask, ...said })}\n`));
}
