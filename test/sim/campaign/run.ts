/**
 * Runs a plan: the whole runtime in this process on a simulated clock, with the plan's faults, then
 * half an hour without faults, in which everything has to come to its end.
 */
import { settingsFor } from "../../../src/actors/host/conversation-settings.ts";
import { replayConversation } from "../../../src/actors/journal/replayed-conversation.ts";
import { decodeEvent } from "../../../src/actors/protocol/event-codec.ts";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { seededIds, simulatedRandom } from "../../../src/actors/simulation/simulated-platforms.ts";
import { SimulatedScheduler } from "../../../src/actors/simulation/simulated-scheduler.ts";
import { createScriptedDriver } from "../../../src/adapters/agents/scripted/driver.ts";
import {
  type EarshotConfig,
  parseConfig,
  scenarioConfig,
} from "../../../src/domain/config/index.ts";
import type { Route } from "../../../src/domain/message.ts";
import type { AgentDriver } from "../../../src/domain/ports/index.ts";
import type { ScriptedRun } from "../../../src/domain/scenario/script.ts";
import type { StreamLine } from "../../../src/domain/stream.ts";
import { Disk } from "./disk.ts";
import { type Ending, type Entry, type History, nameOf, theEnd, type Written } from "./history.ts";
import { Life } from "./life.ts";
import { calmAt, chats, configs, type Plan, type Step } from "./plan.ts";
import { Platforms } from "./platforms.ts";

const startedAt = 1_763_700_000_000;
/** Everything is sent, or expired after 15 minutes; a turn ends within 10. */
const calmMs = 30 * 60_000;
/** Who starts the daemon again after it could not start. */
const restartMs = 1_000;
/** More calls of the scheduler at one moment are a loop that does not end. */
const callsAtOnceMax = 200_000;
const everything = 1_000_000;

export async function runPlan(plan: Plan): Promise<History> {
  const run = new Run(plan);
  return run.toEnd();
}

