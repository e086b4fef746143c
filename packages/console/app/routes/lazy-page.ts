import { lazyRouteComponent } from "@tanstack/react-router";

/**
 * A page whose files are loaded when it is opened. Without a network they wait for it, as reads do: a file that could not be loaded would leave
 * a failure in the place of the page.
 */
export const lazyPage: typeof lazyRouteComponent = (load, name) =>
  lazyRouteComponent(async () => {
    await becomeOnline();
    return load();
  }, name);

async function becomeOnline(): Promise<void> {
  if (!navigator.onLine)
    await new Promise((resolve) => globalThis.addEventListener("online", resolve, { once: true }));
}
