import type { View } from "./outlook.ts";

/** Ends what follows. */
export interface Following {
  readonly close: () => void;
}

/** Looks again when a view says so, and passes on what is seen, until it is closed; `look` does not reject. */
export function followOutlook(
  first: View,
  look: () => Promise<View>,
  onView: (view: View) => void,
): Following {
  let state: "open" | "closed" = "open";
  let timer = wait(first);

  function wait({ againMs }: View): NodeJS.Timeout {
    return setTimeout(() => void lookAgain(), againMs).unref();
  }

  async function lookAgain(): Promise<void> {
    const view = await look();
    if (state === "closed") return;
    onView(view);
    timer = wait(view);
  }

  return {
    close: () => {
      state = "closed";
      clearTimeout(timer);
    },
  };
}
