/** Named timers of one owner: setting a name again replaces it, so that nothing fires twice. */
export interface Timers<Name extends string> {
  readonly set: (name: Name, milliseconds: number, action: () => void) => void;
  readonly has: (name: Name) => boolean;
  readonly clear: (name: Name) => void;
}

/** Has no timers at first. A timer that is set keeps the process running. */
export function createTimers<Name extends string>(): Timers<Name> {
  const running = new Map<Name, NodeJS.Timeout>();

  function clear(name: Name): void {
    clearTimeout(running.get(name));
    running.delete(name);
  }

  return {
    set: (name, milliseconds, action) => {
      clear(name);
      const timer = setTimeout(() => {
        running.delete(name);
        action();
      }, milliseconds);
      running.set(name, timer);
    },
    has: (name) => running.has(name),
    clear,
  };
}
