import { Group, Select, Stack, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import type { ClientLanguage, MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { Code } from "../../ui/code.tsx";
import { useSetSearch } from "../../ui/dialog.tsx";
import { DownloadButton } from "../../ui/download-button.tsx";

const route = getRouteApi("/in/o/$org/marketplace/$key");

/** What each client needs, and how it is installed from its ZIP file. */
const CLIENTS: readonly {
  readonly language: ClientLanguage;
  readonly label: string;
  readonly needs: string;
  readonly install: (folder: string) => string;
}[] = [
  {
    language: "java",
    label: "Java",
    needs: "Java 17, Maven",
    install: (folder) => `mvn -q -B -f ${folder} package`,
  },
  {
    language: "python",
    label: "Python",
    needs: "Python 3.11, no dependency",
    install: (folder) => `pip install --no-index ./${folder}`,
  },
  {
    language: "javascript",
    label: "JavaScript",
    needs: "Node.js 18, no dependency",
    install: (folder) => `npm install ./${folder}`,
  },
];

/** Packages that call one version, with types of its input and result. */
export function Clients({ of: { serviceKey, serviceName, versions } }: { readonly of: MarketplaceEntry }) {
  const { version: wanted } = route.useSearch();
  const setSearch = useSetSearch();
  const [latest] = versions;
  const version = versions.find((one) => one.version === wanted)?.version ?? latest?.version;
  if (version === undefined) return <Text c="dimmed">There is no live version.</Text>;
  return (
    <Stack>
      <Text c="dimmed" maw="78ch">
        A client starts executions, waits for them and fetches their results, with types of the version&apos;s
        input and result. It needs an access key of an application that has subscribed.
      </Text>
      <Select
        label="Version"
        data={versions.map((one) => one.version)}
        value={version}
        onChange={(value) => setSearch({ version: value === latest?.version ? undefined : value })}
        allowDeselect={false}
        maw={200}
      />
      <ClientDownloads serviceKey={serviceKey} serviceName={serviceName} version={version} />
    </Stack>
  );
}

interface ClientDownloadsProps {
  readonly serviceKey: string;
  readonly serviceName: string;
  readonly version: string;
}

/** The clients of one version, and its OpenAPI document. */
export function ClientDownloads({ serviceKey, serviceName, version }: ClientDownloadsProps) {
  const params = { key: serviceKey, version };
  return (
    <>
      <Text maw="78ch" fz="sm" c="dimmed">
        The first command downloads the ZIP file as the button does, the second one installs from it.
      </Text>
      {CLIENTS.map(({ language, label, needs, install }) => {
        const folder = `${serviceName}-${version}-${language}`;
        return (
          <Stack key={language} gap="xs">
            <Group gap="sm">
              <DownloadButton
                op="downloadClient"
                request={{ params: { ...params, language } }}
                fileName={`${folder}.zip`}
              >
                {label}
              </DownloadButton>
              <Text fz="sm" c="dimmed">
                {needs}
              </Text>
            </Group>
            <Code
              text={`platform clients ${serviceKey} --language ${language} --version ${version}`}
              language="text"
              what={`command that downloads it for ${label}`}
            />
            <Code
              text={`unzip -q -d ${folder} ${folder}.zip &&\n${install(folder)}`}
              language="text"
              what={`command that installs it for ${label}`}
            />
          </Stack>
        );
      })}
      <Group>
        <DownloadButton
          op="downloadOpenApi"
          request={{ params }}
          fileName={`${serviceName}-${version}-openapi.json`}
        >
          OpenAPI document
        </DownloadButton>
        <Text fz="sm" c="dimmed">
          For generators of clients in other languages
        </Text>
      </Group>
    </>
  );
}
