import { Paper, Stack, Text, Title } from "@mantine/core";
import type { Instance } from "@platform/contract/platform-api/operator-instance";

/** How live processes isolate user code, in words, and what a better isolation needs; equal reports once. */
export function Sandboxes({ processes }: { readonly processes: Instance["processes"] }) {
  const reports = new Map<
    string,
    { readonly hosts: string[]; readonly sandbox: NonNullable<Instance["processes"][number]["sandbox"]> }
  >();
  for (const { live, sandbox, host } of processes) {
    if (!live || sandbox === null) continue;
    const key = JSON.stringify(sandbox);
    const found = reports.get(key) ?? { hosts: [], sandbox };
    if (!found.hosts.includes(host)) found.hosts.push(host);
    reports.set(key, found);
  }
  return (
    <section aria-labelledby="isolation">
      <Title order={2} fz="lg" mb="sm" id="isolation">
        Isolation of user code
      </Title>
      <Stack>
        {reports.size === 0 && <Text>No live process runs user code.</Text>}
        {[...reports].map(([key, { hosts, sandbox }]) => (
          <Paper key={key} withBorder radius="md" p="md">
            <Text fw={600}>
              Level {sandbox.level} on {hosts.join(", ")}
            </Text>
            <Text mt={4}>{sandbox.gives}</Text>
            {sandbox.missing.length === 0 ? (
              <Text c="dimmed" mt={4}>
                Nothing is missing.
              </Text>
            ) : (
              <dl className="facts" style={{ marginTop: 12 }}>
                {sandbox.missing.map(({ piece, why, remedy }) => (
                  <div key={piece} style={{ display: "contents" }}>
                    <dt>Missing: {piece}</dt>
                    <dd>
                      {why} {remedy}
                    </dd>
                  </div>
                ))}
              </dl>
            )}
          </Paper>
        ))}
      </Stack>
    </section>
  );
}