class Run {
  readonly #plan: Plan;
  readonly #entries: Entry[] = [];
  readonly #clock = new SimulatedClock(0);
  readonly #scheduler: Counted;
  readonly #disk = new Disk(this.#clock);
  readonly #platforms: Platforms;
  readonly #driver: AgentDriver;
  /** Runs that agents make next, and those that turns have. */
  readonly #runs: ScriptedRun[] = [];
  readonly #runOf = new Map<string, ScriptedRun>();
  #config: EarshotConfig = configOf(0);
  #offset = 0;
  #downMs = 0;
  /** Calls after which the next processes die. */
  #kills: number[] = [];
  #lives = 0;
  #life: Life | null = null;

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#scheduler = new Counted(() => this.#clock.now());
    this.#platforms = new Platforms(
      this.#clock,
      (entry) => this.#entries.push(entry),
      () => this.#life,
    );
    this.#driver = createScriptedDriver({
      next: (_agent, turnId) => this.#runFor(turnId),
    }) as AgentDriver;
  }

  async toEnd(): Promise<History> {
    for (const step of this.#plan.steps)
      this.#clock.setTimer(step.at, () => {
        this.#entries.push({ at: step.at, what: "step", step });
        this.#do(step);
      });
    this.#begin();
    await this.#until(calmAt);
    this.#disk.heal();
    this.#platforms.heal();
    this.#kills = [];
    this.#starting?.spare();
    await this.#until(calmAt + calmMs / 2);
    // What its status complains about, its owner restarts.
    if (this.#life?.isAlive && this.#life.runtime.status().problem !== null)
      this.#life.die("restarted by its owner");
    await this.#until(calmAt + calmMs);
    const ending = await this.#ending();
    this.#life?.die(theEnd);
    await this.#disk.store.close();
    return { entries: this.#entries, ending };
  }

  async #until(at: number): Promise<void> {
    await this.#scheduler.idle();
    while (this.#clock.fireNext(at)) await this.#scheduler.idle();
    this.#clock.advanceTo(at);
  }

  #begin(): void {
    this.#lives += 1;
    const life = new Life({
      number: this.#lives,
      clock: this.#clock,
      wall: () => startedAt + this.#clock.now() + this.#offset,
      scheduler: this.#scheduler,
      disk: this.#disk,
      ids: seededIds(this.#clock, this.#plan.seed + this.#lives),
      random: simulatedRandom(this.#clock, this.#plan.seed + this.#lives),
      config: this.#config,
      driver: this.#driver,
      outbound: (channel, now) => this.#platforms.outbound(channel, now),
      isConnected: this.#platforms.isConnected,
      onCommit: (rows, now) => this.#committed(rows, life.number, now),
      onSync: (commits) => this.#entries.push({ at: this.#clock.now(), what: "synced", commits }),
      onLine: (line) => this.#lined(line),
      onDeath: (dead, why) => this.#buried(dead, why),
    });
    this.#entries.push({ at: this.#clock.now(), what: "begun", life: life.number });
    const calls = this.#kills.shift();
    if (calls !== undefined) kill(life, calls);
    life.start().then(
      () => {
        if (!life.isAlive) return;
        this.#life = life;
        this.#platforms.connect(life);
      },
      (error: unknown) => {
        this.#downMs = restartMs;
        life.die(`could not start: ${error}`);
      },
    );
    this.#starting = life;
  }

  #committed(rows: readonly Written[], life: number, now: number): void {
    const at = this.#clock.now();
    this.#entries.push({ at, what: "committed", life, now, rows });
  }

  #lined(line: StreamLine): void {
    const at = this.#clock.now();
    this.#entries.push({ at, what: "line", line });
    if ("out" in line && line.out === "typing" && typeof line.chat === "string")
      this.#entries.push({ at, what: "typing ordered", chat: line.chat, on: line.on === true });
  }

  /** The process that is there, ready or not. */
  #starting: Life | null = null;

  #buried(dead: Life, why: string): void {
    const at = this.#clock.now();
    this.#entries.push({ at, what: "ended", life: dead.number, why });
    this.#life = null;
    if (why !== theEnd) this.#clock.setTimer(at + this.#downMs, () => this.#begin());
    this.#downMs = 0;
  }

  #do(step: Step): void {
    const runtime = this.#life?.isAlive ? this.#life.runtime : null;
    switch (step.does) {
      case "say":
        this.#platforms.say(step);
        break;
      case "edit":
      case "delete":
        this.#platforms.change(step);
        break;
      case "hand over again":
        this.#platforms.handOverAgain(step.count);
        break;
      case "disconnect":
        this.#platforms.disconnect(step.channel, step.forMs);
        break;
      case "stale record":
        this.#disk.writeStaleRecords((rows) => this.#committed(rows, 0, 0)).catch(ignored);
        break;
      case "abort":
        runtime?.abortTurn(keyOf(step.chat), "somebody").catch(ignored);
        break;
      case "reset":
        runtime?.resetSession(keyOf(step.chat), { wait: false }).catch(ignored);
        break;
      case "disengage":
        runtime?.disengage(keyOf(step.chat)).catch(ignored);
        break;
      case "agent":
        this.#runs.push(step.run);
        break;
      case "platform":
        this.#platforms.order(step);
        break;
      case "disk":
        this.#disk.order(step);
        break;
      case "slow disk":
        this.#disk.slowDown(step.ms, step.forMs);
        break;
      case "kill":
        this.#downMs = step.downMs;
        this.#kills = [...step.next];
        if (this.#starting !== null) kill(this.#starting, step.calls);
        break;
      case "lose host":
        this.#life?.after(step.calls, () => void runtime?.crashHost().catch(ignored));
        break;
      case "passivate":
        this.#life?.after(step.calls, () => void runtime?.passivateAll().catch(ignored));
        break;
      case "step clock":
        this.#offset += step.ms;
        break;
      case "config":
        this.#config = configOf(step.config);
        runtime?.reload(this.#config).catch(ignored);
    }
  }

  #runFor(turnId: string): ScriptedRun | undefined {
    const run = this.#runOf.get(turnId) ?? this.#runs.shift();
    if (run !== undefined) this.#runOf.set(turnId, run);
    return run;
  }

  async #ending(): Promise<Ending> {
    const { store } = this.#disk;
    const rows = await store.scan(0, everything);
    const states = [
      "pending",
      "sending",
      "waiting",
      "in-doubt",
      "sent",
      "expired",
      "dead",
    ] as const;
    const outbox = await store.outboxByState(states, everything);
    const status = this.#life?.isAlive ? this.#life.runtime.status() : null;
    return {
      rows: rows.map((row) => ({
        seq: row.seq,
        conv: row.conv,
        code: row.code,
        type: decodeEvent(row).type,
      })),
      runs: await store.runs(),
      outbox: outbox.map(({ id, conv, kind, state, doubts, error, body }) => ({
        id,
        conv,
        kind,
        message: markedIn(body),
        state,
        doubts,
        error,
      })),
      problem: status === null ? "it is not running" : status.problem,
      quarantined: status?.quarantined.map(({ error }) => error) ?? [],
      ...(await this.#replayed(rows)),
    };
  }

  /** Every conversation from its first row on, through the machine: it believes no mark. */
  async #replayed(rows: Awaited<ReturnType<Disk["store"]["scan"]>>) {
    const { store } = this.#disk;
    const versions = new Map<number, EarshotConfig>();
    for (const cfg of new Set(rows.map((row) => row.cfg)))
      versions.set(cfg, parseConfig(JSON.parse((await store.config(cfg)) ?? "{}")));
    const turns = new Map<string, { conv: number; begun: number; outcomes: string[] }>();
    const engaged = new Map<string, string[]>();
    const left = new Set<string>();
    const history = {
      load: async () => undefined,
      settingsAt: (key: string, cfg: number) =>
        settingsFor(versions.get(cfg) ?? this.#config, key, cfg),
    };
    for (const { conv, key } of await store.conversations({ limit: 1_000 })) {
      const own = rows.filter((row) => row.conv === conv);
      const version = own[0]?.cfg ?? 1;
      const replayed = await replayConversation(history, { key, record: null, version });
      for (const row of own)
        for (const effect of replayed.step(row)?.effects ?? []) {
          if (effect.type === "decided" && effect.decision === "engage")
            engaged.set(`${conv} ${effect.messageId}`, []);
          if (effect.type === "turn.run") {
            const turn = turns.get(effect.turnId) ?? { conv, begun: 0, outcomes: [] };
            turns.set(effect.turnId, turn);
            if (effect.attempt === 1) turn.begun += 1;
          }
          if (effect.type === "outcome") {
            turns.get(effect.turnId)?.outcomes.push(effect.outcome);
            for (const { id } of effect.batch) engaged.get(`${conv} ${id}`)?.push(effect.outcome);
          }
          if (effect.type === "dropped")
            engaged.get(`${conv} ${effect.message.id}`)?.push(effect.why);
          if (effect.type === "react") left.add(`${key} mark ${effect.message}`);
          if (effect.type === "unreact") left.delete(`${key} mark ${effect.message}`);
          if (effect.type === "typing") left[effect.on ? "add" : "delete"](`${key} typing`);
        }
      replayed.conversation.stop();
    }
    return {
      turns: [...turns].map(([turnId, turn]) => ({ turnId, ...turn })),
      engaged: Object.fromEntries(engaged),
      left: [...left],
    };
  }
}

