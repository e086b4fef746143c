import { Stack, Text } from "@mantine/core";
import { q, useFetched } from "../../api/queries.ts";
import { Code } from "../../ui/code.tsx";
import type { Language } from "../../ui/code.tsx";
import { ChoiceTabs } from "../../ui/choice-tabs.tsx";

const SNIPPETS: readonly {
  readonly label: string;
  readonly language: Language;
  readonly write: (tokenUrl: string) => string;
}[] = [
  {
    label: "curl",
    language: "bash",
    write: (url) => `curl -s ${url} \\
  -u "$PLATFORM_ACCESS_KEY_ID:$PLATFORM_ACCESS_KEY_SECRET" \\
  -d grant_type=client_credentials`,
  },
  {
    label: "Python",
    language: "python",
    write: (url) => `import base64, json, os, urllib.request

pair = f'{os.environ["PLATFORM_ACCESS_KEY_ID"]}:{os.environ["PLATFORM_ACCESS_KEY_SECRET"]}'
request = urllib.request.Request(
    "${url}",
    data=b"grant_type=client_credentials",
    headers={"Authorization": "Basic " + base64.b64encode(pair.encode()).decode()},
)
token = json.load(urllib.request.urlopen(request))["access_token"]`,
  },
  {
    label: "JavaScript",
    language: "javascript",
    write: (
      url,
    ) => `const pair = \`\${process.env.PLATFORM_ACCESS_KEY_ID}:\${process.env.PLATFORM_ACCESS_KEY_SECRET}\`;
const response = await fetch("${url}", {
  method: "POST",
  headers: { authorization: \`Basic \${btoa(pair)}\` },
  body: new URLSearchParams({ grant_type: "client_credentials" }),
});
const { access_token: token } = await response.json();`,
  },
];

/** How a key is exchanged for an access token. No secret is in it: it is read from the environment. */
export function TokenSnippets() {
  const { data } = useFetched(q("getConfiguration", {}));
  if (data === undefined) return null;
  const url = `${data.gatewayUrl}/token`;
  return (
    <Stack>
      <Text maw="78ch">
        Key id and secret are exchanged for an access token, which is valid for an hour. Send it as{" "}
        <span className="mono">Authorization: Bearer</span> to the endpoint URL of a subscription, and fetch a
        new one before it expires.
      </Text>
      <ChoiceTabs
        label="Language"
        choices={SNIPPETS.map(({ label, language, write }) => ({
          label,
          content: () => <Code text={write(url)} language={language} what={`${label} to fetch a token`} />,
        }))}
      />
    </Stack>
  );
}
