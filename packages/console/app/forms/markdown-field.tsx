import { Tabs, Text, Textarea } from "@mantine/core";
import { Markdown } from "../ui/markdown.tsx";
import { useField } from "./fields.tsx";
import type { FieldProps } from "./fields.tsx";
import { useFormContext } from "./schema-backed-form.tsx";

interface MarkdownFieldProps extends FieldProps {
  /** Shown instead of an empty text. */
  readonly otherwise: string;
}

/** Markdown: written, and looked at as others will see it. */
export function MarkdownField({ otherwise, ...field }: MarkdownFieldProps) {
  const form = useFormContext();
  const { key, props } = useField(field);
  const read = () => {
    const { [field.name]: text } = form.getValues();
    return typeof text === "string" && text.trim() !== "" ? text : otherwise;
  };
  return (
    <Tabs defaultValue="write" keepMounted={false}>
      <Tabs.List aria-label={`${field.label}: write or preview`} mb="xs">
        <Tabs.Tab value="write">Write</Tabs.Tab>
        <Tabs.Tab value="preview">Preview</Tabs.Tab>
      </Tabs.List>
      {/* What is being written stays there while it is looked at. */}
      <Tabs.Panel value="write" keepMounted>
        <Textarea key={key} {...props} rows={16} spellCheck classNames={{ input: "mono" }} />
      </Tabs.Panel>
      <Tabs.Panel value="preview">
        <WrittenMarkdown read={read} />
      </Tabs.Panel>
    </Tabs>
  );
}

function WrittenMarkdown({ read }: { readonly read: () => string }) {
  const text = read();
  return text === "" ? <Text c="dimmed">There is no description yet.</Text> : <Markdown text={text} />;
}
