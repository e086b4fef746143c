import { SETTINGS } from "./pool-settings.ts";

/** After the first, second, third failure of the project in a row, and all that follow. */
const PAUSES = [SETTINGS.failureMs, SETTINGS.failureMs, SETTINGS.parkMs, SETTINGS.maxParkMs];
const PARKED_FROM = 3;

/** How often the project could not be started in a row, and until when it is left alone for that. */
export class ProjectBook {
  #failures = 0;
  #until = -1;
  #failedAt = -Infinity;

  isBarred(now: number): boolean {
    return now < this.#until;
  }

  succeed(): void {
    this.#failures = 0;
    this.#until = -1;
  }

  tryAgain(): void {
    this.#until = -1;
  }

  failBoot(now: number): void {
    this.#failures += 1;
    this.#until = now + (PAUSES[Math.min(this.#failures, PAUSES.length) - 1] ?? 0);
  }

  /** Of a child: nothing comes of the first two, and nothing is counted of those that were under way when it was parked, or another failed. */
  failImport(now: number, orderedAt: number): void {
    if (this.isBarred(now) || orderedAt < this.#failedAt) return;
    this.#failedAt = now;
    if (this.#failures + 1 < PARKED_FROM) this.#failures += 1;
    else this.failBoot(now);
  }
}
