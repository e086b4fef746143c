import { Stack, Text } from "@mantine/core";
import { Outlet } from "@tanstack/react-router";
import { useRefusal } from "../../ui/can.tsx";
import { AppLink } from "../../ui/link.tsx";
import { PageHeader } from "../../ui/page-header.tsx";

/** Above the pages of those who run the platform; everybody else is told so, and nothing is asked for (`routes/operator.ts`). */
export function OperatorRoot() {
  const refusal = useRefusal("getInstance");
  if (refusal === null) return <Outlet />;
  return (
    <Stack align="flex-start">
      <PageHeader title="You may not see this page" />
      <Text>{refusal}</Text>
      <AppLink to="/">Go to the first page</AppLink>
    </Stack>
  );
}
