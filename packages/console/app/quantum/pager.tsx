import { Button, Group, Text } from "@mantine/core";
import type { AnswerOf } from "../api/client.ts";
import { useSetSearch } from "../ui/dialog.tsx";
import { Unless } from "../ui/unless.tsx";
import { formatCount } from "../util/units.ts";

interface PagerProps {
  readonly of: Omit<AnswerOf<"listQuantumJobs">, "content">;
  /** What is listed, in words. */
  readonly one?: string;
  readonly many?: string;
}

/** From one page of a list to the next. */
export function Pager({ of: list, one = "job", many = "jobs" }: PagerProps) {
  const setSearch = useSetSearch();
  const { page, total_pages: pages, total_elements: total, last } = list;
  if (total === 0) return null;
  const open = (next: number) => setSearch({ page: next <= 0 ? undefined : next + 1 }, "push");
  return (
    <Group mt="sm" gap="sm" justify="space-between">
      <Text fz="sm" c="dimmed" role="status">
        {formatCount(total)} {total === 1 ? one : many}
        {pages > 1 && `, page ${formatCount(page + 1)} of ${formatCount(pages)}`}
      </Text>
      {pages > 1 && (
        <Group gap="xs">
          <Unless reason={page === 0 ? `These are the newest ${many}.` : null}>
            <Button size="xs" variant="default" onClick={() => open(page - 1)}>
              Newer
            </Button>
          </Unless>
          <Unless reason={last ? `These are the oldest ${many}.` : null}>
            <Button size="xs" variant="default" onClick={() => open(page + 1)}>
              Older
            </Button>
          </Unless>
        </Group>
      )}
    </Group>
  );
}
