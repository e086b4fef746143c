import { Group, Select, Stack, Switch, Text, TextInput, Title } from "@mantine/core";
import { useState } from "react";
import type { ReactNode } from "react";
import { toCallCurl, toCallJava, toCallJavaScript, toCallPython } from "@platform/contract/snippets/calls";
import type { ShownCall, Waiting } from "@platform/contract/snippets/calls";
import {
  toReceiverJava,
  toReceiverJavaScript,
  toReceiverPython,
} from "@platform/contract/snippets/receivers";
import { escapeUnseen } from "@platform/contract/snippets/texts";
import { useOrganisation } from "../../api/scope.tsx";
import { ChoiceTabs } from "../../ui/choice-tabs.tsx";
import { Code } from "../../ui/code.tsx";
import { AppLink } from "../../ui/link.tsx";
import { createKey } from "../../util/keys.ts";

const LANGUAGES = [
  { label: "curl", language: "bash", write: toCallCurl, receive: null },
  { label: "Python", language: "python", write: toCallPython, receive: toReceiverPython },
  { label: "JavaScript", language: "javascript", write: toCallJavaScript, receive: toReceiverJavaScript },
  { label: "Java", language: "java", write: toCallJava, receive: toReceiverJava },
] as const;

const WAITS: readonly { readonly value: Waiting; readonly label: string }[] = [
  { value: "wait", label: "Long-poll (Prefer: wait)" },
  { value: "poll", label: "Poll every 2 seconds" },
  { value: "events", label: "Events (SSE)" },
];

interface CallProgramsProps {
  readonly call: Pick<ShownCall, "tokenUrl" | "endpointUrl" | "keyId">;
  /** The body of a start. */
  readonly input: Readonly<Record<string, unknown>>;
  /** Which calls. */
  readonly application: { readonly id: string; readonly name: string };
}

/** The call in each language, and what it does besides. */
export function CallPrograms({ call, input, application }: CallProgramsProps) {
  const [waiting, setWaiting] = useState<Waiting>("wait");
  const [isRepeatable, setRepeatable] = useState(false);
  const [isTold, setTold] = useState(false);
  const [webhookUrl, setWebhookUrl] = useState("https://example.org/hook");
  const [key] = useState(createKey);
  const fault = isTold ? findUrlFault(webhookUrl) : null;
  const body = escapeUnseen(JSON.stringify(isTold && fault === null ? { ...input, webhookUrl } : input));
  const shown = { ...call, body, waiting, idempotencyKey: isRepeatable ? key : undefined };
  return (
    <>
      <Group align="flex-end">
        <Select
          label="Until it is finished"
          data={[...WAITS]}
          value={waiting}
          onChange={(value) => setWaiting(WAITS.find((way) => way.value === value)?.value ?? "wait")}
          allowDeselect={false}
        />
        <Toggle label="Idempotency-Key" isOn={isRepeatable} set={setRepeatable} />
        <Toggle label="Webhook" isOn={isTold} set={setTold} />
      </Group>
      {isTold && (
        <TextInput
          label="URL that is told the end"
          value={webhookUrl}
          onChange={(event) => setWebhookUrl(event.currentTarget.value)}
          error={fault}
          maw={480}
        />
      )}
      <Text maw="78ch" fz="sm" c="dimmed">
        The secret of the access key is read from PLATFORM_ACCESS_KEY_SECRET
        {call.keyId === undefined && ", its id from PLATFORM_ACCESS_KEY_ID"}. With an Idempotency-Key, a start
        that is repeated within 24 hours is the same execution.
      </Text>
      <ChoiceTabs
        label="Language"
        choices={LANGUAGES.map(({ label, language, write, receive }) => ({
          label,
          content: () => (
            <Stack>
              <Code text={write(shown)} language={language} what={`Call in ${label}`} />
              {isTold && (
                <Receiver application={application}>
                  {receive === null ? (
                    <Text>Python, JavaScript and Java have a receiver that can be copied.</Text>
                  ) : (
                    <Code text={receive()} language={language} what={`Receiver in ${label}`} />
                  )}
                </Receiver>
              )}
            </Stack>
          ),
        }))}
      />
    </>
  );
}

interface ToggleProps {
  readonly label: string;
  readonly isOn: boolean;
  readonly set: (isOn: boolean) => void;
}

function Toggle({ label, isOn, set }: ToggleProps) {
  return (
    <Switch label={label} checked={isOn} onChange={(event) => set(event.currentTarget.checked)} mb={8} />
  );
}

function findUrlFault(text: string): string | null {
  return /^https?:\/\/[^\s/]/u.test(text) && URL.canParse(text)
    ? null
    : "A URL with http:// or https:// is needed.";
}

interface ReceiverProps {
  readonly application: CallProgramsProps["application"];
  readonly children: ReactNode;
}

/** What is at the URL: it believes a message only if its signature is right. */
function Receiver({ application: { id, name }, children }: ReceiverProps) {
  const { slug: org } = useOrganisation();
  return (
    <Stack component="section" gap="xs">
      <Title order={3} fz="md">
        Receive and verify
      </Title>
      <Text maw="78ch" fz="sm" c="dimmed">
        A receiver verifies each message: anybody can post to a URL. Those to the URL of a start are signed
        with the secret of the application&apos;s webhook without a URL, which is shown once under{" "}
        <AppLink to="/o/$org/applications/$id" params={{ org, id }} search={{ tab: "webhooks" }}>
          Webhooks of {name}
        </AppLink>{" "}
        and belongs into WEBHOOK_SECRET.
      </Text>
      {children}
    </Stack>
  );
}
