import { execFile } from "node:child_process";
import { totalmem } from "node:os";
import { execPath } from "node:process";
import { promisify } from "node:util";
import { expect, test } from "vitest";

/** GB. */
const machine = totalmem() / 1024 ** 3;

const PROGRAM = `
import { readConfig } from ${JSON.stringify(new URL("./config.ts", import.meta.url).href)};
try {
  const { roles, environment, ...config } = readConfig();
  process.stdout.write(JSON.stringify({ ...config, roles: [...roles] }));
} catch (error) {
  process.stdout.write(JSON.stringify({ error: error.message }));
}
`;

interface Given {
  readonly flags?: readonly string[];
  readonly variables?: Readonly<Record<string, string>>;
}

/** What a process with these flags and variables, and no others, is configured as. */
async function read({ flags = [], variables = {} }: Given): Promise<unknown> {
  const { stdout } = await promisify(execFile)(
    execPath,
    ["--input-type=module", "--eval", PROGRAM, "--", "main.ts", ...flags],
    { env: variables, cwd: "/tmp" },
  );
  return JSON.parse(stdout);
}

test("without settings it plays all roles on this machine alone", async () => {
  expect(await read({})).toMatchObject({
    roles: ["gateway", "control", "worker", "builder"],
    dataDirectory: "/tmp/data",
    host: "127.0.0.1",
    gatewayUrl: "http://127.0.0.1:8080",
    apiUrl: "http://127.0.0.1:8090",
    bootstrapFile: null,
    databaseUrl: null,
    s3: null,
    leaseSeconds: 30,
    drainSeconds: 30,
    retentionDays: 30,
    logRetentionDays: 7,
    maxRetentionDays: 60,
    sandboxMin: "B",
    network: { standard: "egress", most: "egress", open: [] },
    logLevel: "info",
  });
});

test("metrics and traces are off, and go where the settings say", async () => {
  expect(await read({})).toMatchObject({ metrics: null, tracing: null });
  const variables = {
    OTEL_EXPORTER_OTLP_ENDPOINT: "http://127.0.0.1:4318/",
    OTEL_EXPORTER_OTLP_HEADERS: "Authorization=Bearer%20hush, x-team = a=b",
  };
  expect(await read({ flags: ["--metrics-port", "9464", "--trace-ratio", "0.1"], variables })).toMatchObject({
    metrics: { host: "127.0.0.1", port: 9464 },
    tracing: {
      endpoint: "http://127.0.0.1:4318",
      headers: { authorization: "Bearer hush", "x-team": "a=b" },
      ratio: 0.1,
    },
  });
});

test.each(["hush", "a b=hush", "=hush", "authorization=hush%", "a=hush\nb"])(
  "headers of traces that are none are refused without being shown: %j",
  async (headers) => {
    const variables = { OTEL_EXPORTER_OTLP_ENDPOINT: "http://a", OTEL_EXPORTER_OTLP_HEADERS: headers };
    expect(await read({ variables })).toEqual({
      error:
        "OTEL_EXPORTER_OTLP_HEADERS (--otlp-headers) must be headers such as authorization=Bearer%20TOKEN, separated by commas.",
    });
  },
);

test("objects are stored in a bucket when one is named", async () => {
  const variables = { PLATFORM_S3_ACCESS_KEY_ID: "key", PLATFORM_S3_SECRET_ACCESS_KEY: "hush" };
  expect(await read({ flags: ["--s3-bucket", "objects"] })).toMatchObject({
    s3: { bucket: "objects", prefix: "", endpoint: null, region: "us-east-1", credentials: null },
  });
  const flags = ["--s3-bucket=objects", "--s3-prefix=/a/b/", "--s3-endpoint=http://127.0.0.1:9000/"];
  expect(await read({ flags, variables })).toMatchObject({
    s3: {
      prefix: "a/b",
      endpoint: "http://127.0.0.1:9000",
      credentials: { accessKeyId: "key", secretAccessKey: "hush" },
    },
  });
});

test("zygotes and executions of a worker together have no more memory than the machine but for 1 GB", async () => {
  const { capacity, zygoteMemoryBytes } = (await read({})) as {
    readonly capacity: { readonly memory: number };
    readonly zygoteMemoryBytes: number;
  };
  const together = capacity.memory + zygoteMemoryBytes / 1024 ** 3;
  expect(together).toBeLessThanOrEqual(Math.max(1.25, machine - 1));
  expect(together).toBeGreaterThan(Math.max(1, machine - 1.2));
  expect(zygoteMemoryBytes / 1024 ** 3).toBeCloseTo(capacity.memory / 4);
});

