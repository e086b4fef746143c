import { Paper, Stack, Text, Title } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { useChange } from "../../api/queries.ts";
import { useOrganisation, useScope } from "../../api/scope.tsx";
import { ChangeOrganization } from "../../forms/change-organization.tsx";
import { ConfirmButton } from "../../ui/confirm.tsx";
import { CopyAs } from "../../ui/copy-as.tsx";
import { CopyLine } from "../../ui/copy-button.tsx";
import { RoutedDialog } from "../../ui/dialog.tsx";
import { Facts } from "../../ui/facts.tsx";
import { OpenButton } from "../../ui/open-button.tsx";
import { PageHeader } from "../../ui/page-header.tsx";
import { Webhooks } from "../webhooks/webhooks.tsx";
import { Budgets } from "./budgets.tsx";
import { Secrets } from "./secrets.tsx";
import { Variables } from "./variables.tsx";

/** The organisation: its names, what runs of its services get, and its end. */
export function SettingsPage() {
  const organisation = useOrganisation();
  const { id, name, slug, role } = organisation;
  return (
    <>
      <PageHeader
        title="Settings"
        description={`Names, variables, secrets, webhooks and budgets of ${name}.`}
        actions={
          <>
            <CopyAs
              op="getOrganization"
              request={{ params: { id } }}
              id={id}
              command="platform organisations ls"
            />
            <OpenButton op="putOrganization" set={{ edit: "organisation" }}>
              Change
            </OpenButton>
          </>
        }
      />
      <Stack gap={40}>
        <Paper withBorder radius="md" p="lg" maw={720}>
          <Facts
            of={{
              Name: name,
              "Short name": <CopyLine text={slug} what="short name" />,
              Identifier: <CopyLine text={id} what="identifier" />,
              "Your role": role,
            }}
          />
        </Paper>
        <Variables />
        <Secrets />
        <Webhooks applicationId="jobs">
          Told what becomes of the jobs that members start. Applications have webhooks of their own.
        </Webhooks>
        <Budgets />
        <DeleteSection />
      </Stack>
      <RoutedDialog title="Change the organisation" when={["edit", "organisation"]}>
        {(close) => <ChangeOrganization organisation={organisation} close={close} />}
      </RoutedDialog>
    </>
  );
}

function DeleteSection() {
  const { id, name, isPersonal } = useOrganisation();
  const { queries } = useScope();
  const router = useRouter();
  const remove = useChange("deleteOrganization", { done: `${name} is deleted.`, refresh: [] });
  const run = async () => {
    await remove.run({ params: { id } });
    // What was read of it is forgotten.
    queries.clear();
    await router.navigate({ to: "/", replace: true });
  };
  return (
    <Paper component="section" withBorder radius="md" p="lg" maw={720}>
      <Title order={2} fz="lg" mb={4}>
        Delete the organisation
      </Title>
      <Text c="dimmed" mb="md">
        With its applications, services and data pools. Refused while builds or executions are unfinished, and
        while other organisations subscribe to its services.
      </Text>
      <ConfirmButton
        op="deleteOrganization"
        label="Delete"
        question={`Delete ${name}?`}
        typed={name}
        unless={isPersonal ? "This is your own organisation, which stays as long as your account." : null}
        button={{ color: "red", variant: "outline" }}
        run={run}
      >
        Access keys, subscriptions and invitations end within seconds, and versions are retired. This cannot
        be undone.
      </ConfirmButton>
    </Paper>
  );
}
