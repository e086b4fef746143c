import { Button, Combobox, Group, Text, useCombobox } from "@mantine/core";
import { useWindowEvent } from "@mantine/hooks";
import { IconPlus, IconSelector } from "@tabler/icons-react";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import type { Organisation } from "../api/scope.tsx";
import { MOST_ORGANISATIONS, useOrganisations } from "./use-organisations.ts";

interface OrganisationSwitcherProps {
  readonly current: Organisation;
  /** At most the first hundred. */
  readonly all: readonly Organisation[];
  readonly onChoose?: () => void;
}

/** An organisation's slug has at least two characters. */
const NEW = "+";

/** From so many on there is a field to find one by its name. */
const MANY = 7;

/** Shows the organisation of the page, and leads to another one. */
export function OrganisationSwitcher({ current, all, onChoose }: OrganisationSwitcherProps) {
  const navigate = useNavigate();
  const [sought, setSought] = useState("");
  const combobox = useCombobox({
    onDropdownClose: () => {
      combobox.resetSelectedOption();
      setSought("");
    },
    onDropdownOpen: () => (all.length >= MANY ? combobox.focusSearchInput() : undefined),
  });
  // Also where the focus has left it, e.g. since the button is hidden on a screen that got narrow.
  useWindowEvent("keydown", ({ key }) => {
    if (key === "Escape") combobox.closeDropdown();
  });
  const { shown, isSearching } = useOrganisations(all, sought);
  const choose = (slug: string) => {
    combobox.closeDropdown();
    onChoose?.();
    if (slug === NEW) void navigate({ to: "/organizations/new" });
    else void navigate({ to: "/o/$org", params: { org: slug } });
  };
  return (
    <Combobox store={combobox} onOptionSubmit={choose} width={280} position="bottom-start">
      <Combobox.Target targetType="button">
        <Button
          variant="default"
          aria-label={`Organisation: ${current.name}`}
          rightSection={<IconSelector size={15} aria-hidden />}
          onClick={() => combobox.toggleDropdown()}
          maw={260}
        >
          {/* What is cut off for its width is cut off below as well: a line of a button is as high as its letters, without the ends of g. */}
          <Text truncate inherit lh={1.4} title={current.name}>
            {current.name}
          </Text>
        </Button>
      </Combobox.Target>
      <Combobox.Dropdown>
        {all.length >= MANY && (
          <Combobox.Search
            value={sought}
            onChange={(event) => setSought(event.currentTarget.value)}
            placeholder="Find"
            maxLength={120}
            aria-label="Find an organisation"
          />
        )}
        <Options shown={shown} isSearching={isSearching} currentId={current.id} />
        {shown.length >= MOST_ORGANISATIONS && (
          <Combobox.Footer>
            <Text fz="xs" c="dimmed">
              The first {MOST_ORGANISATIONS} are listed; others are found by their name.
            </Text>
          </Combobox.Footer>
        )}
      </Combobox.Dropdown>
    </Combobox>
  );
}

interface OptionsProps {
  readonly shown: readonly Organisation[];
  readonly isSearching: boolean;
  readonly currentId: string;
}

function Options({ shown, isSearching, currentId }: OptionsProps) {
  return (
    <Combobox.Options aria-label="Organisations" mah={320} style={{ overflowY: "auto" }}>
      {shown.map(({ id, slug, name, role }) => (
        <Combobox.Option key={id} value={slug} active={id === currentId}>
          <Text fz="sm" truncate title={name}>
            {name}
          </Text>
          <Text fz="xs" c="dimmed">
            {role}
          </Text>
        </Combobox.Option>
      ))}
      {shown.length === 0 && (
        <Combobox.Empty>{isSearching ? "Searching" : "No organisation has this in its name"}</Combobox.Empty>
      )}
      <Combobox.Option value={NEW} mt={4}>
        <Group gap={6}>
          <IconPlus size={15} aria-hidden />
          <Text fz="sm">New organisation</Text>
        </Group>
      </Combobox.Option>
    </Combobox.Options>
  );
}