test("a flag wins over its variable, and a variable over the default", async () => {
  const variables = { PLATFORM_GATEWAY_PORT: "1000", PLATFORM_API_PORT: "2000" };
  expect(await read({ variables, flags: ["--api-port", "3000"] })).toMatchObject({
    gatewayPort: 1000,
    apiPort: 3000,
    apiUrl: "http://127.0.0.1:3000",
  });
});

test.each<[what: string, given: Given, config: object]>([
  ["several roles", { flags: ["--role", "worker,builder"] }, { roles: ["worker", "builder"] }],
  [
    "all beside others",
    { flags: ["--role", "worker,all"] },
    { roles: ["gateway", "control", "worker", "builder"] },
  ],
  [
    "a wildcard address is no address to call",
    { flags: ["--host", "0.0.0.0"] },
    { apiUrl: "http://localhost:8090" },
  ],
  ["an IPv6 address stands in brackets", { flags: ["--host", "::1"] }, { gatewayUrl: "http://[::1]:8080" }],
  [
    "private ranges that are opened may stand apart",
    { variables: { PLATFORM_NETWORK_OPEN: " 10.1.0.0/16, 10.2.3.4,0.0.0.0/0 " } },
    { network: { standard: "egress", most: "egress", open: ["10.1.0.0/16", "10.2.3.4", "0.0.0.0/0"] } },
  ],
  [
    "a URL loses its final slashes",
    { flags: ["--gateway-url", "https://api.example.org//"] },
    { gatewayUrl: "https://api.example.org" },
  ],
  [
    "a variable that is set to nothing is not set",
    { variables: { PLATFORM_DATA_DIR: "", PLATFORM_HOST: "", PLATFORM_API_PORT: "", PLATFORM_ROLE: "" } },
    { dataDirectory: "/tmp/data", host: "127.0.0.1", apiPort: 8090 },
  ],
  [
    "a database on a socket",
    { flags: ["--database-url", "postgres://me@/x?host=/run/pg"] },
    { databaseUrl: "postgres://me@/x?host=/run/pg" },
  ],
  ["who is invited can sign up", {}, { signUpMode: "invitation", mail: null }],
  [
    "mail comes from the host of the platform API",
    {
      variables: {
        PLATFORM_SMTP_URL: "smtp://me:p%40ss@mail:25",
        PLATFORM_API_URL: "https://api.example.org",
      },
    },
    { mail: { smtpUrl: "smtp://me:p%40ss@mail:25", from: "platform@api.example.org" } },
  ],
  [
    "the sender of mail is named",
    { flags: ["--smtp-url", "smtps://mail", "--mail-from", "noreply@example.org"] },
    { mail: { smtpUrl: "smtps://mail", from: "noreply@example.org" } },
  ],
  [
    "executions get what is left of the machine beside zygotes whose memory is named",
    { flags: ["--zygote-memory", "0.5"] },
    { capacity: { memory: Math.max(1, Math.floor(machine * 10 - 15) / 10) } },
  ],
  [
    "users sign in at a provider",
    {
      flags: [
        "--oidc-issuer",
        "https://id.example.org",
        "--oidc-client-id",
        "platform",
        "--oidc-name",
        "Lab",
      ],
      variables: { PLATFORM_OIDC_CLIENT_SECRET: "hush" },
    },
    { oidc: { issuer: "https://id.example.org", clientId: "platform", clientSecret: "hush", name: "Lab" } },
  ],
  [
    "zygotes may take a quarter of a worker's memory",
    { flags: ["--worker-memory", "8"] },
    { zygoteMemoryBytes: 2 * 1024 ** 3 },
  ],
  [
    "the memory of zygotes is named",
    { flags: ["--worker-memory", "8", "--zygote-memory", "0.5"] },
    { zygoteMemoryBytes: 512 * 1024 ** 2 },
  ],
  [
    "an empty secret is none",
    { variables: { PLATFORM_SECRET: "", PLATFORM_OTHER_SECRET: "" } },
    { secret: null, otherSecret: null },
  ],
  [
    "secrets are encrypted anew with one secret while another opens them",
    { flags: ["reseal", "--other-secret", "hush"] },
    { command: "reseal", otherSecret: "hush" },
  ],
])("%s", async (_what, given, config) => {
  expect(await read(given)).toMatchObject(config);
});

