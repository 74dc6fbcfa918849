/**
 * Calls the agent, reads its stream, and reports to the conversation: exactly one end, whatever the
 * agent does. The agent is untrusted: each event passes the schema, bytes, events and time are
 * bounded, and events after the end are dropped. An agent that ignores its abort is abandoned after
 * `abortMsMax`.
 */

import { EarshotError } from "../../domain/errors.ts";
import { limits } from "../../domain/limits.ts";
import {
  type AgentEvent,
  type AgentImage,
  type AgentPort,
  type AgentTurn,
  agentEventSchema,
  kindOf,
  type TimerHandle,
} from "../../domain/ports/index.ts";
import type { FailureKind } from "../../domain/stream.ts";
import type { AgentFailed, AgentReport } from "../../machines/events/events.ts";
import { approvalRequest } from "../protocol/context-tool-schemas.ts";
import type { TurnJob } from "../protocol/host-link.ts";
import { nextTurn } from "../util/scheduling.ts";
import { type AttemptReport, inputOf, isForeign, prefixOf } from "./agent-events.ts";
import { createTools, isTurnTool, type TurnActions, toolsAmong } from "./agent-tools.ts";
import { OutgoingParts } from "./outgoing-parts.ts";
import { TurnOutput } from "./output.ts";
import { belowAnswer, type Fallback, type Usage } from "./side-output.ts";
import type { TurnAttemptPorts } from "./turn-attempt-ports.ts";
import { UnsentText } from "./unsent-text.ts";

type Failure = Pick<AgentFailed, "code" | "message" | "unsent">;

/** Events read before yielding: a stream that is always ready would starve every timer. */
const eventsPerTick = 64;
const messageUnitsMax = 300;
const tooManyPictures = "Refused: too many pictures for one turn.";

export class TurnAttempt {
  readonly #job: TurnJob;
  readonly #ports: TurnAttemptPorts;
  readonly #output: TurnOutput;
  readonly #unsent = new UnsentText();
  readonly #abort = new AbortController();
  #agent: AgentPort | null = null;
  #failure: Failure | null = null;
  #over = false;
  /** It has sent as much as a turn may. */
  #full = false;
  #lost = false;
  #silenced = false;
  #spoke = false;
  #thought = false;
  /** Fetched by tools, not yet given to the agent. */
  readonly #pictures: AgentImage[] = [];
  #pictureBytes = 0;
  #events = 0;
  #bytes = 0;
  #usage: Usage | null = null;
  #fallback: Fallback | null = null;
  #lastSign = 0;
  #startedAt = 0;
  /** Permission requests that an owner has not answered. */
  #waiting = 0;
  #timers: TimerHandle[] = [];
  #idle: TimerHandle | null = null;
  #end: () => void = () => undefined;

