import { ActionIcon, useMantineColorScheme } from "@mantine/core";
import { IconDeviceDesktop, IconMoon, IconSun } from "@tabler/icons-react";

const SCHEMES = [
  { value: "auto", label: "as the system", icon: IconDeviceDesktop },
  { value: "light", label: "light", icon: IconSun },
  { value: "dark", label: "dark", icon: IconMoon },
] as const;

/** Light, dark, or as the system is: the next of them with each press. A menu would be a third of the page's script. */
export function SchemeButton() {
  const { colorScheme, setColorScheme } = useMantineColorScheme();
  const at = SCHEMES.findIndex(({ value }) => value === colorScheme);
  const current = SCHEMES[at] ?? SCHEMES[0];
  const next = SCHEMES[(at + 1) % SCHEMES.length] ?? SCHEMES[0];
  const words = `Colour scheme: ${current.label}. Change to ${next.label}`;
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="lg"
      c="var(--mantine-color-text)"
      aria-label={words}
      title={words}
      onClick={() => setColorScheme(next.value)}
    >
      <current.icon size={19} aria-hidden />
    </ActionIcon>
  );
}
