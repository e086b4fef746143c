import { Stack, Text, Title } from "@mantine/core";
import type { MarketplaceEntry } from "@platform/contract/platform-api/marketplace";
import { DataTable } from "../../table/data-table.tsx";
import type { Column } from "../../table/data-table.tsx";
import { Code } from "../../ui/code.tsx";
import { describeType, listMembers } from "./schema-rows.ts";
import type { SchemaRow } from "./schema-rows.ts";
import { showJson } from "../../util/show-json.ts";

/** What a start takes and gives, with an example. */
export function EntrySchemas({ of: one }: { readonly of: MarketplaceEntry }) {
  return (
    <Stack>
      <SchemaPart
        title="Input"
        schema={one.inputSchema}
        missing="It says nothing of its input: any is taken."
      />
      <SchemaPart title="Result" schema={one.outputSchema} missing="It says nothing of its result." />
      {one.exampleInput !== null && (
        <section>
          <Title order={2} fz="md" mb={6}>
            Example
          </Title>
          <Code text={showJson(one.exampleInput)} language="json" what="Example input" />
        </section>
      )}
    </Stack>
  );
}

interface SchemaPartProps {
  readonly title: string;
  readonly schema: unknown;
  readonly missing: string;
}

function SchemaPart({ title, schema, missing }: SchemaPartProps) {
  const members = listMembers(schema);
  return (
    <section>
      <Title order={2} fz="md" mb={6}>
        {title}
      </Title>
      {schema === null ? (
        <Text c="dimmed">{missing}</Text>
      ) : (
        <Stack gap="xs">
          {members.length === 0 ? (
            <Text className="mono">{describeType(schema)}</Text>
          ) : (
            <DataTable
              label={`Members of ${title}`}
              columns={COLUMNS}
              rows={members}
              rowKey={({ path }) => path}
              empty={null}
            />
          )}
          <details>
            <summary>{title} as JSON Schema</summary>
            <Code text={showJson(schema)} language="json" what={`JSON Schema of ${title}`} />
          </details>
        </Stack>
      )}
    </section>
  );
}

const COLUMNS: readonly Column<SchemaRow>[] = [
  { id: "path", label: "Member", cell: ({ path }) => <span className="mono">{path}</span> },
  { id: "type", label: "Type", cell: ({ type }) => <span className="mono">{type}</span> },
  { id: "required", label: "Needed", cell: ({ isRequired }) => (isRequired ? "yes" : "no") },
  { id: "description", label: "Description", cell: ({ description }) => description },
];