  constructor(job: TurnJob, ports: TurnAttemptPorts) {
    this.#job = job;
    this.#ports = ports;
    const { order, settings } = job;
    this.#output = new TurnOutput({
      clock: ports.clock,
      settings,
      direct: order.chatKind === "direct",
      textLimit: order.textLimit,
      edits: order.edits,
      files: order.files === true,
      reasoning: order.heartbeat === undefined ? order.session.reasoning : "off",
      verbose: order.heartbeat === undefined ? order.session.verbose : "off",
      heartbeat: order.heartbeat ?? null,
      prefix: prefixOf(job),
      firstIndex: order.firstIndex ?? 0,
      onBlock: (block) => {
        if (block.aside === undefined) this.#noteSpeech();
        this.#unsent.note(block);
        this.#report({ type: "agent.text", ...block });
      },
      onDraft: (index, text) => {
        if (!this.#lost) ports.onDraft(index, text);
      },
      onThought: () => this.#noteThought(),
    });
  }

  /** Runs to the end and reports it. Never rejects. */
  async go(): Promise<void> {
    const { clock } = this.#ports;
    this.#startedAt = clock.now();
    this.#report({ type: "agent.started", attempt: this.#job.order.attempt });
    const ended = new Promise<void>((resolve) => {
      this.#end = resolve;
    });
    const { maxMs } = this.#job.settings.turn;
    this.#after(maxMs, () => {
      this.#fail("total-timeout", `took longer than ${maxMs} ms`);
    });
    this.#lastSign = clock.monotonic();
    this.#watchIdle();
    void this.#read().then(this.#end);
    await ended;
    const whole = this.#failure === null ? this.#output.endText() : null;
    const filed = whole !== null && (await this.#sendWhole(whole));
    this.#over = true;
    for (const timer of this.#timers) clock.clearTimer(timer);
    if (this.#idle !== null) clock.clearTimer(this.#idle);
    this.#finish(filed);
  }

  /** An answer that is too long for its room is sent as a file, too. Whether it was. */
  async #sendWhole(whole: string): Promise<boolean> {
    const file = await this.#outgoing.whole(whole);
    if (file === null || this.#failure !== null) return false;
    return this.#output.attach(file.text, file.extras) !== null;
  }

  /** Cancels: further events are dropped; the end is reported when the agent has stopped. */
  abort(reason: string): void {
    this.#fail("aborted", reason);
  }

  steer(text: string): boolean {
    if (this.#over || this.#failure !== null) return false;
    return this.#agent?.steer?.(this.#job.order.turnId, text) ?? false;
  }

  /** Drops the turn without a report: its host is gone. */
  lose(): void {
    this.#lost = true;
    this.#failure ??= { code: "host-lost", message: "" };
    this.#output.stop();
    this.#abort.abort(new Error("the host of this turn is gone"));
    this.#end();
  }

  async #read(): Promise<void> {
    try {
      this.#agent = await this.#ports.port;
      if (this.#failure !== null) return;
      const { signal } = this.#abort;
      for await (const event of this.#agent.run(this.#turn(), { signal })) {
        if (this.#isOver) return;
        const taken = this.#take(event);
        if (taken !== undefined) await taken;
        if (this.#isOver) return;
        if (this.#events % eventsPerTick === 0) await nextTurn(this.#ports.scheduler);
      }
    } catch (error) {
      this.#fail("error", error instanceof Error ? error.message : String(error), kindOf(error));
    }
  }

  /** A promise only for what must be waited for before the next event. */
  #take(given: unknown): Promise<void> | undefined {
    this.#ports.onActivity();
    this.#lastSign = this.#ports.clock.monotonic();
    this.#events += 1;
    const parsed = agentEventSchema.safeParse(given);
    if (this.#events > limits.agentEventsMax) this.#fail("too-long", "too many events");
    else if (parsed.success) {
      const { data } = parsed;
      if (data.type === "media" || data.type === "choices") return this.#outgoing.take(data);
      this.#apply(data);
    } else if (!isForeign(given)) this.#fail("error", "sent an event that is none", "invalid");
  }

  #apply(event: Exclude<AgentEvent, { readonly type: "media" | "choices" }>): void {
    switch (event.type) {
      case "text":
        this.#text(event.text);
        break;
      case "reasoning":
        this.#count(event.text);
        if (this.#failure === null) this.#output.think(event.text);
        break;
      case "tool-start":
        // Built-in tools report their effects when they are called.
        if (isTurnTool(event.name)) break;
        this.#report({ type: "agent.tool", name: event.name, input: inputOf(event.input) });
        this.#output.step(event.name, event.input);
        break;
      case "tool-end":
        if (isTurnTool(event.name)) break;
        this.#output.stepEnded(event.name, event.ok);
        if (!event.ok) this.#toolFailed(event.name, event.error ?? "");
        break;
      case "message-end":
        this.#output.endMessage();
        this.#report({ type: "agent.message-ended" });
        break;
      case "usage":
        this.#usage = {
          inputTokens: (this.#usage?.inputTokens ?? 0) + event.inputTokens,
          outputTokens: (this.#usage?.outputTokens ?? 0) + event.outputTokens,
          costUsd: (this.#usage?.costUsd ?? 0) + (event.costUsd ?? 0),
        };
        break;
      case "fallback":
        this.#fallback = event;
        break;
      case "error":
        this.#fail("error", event.message, event.kind);
        break;
    }
  }

  #toolFailed(name: string, why: string): void {
    this.#report({ type: "agent.tool-failed", name, message: why });
  }

  /** Waiting for a file or a platform is not idleness of the agent. */
  readonly #outgoing = new OutgoingParts({
    closed: () => this.#isOver || this.#silenced,
    ask: (tool, input) => {
      this.#waiting += 1;
      return this.#ports.ask(tool, input).finally(() => {
        this.#waiting -= 1;
        this.#lastSign = this.#ports.clock.monotonic();
      });
    },
    attach: (text, extras) => {
      this.#count(text);
      const index = this.#failure === null ? this.#output.attach(text, extras) : null;
      this.#noteVisible();
      return index;
    },
    say: (text) => this.#say(text),
    refused: (why) => this.#ports.onRefused(why),
  });

  #say(text: string): void {
    this.#count(text);
    if (this.#failure !== null) return;
    this.#output.say(text);
    this.#noteVisible();
  }

  #text(text: string): void {
    this.#count(text);
    if (this.#failure !== null) return;
    this.#output.push(text);
    this.#noteVisible();
  }

  #noteVisible(): void {
    const { visible, overflow } = this.#output;
    if (visible === "") return;
    this.#noteSpeech();
    this.#ports.onText(visible);
    if (overflow) this.#stopReading();
  }

  /** Further output would not be sent: the turn ends with what it has. */
  #stopReading(): void {
    if (this.#isOver) return;
    this.#full = true;
    this.#abort.abort(
      new EarshotError(
        "EAR_AGENT_TIMEOUT",
        "Cannot send more of this answer: the turn has reached its limit",
      ),
    );
    this.#end();
  }

  get #isOver(): boolean {
    return this.#over || this.#full || this.#failure !== null;
  }

  /** Typing indicators wait for text that will certainly be sent. */
  #noteSpeech(): void {
    if (this.#spoke) return;
    this.#spoke = true;
    this.#report({ type: "agent.spoke", what: "text" });
  }

  #noteThought(): void {
    if (this.#thought) return;
    this.#thought = true;
    this.#report({ type: "agent.spoke", what: "reasoning" });
  }

  #count(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > limits.agentBytesMax)
      this.#fail("too-long", `said more than ${limits.agentBytesMax} bytes`);
  }

  #turn(): AgentTurn {
    const { order } = this.#job;
    const call = createTools(this.#actions(), order.tools);
    return {
      turnId: order.turnId,
      attempt: order.attempt,
      agentId: order.agentId,
      agentName: this.#job.agent.agentName,
      sessionKey: order.key,
      system: order.system,
      prompt: order.prompt,
      ...(order.heartbeat === undefined ? {} : { heartbeat: true }),
      ...(order.question === undefined ? {} : { question: order.question }),
      said: order.messagesText,
      // Parsed when it is read.
      get transcript() {
        return order.transcript;
      },
      room: order.room,
      images: this.#agent?.capabilities.images === true ? order.images : [],
      takePictures: () => this.#pictures.splice(0),
      model: order.model,
      thinking: order.thinking,
      ...(order.bare === true ? {} : this.#permissions()),
      tools: order.bare === true ? [] : toolsAmong(order.tools),
      callTool: async (name, input) =>
        order.bare === true ? "Refused: this turn has no tools." : call(name, input),
    };
  }

  /** Waiting for an owner is not idleness; the turn's total time goes on. */
  #permissions(): Pick<AgentTurn, "permissions" | "askOwner"> {
    const { owned = false, session } = this.#job.order;
    const { exec, elevated } = session;
    return {
      permissions: { exec, elevated, owned },
      askOwner: async ({ kind, title }) => {
        if (this.#isOver) return "deny";
        this.#waiting += 1;
        const input = {
          kind: kind.slice(0, messageUnitsMax),
          title: title.slice(0, messageUnitsMax),
        };
        const answer = await this.#ports.ask(approvalRequest, input).finally(() => {
          this.#waiting -= 1;
          this.#lastSign = this.#ports.clock.monotonic();
        });
        return !this.#isOver && (answer === "once" || answer === "always") ? answer : "deny";
      },
    };
  }

  #actions(): TurnActions {
    const run = this;
    return {
      get over() {
        return run.#isOver;
      },
      get skipped() {
        return run.#silenced;
      },
      say: (text) => run.#say(text),
      send: (type, request) => run.#outgoing.send(type, request),
      react(emoji) {
        const { reacts, replyTo } = run.#job.order;
        if (reacts === false) return "Nothing was put: there are no reactions on this channel.";
        if (replyTo === undefined) return "Nothing was put: there is no message to react to.";
        const answer = run.#outgoing.reaction(replyTo, emoji);
        run.#report({ type: "agent.tool", name: "channel_react", input: { emoji } });
        return answer;
      },
      disengage: () => run.#report({ type: "disengage" }),
      skip() {
        if (run.#silenced) return;
        run.#silenced = true;
        run.#output.mute();
        run.#report({ type: "skip" });
      },
      async ask(tool, input) {
        const answer = await run.#ports.ask(tool, input);
        if (typeof answer === "string") return answer;
        if ("media" in answer) return "Refused: there is no such tool here.";
        return run.#show(answer.images) ? answer.text : tooManyPictures;
      },
      refused: (name, why) => this.#toolFailed(name, why),
      giveUp: () => run.#fail("error", "went on asking for tools it was refused"),
    };
  }

  /** Keeps images for the agent's next step; false: the turn has reached its limit. */
  #show(images: readonly AgentImage[]): boolean {
    this.#pictureBytes += images.reduce((sum, { data }) => sum + data.length, 0);
    if (this.#pictureBytes > limits.turnImagesBytesMax) return false;
    this.#pictures.push(...images);
    return true;
  }

  /** The first failure wins. The agent is aborted and has `abortMsMax` to stop. */
  #fail(code: Failure["code"], message: string, kind?: FailureKind): void {
    if (this.#isOver) return;
    const known = kind === undefined ? {} : { kind };
    this.#failure = { code, message, ...known };
    this.#abort.abort(new EarshotError("EAR_AGENT_TIMEOUT", `Cannot continue the turn: ${code}`));
    this.#after(limits.abortMsMax, this.#end);
    this.#failure = { ...this.#failure, ...this.#unsent.breakOff(this.#output, code) };
  }

  #finish(filed: boolean): void {
    if (this.#failure === null) {
      this.#output.end(filed, this.#below());
      this.#noteVisible();
    }
    if (this.#usage !== null) this.#report({ type: "agent.usage", ...this.#usage });
    if (this.#failure !== null) this.#report({ type: "agent.failed", ...this.#failure });
    else this.#report({ type: "agent.ended", silent: this.#output.isSilent });
  }

  #below(): string {
    const { heartbeat, bare, session } = this.#job.order;
    if (heartbeat !== undefined || bare === true) return "";
    const ms = this.#ports.clock.now() - this.#startedAt;
    return belowAnswer(session, this.#ports.onModel(this.#fallback), this.#usage, ms);
  }

  #after(ms: number, fire: () => void): void {
    this.#timers.push(this.#ports.clock.setLimit(ms, fire));
  }

  /** One timer that checks the time of the last activity, instead of one per event. */
  #watchIdle(): void {
    const { clock } = this.#ports;
    const { idleMs } = this.#job.settings.turn;
    if (this.#waiting > 0) this.#lastSign = clock.monotonic();
    const sign = this.#lastSign;
    // Not positive only when this thread stood still since that sign.
    const left = sign + idleMs - clock.monotonic();
    this.#idle = clock.setLimit(left > 0 ? left : idleMs, () => {
      if (this.#waiting > 0 || this.#lastSign > sign) this.#watchIdle();
      else this.#fail("idle-timeout", `gave no sign for ${idleMs} ms`);
    });
  }

  #report(attemptReport: AttemptReport): void {
    if (this.#lost) return;
    const { turnId } = this.#job.order;
    // The type comes first, as in every journal row.
    const { type } = attemptReport as { readonly type: string };
    const event = { type, at: this.#ports.clock.now(), turnId, ...(attemptReport as object) };
    this.#ports.report(event as AgentReport);
  }
}
