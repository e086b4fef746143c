import { Group, Text } from "@mantine/core";
import { getRouteApi } from "@tanstack/react-router";
import { useOrganisation } from "../../api/scope.tsx";
import { StartWithSample } from "../../forms/start-with-sample.tsx";
import { UploadProject } from "../../forms/upload-project.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";

const route = getRouteApi("/in/o/$org/services/new");

/** A project becomes a service, or the next version of the service that it names. */
export function NewServicePage() {
  const { slug: org } = useOrganisation();
  const navigate = route.useNavigate();
  return (
    <>
      <PageHeader
        title="New service"
        above={[
          <AppLink key="all" to="/o/$org/services" params={{ org }}>
            Services
          </AppLink>,
        ]}
        description="A project with a Python function becomes a service. If there is a service of its name, it gets a new version."
      />
      <UploadProject
        onUploaded={({ key }, version) =>
          void navigate({ to: "/o/$org/services/$key/versions/$version", params: { org, key, version } })
        }
      />
      <Group mt="xl" gap="sm">
        <StartWithSample />
        <Text c="dimmed">No project at hand? A sample that adds up numbers is deployed at once.</Text>
      </Group>
    </>
  );
}
