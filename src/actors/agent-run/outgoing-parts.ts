/**
 * Files and choices of a turn
 * ===========================
 * Turns what an agent asks to send, by an event or by the tool `channel_send`, into a part of its
 * answer. A file is fetched by the main thread first; the part then has its place in the order. A
 * request that cannot be carried out costs nothing but itself: the agent learns why, and its caption or
 * question is sent as text.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import {
  choicesSchema,
  choicesText,
  type Extras,
  mediaRequestSchema,
  mediaText,
  type OutgoingChoices,
} from "../../domain/outgoing.ts";
import {
  answerFileRequest,
  deliveryRequest,
  fileRequest,
  reactionRequest,
} from "../protocol/context-tool-schemas.ts";
import type { ContextAnswer } from "../protocol/host-protocol.ts";

export interface OutgoingPartsPorts {
  /** Whether the turn is over or silent. */
  readonly closed: () => boolean;
  /** Asks the main thread; the time is no idleness of the agent. */
  readonly ask: (tool: string, input: unknown) => Promise<ContextAnswer>;
  /** Sends the part; null: nothing more is sent. */
  readonly attach: (text: string, extras: Extras) => number | null;
  /** Sends text instead. */
  readonly say: (text: string) => void;
  /** A request of an event that was refused. */
  readonly refused: (why: string) => void;
}

/** A part to send, or why there is none. */
type Prepared = { readonly text: string; readonly extras: Extras } | { readonly why: string };

const turnIsOver = "this turn has ended.";
const tooMany = "this turn has sent as much as it may.";

export class OutgoingParts {
  readonly #ports: OutgoingPartsPorts;
  #count = 0;

  constructor(ports: OutgoingPartsPorts) {
    this.#ports = ports;
  }

  /** For the tool: sends it, and resolves to what the platform said. */
  async send(type: "media" | "choices", request: unknown): Promise<string> {
    const sent = await this.#put(type, request);
    if ("why" in sent) return `Refused: ${sent.why}`;
    const answer = await this.#ports.ask(deliveryRequest, { index: sent.index });
    return typeof answer === "string" ? answer : "Sent.";
  }

  /** Waits for the platform's answer to a reaction, which is reported after this was called. */
  async reaction(message: string, emoji: string): Promise<string> {
    const answer = await this.#ports.ask(reactionRequest, { message, emoji });
    return typeof answer === "string" ? answer : "Reacted.";
  }

  /** For an event: sends it. A refused one is reported, and its text is sent. */
  async take({ type, ...request }: { readonly type: "media" | "choices" }): Promise<void> {
    const sent = await this.#put(type, request);
    if (!("why" in sent) || this.#ports.closed()) return;
    this.#ports.refused(sent.why);
    const { text, caption } = request as { readonly text?: unknown; readonly caption?: unknown };
    const left = type === "media" ? caption : text;
    if (typeof left === "string" && left.trim() !== "")
      this.#ports.say(left.slice(0, limits.textUnitsMax));
  }

  /** Stores the whole answer as a file; null: it cannot be stored, which is reported. */
  async whole(text: string): Promise<{ readonly text: string; readonly extras: Extras } | null> {
    const answer = await this.#ports.ask(answerFileRequest, { text });
    const file = fileOf(answer);
    if (!("why" in file)) return file;
    this.#ports.refused(file.why);
    return null;
  }

  async #put(type: "media" | "choices", request: unknown) {
    this.#count += 1;
    if (this.#count > limits.blocksPerTurnMax) return { why: tooMany };
    const prepared = type === "media" ? await this.#file(request) : choicesOf(request);
    if ("why" in prepared) return prepared;
    if (this.#ports.closed()) return { why: turnIsOver };
    const index = this.#ports.attach(prepared.text, prepared.extras);
    return index === null ? { why: tooMany } : { index };
  }

  async #file(request: unknown): Promise<Prepared> {
    const asked = mediaRequestSchema.safeParse(request);
    if (!asked.success) return problem(asked.error);
    return fileOf(await this.#ports.ask(fileRequest, asked.data));
  }
}

function fileOf(answer: ContextAnswer): Prepared {
  if (typeof answer === "string") return { why: answer.replace(/^Refused: /, "") };
  if (!("media" in answer)) return { why: "it cannot be read." };
  const { media } = answer;
  return { text: mediaText(media), extras: { media } };
}

function choicesOf(request: unknown): Prepared {
  const asked = choicesSchema.safeParse(request);
  if (!asked.success) return problem(asked.error);
  const { text, options, poll } = asked.data;
  const choices: OutgoingChoices = { text, options, ...(poll === true ? { poll } : {}) };
  if (poll === true && options.length < 2) return { why: "a poll needs two options." };
  return { text: choicesText(choices), extras: { choices } };
}

const problem = (error: z.ZodError) => ({ why: z.prettifyError(error).slice(0, 500) });