/** The session key of a chat. */
function keyOf(number: number): string {
  const chat = chats[number];
  const kind = chat?.kind === "direct" ? "direct" : `${chat?.channel}:group`;
  return `agent:main:${kind}:${chat?.id}`;
}

/** The message that a row's reaction is on. */
function markedIn(body: string): string | null {
  const { route, message } = JSON.parse(body) as { route: Route; message?: string };
  return message === undefined ? null : nameOf(route.chat.id, message);
}

const configOf = (number: number): EarshotConfig =>
  scenarioConfig({
    agents: { defaults: { driver: { kind: "scripted" } } },
    session: { dmScope: "per-peer" },
    commands: { ownerAllowFrom: ["telegram:ann", "slack:bob"] },
    ...configs[number],
  });

const kill = (life: Life, calls: number) =>
  life.after(calls, (call) => life.die(`killed at ${call}`));

/** A process that dies or is given up meanwhile does not finish what it was asked to do. */
const ignored = () => undefined;

/** A scheduler that notices when a moment does not end. */
class Counted extends SimulatedScheduler {
  readonly #now: () => number;
  #moment = -1;
  #calls = 0;

  constructor(now: () => number) {
    super();
    this.#now = now;
  }

  override soon(work: () => void): void {
    if (this.#now() !== this.#moment) this.#calls = 0;
    this.#moment = this.#now();
    this.#calls += 1;
    if (this.#calls > callsAtOnceMax)
      throw new Error(`the moment ${this.#moment} does not end: ${this.#calls} calls`);
    super.soon(work);
  }
}