test.each<[given: Given, message: RegExp]>([
  [{ flags: ["--api-port", "x"] }, /^--api-port is "x"; it must be a whole number from 0 to 65535\.$/],
  [{ variables: { PLATFORM_ROLE: "king" } }, /^PLATFORM_ROLE is "king"; it must be one of gateway, /],
  [
    { flags: ["--gateway-url", "example.org"] },
    /^--gateway-url is "example.org"; it must be a URL that begins with http:\/\/ or https:\/\/\.$/,
  ],
  [{ flags: ["--api-url", "localhost:8090"] }, /^--api-url is "localhost:8090"; it must be a URL/],
  [{ flags: ["--host", "300.1.1.1"] }, /^--host is "300.1.1.1"; it must be an IP address or/],
  [{ flags: ["--data-dir", ""] }, /^--data-dir is ""; it must be given, not empty\.$/],
  [{ flags: ["--database-url", "mysql://root:hush@db/x"] }, /^DATABASE_URL (?!.*hush).* postgres:\/\/user/],
  [{ variables: { DATABASE_URL: "postgres://me:hu/sh@db:5432/x" } }, /^DATABASE_URL (?!.*hu\/sh).*%XX\.$/],
  [{ flags: ["--smtp-url", "http://me:hush@mail"] }, /^--smtp-url (?!.*hush).* smtp:\/\/user/],
  [{ variables: { PLATFORM_SMTP_URL: "smtp://me:hu%zz@mail" } }, /^--smtp-url (?!.*hu%zz).*%XX\.$/],
  [{ flags: ["--mail-from", "a@example.org,b@example.org"] }, /^--mail-from .* must be one email address/],
  [
    { variables: { PLATFORM_OIDC_CLIENT_SECRET: "hush" } },
    /^--oidc-issuer, (?!.*hush).* must be set together/,
  ],
  [
    {
      flags: [
        "--oidc-issuer",
        "http://id.example.org",
        "--oidc-client-id",
        "x",
        "--oidc-client-secret",
        "hush",
      ],
    },
    /^--oidc-issuer (?!.*hush).* must be a URL that begins with https/,
  ],
  [{ flags: ["--sign-up", "all"] }, /^--sign-up is "all"; it must be one of open, invitation, closed\.$/],
  [{ flags: ["--sandbox-min", "none"] }, /^--sandbox-min is "none"; it must be one of A, B, C, D\.$/],
  [
    { flags: ["--sandbox=none"] },
    /^--sandbox .*--sandbox-min .*B in place of bubblewrap, D in place of none\.$/,
  ],
  [{ variables: { PLATFORM_SANDBOX: "bubblewrap" } }, /^--sandbox \(PLATFORM_SANDBOX\) was replaced by/],
  ...["10.1.0.0/33", "10.1.0.0/16;10.2.0.0/16", "10.1.0.0/16,", "fd00::/8", "intranet", "10.1", ""].map(
    (ranges): [Given, RegExp] => [
      { flags: ["--network-open", ranges] },
      /^--network-open is ".*"; it must be IPv4 addresses or ranges separated by commas, such as /,
    ],
  ),
  [
    { flags: ["--s3-endpoint", "http://127.0.0.1:9000"] },
    /^--s3-bucket .* is missing beside the other --s3-/,
  ],
  [{ variables: { PLATFORM_S3_ACCESS_KEY_ID: "key" } }, /^--s3-access-key-id and .* must be set together\.$/],
  [
    { flags: ["--s3-bucket", "objects"], variables: { PLATFORM_S3_SECRET_ACCESS_KEY: "hush" } },
    /^(?!.*hush)--s3-access-key-id and .* must be set together\.$/,
  ],
  [{ flags: ["--s3-bucket", "No_Bucket"] }, /^--s3-bucket .* is "No_Bucket"; it must be a name of 3 to 63 /],
  [
    { flags: ["--s3-bucket", "objects", "--s3-prefix", "a b"] },
    /^--s3-prefix .* is "a b"; it must be at most 200 /,
  ],
  [{ flags: ["--network-max", "all"] }, /^--network-max is "all"; it must be one of egress, hosts, none\.$/],
  [
    { flags: ["--network-default", "hosts"] },
    /^--network-default is "hosts"; it must be one of egress, none\.$/,
  ],
  [{ flags: ["--no-such-flag"] }, /^Unknown option '--no-such-flag'\. --help lists the settings\.$/],
  [{ flags: ["data"] }, /^"data" is no command\. --help lists commands and settings\.$/],
  [
    { flags: ["storage", "--json"] },
    /^--json belongs to the command retention alone\. --help lists the settings\.$/,
  ],
])("%j is refused with the setting, its value and what is expected", async (given, message) => {
  expect(await read(given)).toEqual({
    error: expect.stringMatching(message),
  });
});

