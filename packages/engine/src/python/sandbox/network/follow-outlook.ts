import type { View } from "./outlook.ts";

/** Ends what follows. */
export interface Following {
  readonly close: () => void;
}

/** What follows, and who is informed. */
interface FollowOptions {
  readonly look: () => Promise<View>;
  readonly onView: (view: View) => void;
  /** What `look` or `onView` has thrown, as without a free descriptor, which listing the addresses of a machine takes: it is tried again after the same time. */
  readonly onFault: (error: unknown) => void;
}

/** Looks again when a view says so, and passes on what is seen, until it is closed. */
export function followOutlook(first: View, { look, onView, onFault }: FollowOptions): Following {
  let state: "open" | "closed" = "open";
  let last = first;
  let timer = wait();

  function wait(): NodeJS.Timeout {
    return setTimeout(() => void lookAgain(), last.againMs).unref();
  }

  async function lookAgain(): Promise<void> {
    try {
      const view = await look();
      if (state === "closed") return;
      last = view;
      onView(view);
    } catch (error) {
      if (state === "closed") return;
      onFault(error);
    }
    timer = wait();
  }

  return {
    close: () => {
      state = "closed";
      clearTimeout(timer);
    },
  };
}
