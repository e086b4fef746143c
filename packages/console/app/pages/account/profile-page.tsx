import {
  Badge,
  Button,
  Group,
  Paper,
  SegmentedControl,
  Stack,
  Switch,
  Text,
  Title,
  useMantineColorScheme,
} from "@mantine/core";
import { useState } from "react";
import { q, useChange, useFetched } from "../../api/queries.ts";
import { useMe } from "../../api/scope.tsx";
import { ChangePassword } from "../../forms/change-password.tsx";
import { RenameUser } from "../../forms/rename-user.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { notifyFailure } from "../../ui/notify.ts";
import { OpenButton } from "../../ui/open-button.tsx";
import { readStored, store } from "../../util/storage.ts";
import { AccountFrame } from "./account-frame.tsx";

/** Who the user is, and how the console looks to them. */
export function ProfilePage() {
  const { id, name, email, emailVerified } = useMe();
  return (
    <AccountFrame
      title="Profile"
      actions={
        <>
          <CopyAs op="getMe" request={{}} id={id} command="platform whoami" />
          <OpenButton op="changePassword" set={{ edit: "password" }} variant="default">
            Change password
          </OpenButton>
          <OpenButton op="putMe" set={{ edit: "name" }}>
            Rename
          </OpenButton>
        </>
      }
    >
      <Stack gap="lg" maw={720}>
        <Paper withBorder radius="md" p="lg">
          <Facts
            of={{
              Name: name,
              "Email address": (
                <Group gap={8}>
                  {email}
                  <Badge>{emailVerified ? "Verified" : "Not verified"}</Badge>
                  {!emailVerified && <VerifyAddress />}
                </Group>
              ),
            }}
          />
        </Paper>
        <Paper withBorder radius="md" p="lg">
          <Title order={2} fz="lg" mb="md">
            This browser
          </Title>
          <BrowserSettings />
        </Paper>
      </Stack>
      <RoutedDialog title="Change your name" when={["edit", "name"]}>
        {(close) => <RenameUser name={name} close={close} />}
      </RoutedDialog>
      <RoutedDialog title="Change the password" when={["edit", "password"]}>
        {(close) => <ChangePassword close={close} />}
      </RoutedDialog>
    </AccountFrame>
  );
}

/** Asks for the mail with the link; without a mail server the link is in the operator's log, where the user cannot read it. */
function VerifyAddress() {
  const { data } = useFetched(q("getConfiguration", {}));
  const request = useChange("requestEmailVerification", {
    done: "A link is on its way to your address. It works once, for three days.",
    refresh: [],
  });
  if (data?.mail !== true) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      loading={request.isRunning}
      onClick={() => void request.run({}).catch(notifyFailure)}
    >
      Send the link
    </Button>
  );
}

const SCHEMES = [
  { value: "auto", label: "As the system" },
  { value: "light", label: "Light" },
  { value: "dark", label: "Dark" },
];
const ZONES = [
  { value: "local", label: "Local" },
  { value: "utc", label: "UTC" },
];

/** Kept in the browser alone. */
function BrowserSettings() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const [zone, setZone] = useState(readStored("times") ?? "local");
  const [hasKeys, setHasKeys] = useState(readStored("keys") !== "off");
  return (
    <Stack>
      <div role="group" aria-labelledby="setting-scheme">
        <Text fz="sm" fw={500} mb={4} id="setting-scheme">
          Colour scheme
        </Text>
        <SegmentedControl
          data={SCHEMES}
          value={colorScheme}
          onChange={(value) => setColorScheme(value === "light" || value === "dark" ? value : "auto")}
        />
      </div>
      <div role="group" aria-labelledby="setting-times">
        <Text fz="sm" fw={500} mb={4} id="setting-times">
          Exact times
        </Text>
        <SegmentedControl
          data={ZONES}
          value={zone}
          onChange={(value) => {
            setZone(value);
            store("times", value);
          }}
        />
      </div>
      <Switch
        label="Single keys"
        description="? lists them. Off: only keys with Ctrl or Cmd do something."
        checked={hasKeys}
        onChange={(event) => {
          setHasKeys(event.currentTarget.checked);
          store("keys", event.currentTarget.checked ? "on" : "off");
        }}
      />
    </Stack>
  );
}
