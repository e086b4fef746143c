/** What a pure `reduce` returns for an event: the next state, and the effects to perform in order. */
export interface Step<State, Effect> {
  readonly state: State;
  readonly effects: readonly Effect[];
}

/** The step of an event that changes nothing. */
export function stay<State, Effect>(state: State): Step<State, Effect> {
  return { state, effects: [] };
}

/** A running state machine, made by `runMachine`. */
export interface Machine<State, Event> {
  readonly state: () => State;
  /** Reduces the event and performs its effects before it returns, unless it is called by an effect. */
  readonly dispatch: (event: Event) => void;
}

/**
 * Holds the state of a machine and performs its effects in order. An event that is raised while effects are performed
 * follows after them, so that no effect ever meets a state that is newer than its own.
 */
export function runMachine<State, Event, Effect>(
  begin: State,
  reduce: (state: State, event: Event) => Step<State, Effect>,
  perform: (effect: Effect) => void,
): Machine<State, Event> {
  let state = begin;
  const pending: Event[] = [];

  function handle(event: Event): void {
    const step = reduce(state, event);
    state = step.state;
    for (const effect of step.effects) perform(effect);
  }

  return {
    state: () => state,
    dispatch: (event) => {
      pending.push(event);
      if (pending.length > 1) return;
      try {
        for (let next = pending[0]; next !== undefined; next = pending[0]) {
          handle(next);
          pending.shift();
        }
      } finally {
        pending.length = 0;
      }
    },
  };
}
