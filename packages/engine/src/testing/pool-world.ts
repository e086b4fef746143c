import type { BootReport, PoolOrder } from "../python/pool/boot-machine.ts";
import { reducePool } from "../python/pool/pool-machine.ts";
import { createPoolState } from "../python/pool/pool-state.ts";
import type { PoolEffect, PoolEvent, PoolState } from "../python/pool/pool-state.ts";
import type { BootFailure } from "../python/pool/start-failure.ts";
import { demand } from "./demand.ts";
import { FAILURES, isReport } from "./pool-moves.ts";
import type { PoolMove, ReportMove } from "./pool-moves.ts";
import { SETTINGS } from "./pool-settings.ts";
import { ProjectBook } from "./project-book.ts";

type Fate = "waiting" | "running" | "exited" | "refused" | "withdrawn" | "gone" | "lost";

interface ChildBook {
  readonly orderedAt: number;
  role: "starting" | "idle" | "running" | "unused";
  connections: "awaited" | "open" | "disposed of";
  /** Whether it may be given an execution: not when it was killed, or is said to have exited. */
  use: "good" | "killed" | "exited";
}

/**
 * The world around the machine of a pool. It keeps books of its own, from events and effects alone, and compares them with what
 * the pool promises. A zygote may say anything of its children at any time; the rest happens only when it can.
 */
export class PoolWorld {
  state: PoolState = createPoolState(SETTINGS, { startMode: "auto", maxChildren: Infinity }, 0);
  #now = 0;
  #zygote: "none" | "booting" | "warm" | "ending" = "none";
  #wish: "serve" | "retire" | "close" = "serve";
  #pool: "open" | "closed" = "open";
  #mode: "auto" | "spawn" = "auto";
  readonly #project = new ProjectBook();
  #lastUsed = 0;
  #warmSince = 0;
  #replacedAt = -SETTINGS.replaceMs;
  #lastChild = 0;
  /** The move being made, and the forks that it ordered. */
  #move = "";
  #forks = 0;
  readonly #fates: Fate[] = [];
  readonly #outcomes: unknown[] = [];
  /** Those of the present zygote that are not gone, by their numbers. */
  readonly #children = new Map<number, ChildBook>();

  play(move: PoolMove): void {
    this.#move = move[0];
    this.#forks = 0;
    if (isReport(move)) this.#say(move);
    else this.#act(move);
    this.#check();
  }

  #act(move: Exclude<PoolMove, ReportMove>): void {
    switch (move[0]) {
      case "submit":
        return this.#submit();
      case "withdraw":
        return this.#withdraw(move[1]);
      case "connect":
        return this.#connect(move[1], null);
      case "connectFailed":
        return this.#connect(move[1], FAILURES.fault);
      case "tick":
        return this.#tick(move[1]);
      case "closed":
        return this.#close(FAILURES[move[1]]);
      case "answered":
      case "stuck":
      case "trim":
      case "prepare":
        return this.#dispatch({ type: move[0] });
      case "retire":
      case "close":
        if (this.#wish !== "close") this.#wish = move[0];
        return this.#dispatch({ type: move[0] });
    }
  }