/** Settings that are shown to nobody, written down here by hand. */
const SECRETS = [
  "database-url",
  "oidc-client-secret",
  "other-secret",
  "otlp-headers",
  "s3-access-key-id",
  "s3-secret-access-key",
  "secret",
  "smtp-url",
];

interface Shown {
  readonly name: string;
  readonly variable: string;
  readonly value: string | null;
  readonly source: string;
  readonly secret: boolean;
}

async function readShown(given: Given): Promise<readonly Shown[]> {
  return ((await read(given)) as { readonly shown: readonly Shown[] }).shown;
}

test("operators are shown each setting with its source, flag before variable before default", async () => {
  const shown = await readShown({
    flags: ["--api-port", "3000", "--network-open", "10.1.0.0/16"],
    variables: { PLATFORM_API_PORT: "2000", PLATFORM_LOG_LEVEL: "warn", PLATFORM_HOST: "" },
  });
  const find = (name: string) => shown.find((setting) => setting.name === name);
  expect(find("api-port")).toMatchObject({ value: "3000", source: "flag", variable: "PLATFORM_API_PORT" });
  expect(find("log-level")).toMatchObject({ value: "warn", source: "environment" });
  expect(find("network-open")).toMatchObject({ value: "10.1.0.0/16", source: "flag" });
  expect(find("host")).toMatchObject({ value: "127.0.0.1", source: "default" });
  expect(find("role")).toMatchObject({ value: "all", source: "default" });
  expect(find("bootstrap")).toMatchObject({ value: null, source: "default" });
});

test("no secret is among what operators are shown, nor a password or token in a URL", async () => {
  const variables = {
    DATABASE_URL: "postgres://me:hush@db/x?password=hush",
    PLATFORM_OIDC_ISSUER: "https://id.example.org",
    PLATFORM_OIDC_CLIENT_ID: "platform",
    PLATFORM_OIDC_CLIENT_SECRET: "hush",
    PLATFORM_SECRET: "hush",
    PLATFORM_OTHER_SECRET: "hush",
    PLATFORM_SMTP_URL: "smtp://me:hush@mail:25",
    PLATFORM_S3_BUCKET: "objects",
    PLATFORM_S3_ACCESS_KEY_ID: "hush",
    PLATFORM_S3_SECRET_ACCESS_KEY: "hush",
    OTEL_EXPORTER_OTLP_HEADERS: "authorization=hush",
    OTEL_EXPORTER_OTLP_ENDPOINT: "https://me:a,hush@otel.example.org/x,y?key=a,hush;b,hush#hush,hush",
    PLATFORM_API_URL: "https://hush@api.example.org",
  };
  const shown = await readShown({ variables });
  expect(JSON.stringify(shown)).not.toContain("hush");
  expect(
    shown
      .filter(({ secret }) => secret)
      .map(({ name }) => name)
      .toSorted(),
  ).toEqual(SECRETS);
  for (const { secret, value } of shown) expect(secret && value !== null).toBe(false);
  const find = (name: string) => shown.find((setting) => setting.name === name)?.value;
  expect(find("otlp-endpoint")).toBe("https://otel.example.org/x,y");
  expect(find("api-url")).toBe("https://api.example.org");
  // A name that sounds like a secret is on the list, or says why it is none.
  const sounding = shown.filter(({ name }) => /secret|password|key|token|credential|headers/u.test(name));
  expect(sounding.filter(({ secret }) => !secret).map(({ name }) => name)).toEqual([]);
});

test("commands that are about somebody need to be told who, and others are about nobody", async () => {
  expect(await read({ flags: ["grant-operator", "ada@example.org"] })).toMatchObject({
    command: "grant-operator",
    argument: "ada@example.org",
  });
  expect(await read({ flags: ["revoke-operator"] })).toEqual({
    error: "The command revoke-operator needs its argument: npm start -- revoke-operator EMAIL.",
  });
  for (const flags of [["storage", "now"], ["grant-operator", "a@b", "c@d"], ["nonsense"]])
    expect(await read({ flags })).toMatchObject({
      error: expect.stringContaining("is no command") as unknown,
    });
  expect(await read({})).toMatchObject({ command: "serve", argument: null });
});
