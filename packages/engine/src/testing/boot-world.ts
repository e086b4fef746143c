import { beginBoot, reduceBoot } from "../python/pool/boot-machine.ts";
import type { BootEffect, BootEvent, BootReport, BootState, PoolOrder } from "../python/pool/boot-machine.ts";
import type { BootFailure } from "../python/pool/start-failure.ts";
import { demand } from "./demand.ts";

const SETTINGS = { helloMs: 2000, bootMs: 5000 };

/** The world around the machine: what cannot happen does not, and each effect is compared with the promises. */
export class BootWorld {
  state: BootState;
  #timer: "off" | "hello" | "import" = "off";
  #process: "starting" | "alive" | "gone" = "starting";
  #end: "open" | "ordered" = "open";
  #diagnosis: "none" | "asked" | "abandoned" = "none";
  #verdict: "none" | "ready" | "unsafe" = "none";
  #hello: "none" | "said" = "none";
  #kept = 0;
  #reports: string[] = [];

  constructor() {
    const begin = beginBoot(SETTINGS);
    this.state = begin.state;
    for (const effect of begin.effects) this.#perform(effect);
  }

  play(event: BootEvent): void {
    if (!this.#canHappen(event)) return;
    if (event.type === "limit") this.#timer = "off";
    const step = reduceBoot(Object.freeze(this.state), event, SETTINGS);
    this.state = step.state;
    for (const effect of step.effects) this.#perform(effect);
    this.#check();
  }

  /** The process ends in the end, and the question for the sandbox is answered. */
  finish(later: readonly BootEvent[]): void {
    this.play({ type: "ended", end: { description: "ended", hasBegun: true, excess: null }, kept: [] });
    this.play({ type: "diagnosed", fault: null });
    demand(this.#reports.at(-1) === "closed", "the end is reported");
    for (const event of later)
      demand(reduceBoot(this.state, event, SETTINGS).effects.length === 0, "nothing follows");
  }

  #canHappen(event: BootEvent): boolean {
    if (event.type === "limit") return this.#timer !== "off";
    if (event.type === "unstartable") return this.#process === "starting";
    if (event.type === "diagnosed") return this.#diagnosis !== "none";
    if (event.type === "ordered") return this.#reports.at(-1) !== "closed";
    if (this.#process === "gone") return false;
    if (event.type === "ended" || event.type === "said") this.#process = "alive";
    if (event.type === "said" && event.said.event === "hello") this.#hello = "said";
    if (event.type === "ended") this.#process = "gone";
    return true;
  }

  #perform(effect: BootEffect): void {
    demand(!this.#reports.includes("closed"), "no effect after the end");
    switch (effect.type) {
      case "startTimer":
        return this.#startTimer(effect.milliseconds);
      case "stopTimer":
        this.#timer = "off";
        return;
      case "order":
        return this.#obey(effect.order);
      case "diagnose":
        demand(this.#diagnosis === "none", "one question");
        this.#diagnosis = "asked";
        return;
      case "stopDiagnosis":
        demand(this.#diagnosis === "asked", "what is asked is given up once");
        this.#diagnosis = "abandoned";
        return;
      case "keepLines":
        this.#kept += 1;
        return;
      case "dropLines":
        this.#kept = 0;
        return;
      case "logLines":
        return demand(this.#verdict === "ready", "what is printed at import is for the executions");
      case "report":
        this.#hear(effect.report);
    }
  }

  #startTimer(milliseconds: number): void {
    const isFirst = this.#timer === "off";
    demand(this.#timer === (this.#hello === "none" ? "off" : "hello"), "each limit is given once");
    demand(milliseconds === (isFirst ? SETTINGS.helloMs : SETTINGS.bootMs), "each limit has its length");
    this.#timer = isFirst ? "hello" : "import";
  }

  #obey({ order }: PoolOrder): void {
    if (order === "stop" || order === "kill") this.#end = "ordered";
    else demand(this.#end === "open", "no child is ordered from what is ending");
  }

  #hear(report: BootReport): void {
    if (report.event === "ready" || report.event === "unsafe") this.#judge(report.event);
    else if (report.event === "closed") this.#conclude(report.failure);
    else demand(this.#verdict === "ready", "children are there when it is ready");
    this.#reports.push(report.event);
  }

  #judge(verdict: "ready" | "unsafe"): void {
    demand(this.#verdict === "none" && this.#hello === "said", "one verdict, after the hello");
    this.#verdict = verdict;
  }

  #conclude(failure: BootFailure | null): void {
    if (this.#verdict !== "none") demand(failure === null, "who was ready has not failed");
    else if (this.#diagnosis === "abandoned") demand(failure === null, "nobody asks any more");
    else if (this.#end === "open") demand(failure !== null, "no end without a reason");
    if (this.#diagnosis === "asked")
      demand(failure?.outcome.status === "NOT_STARTED", "the project is at fault only when its code has run");
    this.#process = "gone";
  }

  #check(): void {
    const isOver = this.#reports.includes("closed");
    if (isOver) return demand(this.#timer === "off", "no timer is left");
    if (this.#process === "gone") return demand(this.#diagnosis !== "none", "an end is reported");
    if (this.#verdict === "ready")
      return demand(this.#timer === "off" && this.#kept === 0, "nothing is limited or kept when it is ready");
    if (this.state.name === "importing")
      demand(this.#timer === "import", "the import has a limit of its own");
    const isBounded = this.#timer !== "off" || this.#end === "ordered";
    demand(isBounded, "a boot does not last for ever");
  }
}
