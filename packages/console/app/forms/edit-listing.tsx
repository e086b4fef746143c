import { parseExactNumbers } from "@platform/contract/exact-number";
import { MARKETPLACE_API } from "@platform/contract/platform-api/marketplace";
import type { Listing } from "@platform/contract/platform-api/marketplace";
import type { VersionDetails } from "@platform/contract/platform-api/services";
import type { BodyOf } from "../api/client.ts";
import { q, useChange } from "../api/queries.ts";
import { ExampleField } from "./example-field.tsx";
import { CheckField, TagsField, TextField } from "./fields.tsx";
import type { FormValues } from "./form-values.ts";
import { IconField } from "./icon-field.tsx";
import { MarkdownField } from "./markdown-field.tsx";
import { showJson } from "../util/show-json.ts";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface EditListingProps {
  readonly serviceKey: string;
  readonly listing: Listing;
  /** The revision that saving replaces. */
  readonly replaces: number;
  /** Markdown of the newest version, which is shown where the listing has none of its own. */
  readonly readme: string;
  /** Example input of the newest version's project; null: it has none. */
  readonly example: VersionDetails["exampleInput"];
  /** What was being written in this tab; null: nothing. */
  readonly kept: FormValues | null;
  readonly keep: (values: FormValues) => void;
  /** Gets what was saved, and its revision. */
  readonly onSaved: (values: FormValues, revision: number) => void;
}

/** A listing as the fields of the form hold it. */
function toValues({ changedAt: _at, revision: _revision, exampleInput, ...listing }: Listing): FormValues {
  return {
    ...listing,
    contact: listing.contact ?? "",
    description: listing.description ?? "",
    exampleInput: exampleInput === null ? "" : showJson(exampleInput),
  };
}

/** What a service shows of itself. The platform takes the whole of it: an empty field is an empty part. */
export function EditListing(props: EditListingProps) {
  const { serviceKey, listing, replaces, readme, example, kept, keep, onSaved } = props;
  const change = useChange("putListing", {
    done: "Saved.",
    gives: q("getListing", { params: { key: serviceKey } }),
    refresh: ["getListing", "getMarketplaceEntry", "listMarketplace"],
  });
  return (
    <SchemaBackedForm<BodyOf<"putListing">, Listing>
      schema={MARKETPLACE_API.putListing.body}
      initial={toValues(listing)}
      kept={kept}
      keep={keep}
      toSaved={toValues}
      onDone={(sent, { revision }) => onSaved(sent, revision)}
      prepare={toListing}
      submitLabel="Save"
      submit={(body) => change.run({ params: { key: serviceKey }, body: { ...body, revision: replaces } })}
    >
      <TextField name="title" label="Title" isRequired />
      <TextField name="summary" label="Summary" description="One line below the title" />
      <TagsField
        name="tags"
        label="Tags"
        description="What it can be found by: lower-case letters, digits and hyphens"
      />
      <TextField name="contact" label="Contact" description="An email address or an https URL" />
      <MarkdownField
        name="description"
        label="Description"
        description={
          <>
            Markdown. If this is empty, the description of the newest version is shown: the file that{" "}
            <span className="mono">descriptionFile</span> in <span className="mono">platform.json</span>{" "}
            names.
          </>
        }
        otherwise={readme}
      />
      <IconField name="icon" label="Icon" />
      <ExampleField name="exampleInput" ofProject={example} />
      <CheckField
        name="sharesFigures"
        label="Show others how it runs"
        description="How many executions of other organisations succeeded in the last 30 days, and their median run time. From 20 executions on"
      />
    </SchemaBackedForm>
  );
}

function toListing({ contact, description, exampleInput, ...values }: FormValues): FormValues {
  return {
    ...values,
    contact: contact === "" ? null : contact,
    // Of nothing but spaces, the preview shows the version's.
    description: typeof description === "string" && description.trim() === "" ? null : description,
    exampleInput: readJson(exampleInput),
  };
}

/** What cannot be read stays text, which the schema refuses. */
function readJson(text: unknown): unknown {
  if (typeof text !== "string" || text.trim() === "") return null;
  try {
    return parseExactNumbers(text);
  } catch {
    return text;
  }
}
