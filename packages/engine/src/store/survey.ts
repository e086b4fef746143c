/** Executions of the queue that a survey looks at, from its head; of the first ones it returns all places, then each of so many. */
export const SURVEY = { most: 20_000, all: 200, step: 50 } as const;

/** Whether a survey returns the place of the execution that so many are before. */
export function isSurveyed(ahead: number): boolean {
  return ahead < SURVEY.all || ahead % SURVEY.step === 0;
}
