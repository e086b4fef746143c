import { APPLICATIONS_API } from "@platform/contract/platform-api/applications";
import type { AnswerOf, BodyOf } from "../api/client.ts";
import { useChange } from "../api/queries.ts";
import { TextField } from "./fields.tsx";
import { SchemaBackedForm } from "./schema-backed-form.tsx";

interface CreateApplicationProps {
  /** On the button; default: "Create". */
  readonly submitLabel?: string;
  readonly onCreated: (application: AnswerOf<"createApplication">) => void;
  readonly onCancel: () => void;
}

/** A new application; keys and subscriptions follow on its page. */
export function CreateApplication({ submitLabel = "Create", onCreated, onCancel }: CreateApplicationProps) {
  const create = useChange("createApplication", {
    done: "Application created.",
    refresh: ["listApplications"],
  });
  return (
    <SchemaBackedForm<BodyOf<"createApplication">>
      schema={APPLICATIONS_API.createApplication.body}
      initial={{ name: "" }}
      submitLabel={submitLabel}
      submit={(body) => create.run({ body }).then(onCreated)}
      onCancel={onCancel}
    >
      <TextField
        name="name"
        label="Name of the application"
        description="An application is what calls services: a program, a team, a stage. Each has keys and subscriptions of its own."
        placeholder="nightly-batch"
        hasFocus
      />
    </SchemaBackedForm>
  );
}
