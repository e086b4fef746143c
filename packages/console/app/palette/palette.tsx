import { Modal } from "@mantine/core";
import { IconSearch } from "@tabler/icons-react";
import { useEffect, useId, useRef, useState } from "react";
import type { KeyboardEvent } from "react";
import { SEARCH_LIMITS } from "@platform/contract/search-limits";
import { createScope, ScopeProvider, useScope } from "../api/scope.tsx";
import type { Organisation } from "../api/scope.tsx";
import { findCommands } from "./find-commands.ts";
import type { Command } from "./find-commands.ts";
import { useCommands } from "./use-commands.ts";
import { useFound } from "./use-found.ts";
import "./palette.css";

interface PaletteProps {
  readonly organisation: Organisation;
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

/**
 * Finds pages, actions and what the organisation has, by its name; an execution by its identifier; executions by the code that they
 * ended with. Ctrl or Cmd K. Loaded when it is asked for the first time.
 */
export function Palette({ organisation, isOpen, onClose }: PaletteProps) {
  const { queries, me } = useScope();
  // What was chosen takes the focus to where it leads; without a choice it goes back.
  const [hasChosen, setHasChosen] = useState(false);
  const choose = ({ run }: Command) => {
    setHasChosen(true);
    onClose();
    run();
  };
  return (
    <Modal.Root
      opened={isOpen}
      onClose={() => {
        setHasChosen(false);
        onClose();
      }}
      returnFocus={!hasChosen}
      size={600}
      yOffset={80}
    >
      <Modal.Overlay backgroundOpacity={0.4} />
      <Modal.Content aria-label="Find">
        <Modal.Body p={0}>
          {/* The header belongs to the user; what is found here, to the organisation. */}
          <ScopeProvider scope={createScope(queries, me, organisation)}>
            <Finder choose={choose} />
          </ScopeProvider>
        </Modal.Body>
      </Modal.Content>
    </Modal.Root>
  );
}

/** A combobox of the pattern of ARIA: the focus stays in the field, and the field says which option is the current one. */
function Finder({ choose }: { readonly choose: (command: Command) => void }) {
  const list = useId();
  const [query, setQuery] = useState("");
  const [at, setAt] = useState(0);
  const { commands: found, isSearching } = useFound(query);
  const commands = [...findCommands(useCommands(query), query), ...found];
  const current = Math.min(at, Math.max(0, commands.length - 1));
  const idOf = (index: number) => `${list}-${index}`;
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    const next = move(event.key, current, commands.length);
    if (next !== null) setAt(next);
    const command = commands[current];
    if (event.key === "Enter" && command !== undefined) choose(command);
    if (next !== null || event.key === "Enter") event.preventDefault();
  };
  return (
    <>
      <div className="palette-search">
        <IconSearch size={18} aria-hidden />
        <input
          data-autofocus
          type="text"
          role="combobox"
          aria-label="Find a page, an action, or what the organisation has"
          aria-expanded={commands.length > 0}
          aria-controls={list}
          aria-autocomplete="list"
          {...(commands.length === 0 ? {} : { "aria-activedescendant": idOf(current) })}
          placeholder="Name, execution id or code"
          value={query}
          maxLength={SEARCH_LIMITS.execution}
          autoComplete="off"
          spellCheck={false}
          onChange={({ currentTarget }) => {
            setQuery(currentTarget.value);
            setAt(0);
          }}
          onKeyDown={onKeyDown}
        />
      </div>
      <div id={list} role="listbox" aria-label="Found" tabIndex={-1} className="palette-list">
        {commands.map((command, index) => (
          <Option
            key={command.id}
            id={idOf(index)}
            command={command}
            isCurrent={index === current}
            onPoint={() => setAt(index)}
            onChoose={() => choose(command)}
          />
        ))}
      </div>
      <div className="palette-note" role="status">
        {describe(commands.length, isSearching)}
      </div>
    </>
  );
}

/** Where a key leads to; null: it is not for the list. */
function move(key: string, at: number, length: number): number | null {
  if (length === 0) return null;
  if (key === "ArrowDown") return (at + 1) % length;
  if (key === "ArrowUp") return (at + length - 1) % length;
  return null;
}

function describe(count: number, isSearching: boolean): string {
  if (isSearching) return "Searching";
  if (count === 0) return "Nothing is found.";
  return count === 1 ? "1 found" : `${count} found`;
}

interface OptionProps {
  readonly id: string;
  readonly command: Command;
  readonly isCurrent: boolean;
  readonly onPoint: () => void;
  readonly onChoose: () => void;
}

function Option({ id, command: { label, group }, isCurrent, onPoint, onChoose }: OptionProps) {
  const element = useRef<HTMLButtonElement>(null);
  useEffect(() => {
    if (isCurrent) element.current?.scrollIntoView({ block: "nearest" });
  }, [isCurrent]);
  return (
    <button
      ref={element}
      id={id}
      type="button"
      role="option"
      tabIndex={-1}
      aria-selected={isCurrent}
      className="palette-option"
      onPointerMove={onPoint}
      // The focus stays in the field.
      onMouseDown={(event) => event.preventDefault()}
      onClick={onChoose}
    >
      <span>{label}</span> <span className="palette-group">{group}</span>
    </button>
  );
}
