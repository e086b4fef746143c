import { Paper } from "@mantine/core";
import { useRouter } from "@tanstack/react-router";
import { CreateOrganization } from "../../forms/create-organization.tsx";
import { PageHeader } from "../../ui/page-header.tsx";

/** A new organisation. */
export function NewOrganizationPage() {
  const router = useRouter();
  return (
    <>
      <PageHeader
        title="New organisation"
        description="An organisation has services, applications, data pools and members of its own. You become its owner, and can invite others."
      />
      <Paper withBorder radius="md" p="lg" maw={620}>
        <CreateOrganization
          onCreated={({ slug }) =>
            router.navigate({ to: "/o/$org", params: { org: slug }, ignoreBlocker: true })
          }
        />
      </Paper>
    </>
  );
}
