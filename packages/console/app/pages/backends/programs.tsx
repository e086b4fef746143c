import { Stack, Text } from "@mantine/core";
import type { Backend } from "@platform/contract/quantum-api/backends";
import { toCurl } from "@platform/contract/snippets/requests";
import { findApiPath, ROUTES } from "../../api/client.ts";
import { useOrganisation } from "../../api/scope.tsx";
import { findExample, listTextFormats, toInput } from "../../quantum/circuits.ts";
import { chooseShots, toRunCommand, toSdkProgram } from "../../quantum/programs.ts";
import { ChoiceTabs } from "../../ui/choice-tabs.tsx";
import { Code } from "../../ui/code.tsx";

/** A job for the backend as programs: no live token is in them. */
export function Programs({ backend }: { readonly backend: Backend }) {
  const { id: organizationId } = useOrganisation();
  const { origin } = globalThis.location;
  const isText = listTextFormats(backend).length > 0;
  return (
    <Stack gap="sm">
      <Text>
        Each of these runs a small example on this backend. <span className="mono">PLATFORM_TOKEN</span> is a
        personal access token.
      </Text>
      <ChoiceTabs
        label="Programs"
        choices={[
          {
            label: "Python (SDK)",
            content: () => (
              <Code
                text={toSdkProgram(backend, { origin, organizationId })}
                language="python"
                what="Python program"
              />
            ),
          },
          ...(isText
            ? [
                {
                  label: "Command line",
                  content: () => (
                    <Stack gap="sm">
                      <Code text={findExample(backend)} language="text" what="Example" />
                      <Code text={toRunCommand(backend)} language="bash" what="Command" />
                    </Stack>
                  ),
                },
                {
                  label: "curl",
                  content: () => (
                    <Code
                      text={toStart(backend, { origin, organizationId })}
                      language="bash"
                      what="curl command"
                    />
                  ),
                },
              ]
            : []),
        ]}
      />
    </Stack>
  );
}

function toStart(
  backend: Backend,
  { origin, organizationId }: { readonly origin: string; readonly organizationId: string },
): string {
  const [format = "OPEN_QASM_V3"] = listTextFormats(backend);
  const text = findExample(backend);
  return toCurl({
    route: ROUTES.createQuantumJob,
    baseUrl: `${origin}${findApiPath("createQuantumJob")}`,
    headers: { "X-OrganizationId": organizationId },
    request: {
      body: {
        backend_id: backend.id,
        input_format: format,
        input: toInput(format, text),
        shots: chooseShots(backend),
      },
    },
  });
}
