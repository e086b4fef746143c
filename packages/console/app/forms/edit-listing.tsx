import { MARKETPLACE_API } from "@platform/contract/platform-api/marketplace";
import type { Listing } from "@platform/contract/platform-api/marketplace";
import type { BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TagsField, TextAreaField, TextField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { IconField } from "./icon-field.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface EditListingProps {
  readonly serviceKey: string;
  readonly listing: Listing;
}

/** What a service shows of itself. The platform takes the whole of it: an empty field is an empty part. */
export function EditListing({ serviceKey, listing }: EditListingProps) {
  const change = useChange("putListing", {
    done: "Saved.",
    refresh: ["getListing", "getMarketplaceEntry", "listMarketplace"],
  });
  const { title, summary, tags, icon, contact, exampleInput } = listing;
  return (
    <SchemaBackedForm<BodyOf<"putListing">>
      // What was saved is what the next change begins with.
      key={listing.changedAt}
      schema={MARKETPLACE_API.putListing.body}
      initial={{
        title,
        summary,
        tags,
        icon,
        contact: contact ?? "",
        exampleInput: exampleInput === null ? "" : JSON.stringify(exampleInput, null, 2),
      }}
      prepare={toListing}
      submitLabel="Save"
      submit={(body) => change.run({ params: { key: serviceKey }, body })}
    >
      <TextField name="title" label="Title" isRequired />
      <TextField name="summary" label="Summary" description="One line below the title" />
      <TagsField
        name="tags"
        label="Tags"
        description="What it can be found by: lower-case letters, digits and hyphens"
      />
      <TextField name="contact" label="Contact" description="An email address or an https URL" />
      <IconField name="icon" label="Icon" />
      <TextAreaField
        name="exampleInput"
        label="Example input"
        description="JSON of data and params to try it with; empty: there is none"
        isVerbatim
      />
    </SchemaBackedForm>
  );
}

function toListing({ contact, exampleInput, ...values }: FormValues): FormValues {
  return { ...values, contact: contact === "" ? null : contact, exampleInput: readJson(exampleInput) };
}

/** What cannot be read stays text, which the schema refuses. */
function readJson(text: unknown): unknown {
  if (typeof text !== "string" || text.trim() === "") return null;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    return text;
  }
}