  /** With a zygote that obeys its orders, no execution waits without end. */
  deliver(): void {
    for (let round = 0; round < 300 && this.#list("waiting").length > 0; round += 1) {
      const starting = [...this.#children].find(([, { role }]) => role === "starting");
      if (this.#zygote === "ending" || starting === undefined) this.play(["closed", "none"]);
      else if (starting[1].use === "good" && starting[1].connections === "awaited") this.play(["connect", 0]);
      else this.#lose(starting[0]);
    }
    demand(this.#list("waiting").length === 0, "who waits is served, or hears why not");
  }

  /** Once it is closed and the zygote has ended, nothing is left. */
  finish(): void {
    this.play(["close"]);
    this.play(["closed", "none"]);
    demand(this.#pool === "closed", "a closed pool ends");
    demand(this.#list("waiting", "running", "exited").length === 0, "every execution ends");
    demand(this.state.children.length + this.state.queue.length === 0, "nothing is kept");
    this.play(["submit"]);
    this.play(["tick", 5000]);
  }

  #list(...wanted: readonly Fate[]): readonly number[] {
    return [...this.#fates.keys()].filter((ticket) => wanted.some((fate) => this.#fates[ticket] === fate));
  }

  #count(role: ChildBook["role"]): number {
    return [...this.#children.values()].filter((child) => child.role === role).length;
  }

  #canServe(): boolean {
    return this.#zygote === "booting" || this.#zygote === "warm";
  }

  #isBusy(): boolean {
    return this.#list("waiting", "running", "exited").length > 0;
  }

  #dispatch(event: PoolEvent): void {
    const { state } = this;
    for (const value of [state, state.queue, state.children, ...state.children]) Object.freeze(value);
    const step = reducePool(state, event, this.#now);
    this.state = step.state;
    for (const effect of step.effects) this.#perform(effect);
  }

  #report(report: BootReport): void {
    this.#dispatch({ type: "reported", report });
  }

  #submit(): void {
    const ticket = this.#fates.push("waiting") - 1;
    const isRefused = this.#wish === "close" || this.#pool === "closed" || this.#project.isBarred(this.#now);
    const isServed = !isRefused && this.#canServe() && this.#count("idle") > 0;
    if (this.#wish !== "close" && this.#pool === "open") this.#lastUsed = this.#now;
    this.#dispatch({ type: "submit", execution: ticket });
    const expected = isServed ? "running" : "waiting";
    demand(
      this.#fates[ticket] === (isRefused ? "refused" : expected),
      "an idle child takes it; else it waits",
    );
  }

  #withdraw(pick: number): void {
    const waiting = this.#list("waiting");
    const ticket = waiting[pick % Math.max(1, waiting.length)] ?? pick;
    if (this.#fates[ticket] === "waiting") this.#fates[ticket] = "withdrawn";
    this.#dispatch({ type: "withdraw", execution: ticket });
  }

  #connect(pick: number, failure: BootFailure | null): void {
    const candidates = [...this.#children].filter(([, { connections }]) => connections === "awaited");
    const [id, child] = candidates[pick % Math.max(1, candidates.length)] ?? [];
    if (id === undefined || child === undefined) return;
    child.connections = "open";
    if (this.#mode === "spawn" && child.use === "good" && this.#canServe())
      this.#judgeImport(failure === null, child);
    this.#dispatch({ type: "connected", child: id, failure });
    if (child.connections !== "open") return;
    demand(child.use === "good" && this.#canServe(), "only a child that can be used is kept");
    child.role = "idle";
  }

  #judgeImport(isGood: boolean, { orderedAt }: ChildBook): void {
    if (isGood) this.#project.succeed();
    else this.#project.failImport(this.#now, orderedAt);
  }

  #lose(id: number): void {
    const keys = [...this.#children.keys()];
    this.play(["exit", keys.indexOf(id)]);
    this.play(["gone", keys.indexOf(id)]);
  }

  #say([name, value]: ReportMove): void {
    if (this.#zygote === "none") return;
    if (name === "ready") return this.#sayReady(value);
    if (name === "unsafe") {
      if (this.#zygote === "booting") [this.#zygote, this.#mode] = ["ending", "spawn"];
      return this.#report({ event: "unsafe", reason: "a thread was started" });
    }
    const ids = [...this.#children.keys(), this.#lastChild + 1];
    this.#sayOfChild(name, ids[value % ids.length] ?? 0);
  }

  #sayReady(mode: "fork" | "spawn"): void {
    if (this.#zygote === "booting") {
      this.#zygote = "warm";
      if (this.#mode === "auto") this.#project.succeed();
      this.#warmSince = this.#now;
      this.#lastUsed = this.#now;
      this.#replacedAt = this.#now - SETTINGS.replaceMs;
    }
    this.#report({ event: "ready", mode });
  }

  #sayOfChild(event: "exit" | "gone" | "refused" | "full", id: number): void {
    const child = this.#children.get(id);
    if (event === "exit") {
      if (child !== undefined) child.use = "exited";
      return this.#report({ event, id, code: 3, signal: null });
    }
    const isOver = child?.use === "exited" || child?.role === "unused";
    const isBelieved = event === "refused" || event === "full" ? child?.role === "starting" : isOver;
    if (isBelieved) this.#children.delete(id);
    const isFailed = event === "gone" && isBelieved && child?.role === "starting";
    if (isFailed && this.#mode === "spawn" && this.#canServe()) this.#judgeImport(false, child);
    if (isBelieved && event === "gone" && child?.role === "running") this.#lastUsed = this.#now;
    this.#report(event === "refused" ? { event, id, reason: "EAGAIN" } : { event, id });
  }

  #tick(milliseconds: number): void {
    this.#now += milliseconds;
    const wasWarm = this.#zygote === "warm";
    const idleMs = this.#isBusy() ? 0 : this.#now - this.#lastUsed;
    this.#dispatch({ type: "tick", memory: milliseconds > SETTINGS.bootMs ? "tight" : "ample" });
    if (idleMs > SETTINGS.idleMs) demand(this.#count("idle") === 0, "idle children go after their time");
    if (idleMs > SETTINGS.zygoteIdleMs) demand(!this.#canServe(), "an idle zygote goes after its time");
    for (const child of this.#children.values()) {
      const lateMs = this.#now - Math.max(child.orderedAt, this.#warmSince) - SETTINGS.bootMs;
      if (!wasWarm || child.role !== "starting" || lateMs <= 0) continue;
      demand(child.use !== "good" || !this.#canServe(), "a child that is late is killed");
      demand(
        lateMs <= SETTINGS.confirmMs || !this.#canServe(),
        "a zygote that does not end a child is killed",
      );
    }
  }

  #close(failure: BootFailure | null): void {
    if (this.#zygote === "none") return;
    const before = [...this.#children];
    const waiting = this.#list("waiting");
    this.#zygote = "none";
    if (failure?.outcome.status === "FAILED") this.#project.failBoot(this.#now);
    this.#report({ event: "closed", description: "ended", failure });
    for (const [id, child] of before) {
      demand(child.connections !== "open", "connections do not outlive the zygote");
      this.#children.delete(id);
    }
    demand(this.#list("running", "exited").length === 0, "what was handed over is lost with the zygote");
    for (const ticket of failure === null ? [] : waiting)
      demand(this.#outcomes[ticket] === failure?.outcome, "all who wait hear why the boot failed");
  }

  #perform(effect: PoolEffect): void {
    demand(this.#pool === "open" || effect.type === "refuse", "no effect after the end");
    switch (effect.type) {
      case "boot":
        return this.#boot();
      case "order":
        return this.#obey(effect.order);
      case "handOver":
        return this.#handOver(effect.child, effect.execution);
      case "disconnect":
        return this.#disconnect(effect.child);
      case "refuse":
      case "exit":
      case "gone":
      case "lost":
        return this.#inform(effect);
      case "closed":
        return this.#end();
      case "replace":
        return this.#replace();
      case "log":
    }
  }

  #boot(): void {
    demand(this.#zygote === "none" && this.#wish !== "close", "one zygote at a time, none when closed");
    demand(!this.#project.isBarred(this.#now), "what could not be started is left alone for a while");
    this.#zygote = "booting";
    this.#project.tryAgain();
  }

  #end(): void {
    const isNeeded = this.#wish === "serve" || this.#isBusy();
    demand(this.#zygote === "none" && !isNeeded, "it ends when nothing is left");
    this.#pool = "closed";
  }

  #replace(): void {
    demand(this.#zygote === "warm" && this.#wish === "serve", "only what serves is replaced");
    demand(this.#now >= this.#replacedAt + SETTINGS.replaceMs, "it is not asked for again and again");
    this.#replacedAt = this.#now;
  }

  #inform(effect: Extract<PoolEffect, { readonly type: "refuse" | "exit" | "gone" | "lost" }>): void {
    const { execution } = effect;
    if (effect.type === "refuse") this.#outcomes[execution] = effect.outcome;
    if (effect.type === "refuse") return this.#turn(execution, "refused", "waiting");
    if (effect.type === "exit") return this.#turn(execution, "exited", "running");
    if (effect.type === "gone") return this.#turn(execution, "gone", "exited");
    demand(this.#move === "closed", "nothing is lost before the zygote has ended");
    this.#turn(execution, "lost", "running", "exited");
  }

  #turn(execution: number, fate: Fate, ...from: readonly Fate[]): void {
    const present = this.#fates[execution];
    demand(
      from.some((known) => known === present),
      `an execution that is ${present} is not ${fate}`,
    );
    this.#fates[execution] = fate;
  }

  #obey(order: PoolOrder): void {
    demand(this.#canServe(), "orders are given to a zygote that takes them");
    if (order.order === "fork") return this.#fork(order.id);
    if (order.order === "signal") return this.#kill(order.id);
    if (order.order === "forget")
      return demand(!this.#children.has(order.id), "only what is gone is forgotten");
    const isUnneeded = this.#wish === "retire" || this.#now - this.#lastUsed > SETTINGS.zygoteIdleMs;
    if (order.order === "stop")
      demand(
        this.#wish === "close" || (isUnneeded && !this.#isBusy()),
        "no zygote is stopped without a reason",
      );
    else demand(this.#move === "stuck" || this.#move === "tick", "no zygote is killed without a reason");
    this.#zygote = "ending";
  }

  #fork(id: number): void {
    demand(id === this.#lastChild + 1, "each child has a number of its own");
    this.#lastChild = id;
    this.#forks += 1;
    this.#children.set(id, { orderedAt: this.#now, role: "starting", connections: "awaited", use: "good" });
  }

  #kill(id: number): void {
    const child = this.#children.get(id);
    demand(child?.role === "starting", "only a child that is not ready is killed");
    const startingMs = this.#now - Math.max(child.orderedAt, this.#warmSince);
    demand(startingMs > SETTINGS.bootMs, "no child is killed before it is late");
    if (child.use === "good") child.use = "killed";
  }

  #handOver(id: number, execution: number): void {
    const child = this.#children.get(id);
    demand(child !== undefined && this.#canServe(), "a child is there to take it");
    demand(child.use === "good", "nothing is given to a child that was killed or is said to have exited");
    demand(child.connections === "open", "a child is given one execution at most");
    demand(this.#list("waiting")[0] === execution, "who waited longest is next");
    child.connections = "disposed of";
    child.role = "running";
    this.#turn(execution, "running", "waiting");
  }

  #disconnect(id: number): void {
    const child = this.#children.get(id);
    demand(child?.connections === "open", "connections are closed once, and never those of an execution");
    child.connections = "disposed of";
    // One that could not import a project that is parked is closed as soon as it has come.
    const isUnimported = child.role === "starting" && child.use === "good" && this.#canServe();
    if (child.role !== "idle" && !isUnimported) return;
    child.role = "unused";
    const isIdle = !this.#isBusy() && (this.#now - this.#lastUsed > SETTINGS.idleMs || this.#move === "trim");
    demand(
      child.use === "exited" ||
        this.#project.isBarred(this.#now) ||
        isIdle ||
        this.#isSpare() ||
        this.#move === "closed",
      "no idle child is closed without a reason",
    );
  }

  /** Some may go at the end of a period, never the last one. */
  #isSpare(): boolean {
    return this.#move === "tick" && this.#count("idle") > 0;
  }

  #check(): void {
    const waiting = this.#list("waiting");
    const starting = this.#count("starting");
    const idle = this.#count("idle");
    demand(waiting.join() === this.state.queue.join(), "who waits is in the queue, and nobody else");
    const known = this.state.children.map(({ id }) => id).join();
    demand(known === [...this.#children.keys()].join(), "the children that are not gone are known");
    demand(waiting.length === 0 || this.#zygote !== "none", "who waits has a zygote");
    demand(waiting.length === 0 || this.#wish !== "close", "nobody waits for a closed pool");
    if (this.#canServe()) {
      demand(waiting.length === 0 || idle === 0, "nobody waits while a child is idle");
      demand(starting >= waiting.length, "who waits has a child on order");
    }
    const most = waiting.length + SETTINGS.slots;
    demand(this.#forks === 0 || starting + idle <= most, "no more children are ordered than can be used");
    if (this.#wish === "serve" || (this.#wish === "retire" && this.#isBusy())) return;
    demand(!this.#canServe(), "a zygote that is not needed any more is stopped");
    demand(this.#zygote !== "none" || this.#pool === "closed", "it ends as soon as nothing is left");
  }
}
