/**
 * The virtual object of a conversation
 * ====================================
 * Restate runs one exclusive call per key at a time, wherever a node is, and stores what the call has done so
 * far. Each call here does four things, in this order: read what is kept, step (one result, stored before
 * anything is built on it), store what is kept next together with the calls that come later, perform. A call
 * whose node dies is made again elsewhere and passes over what is stored.
 *
 * So a step happens once, and `perform` at least once, in order, for one step after the other of a
 * conversation. A deadline is a delayed call that counts only while it is the one that is set: nothing has to
 * be cancelled.
 */
import type { ObjectContext, ObjectSharedContext, Serde } from "@restatedev/restate-sdk";
import type { ZodType } from "zod";
import { reasonOf } from "../../actors/host/conversation-host.ts";
import type { SteppedBatch } from "../../actors/host/step-batch.ts";
import type { HostStep } from "../../actors/protocol/host-protocol.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { Clock } from "../../domain/ports/index.ts";
import {
  type Advance,
  type AdvancePorts,
  advance,
  dueEvent,
  type Kept,
  nothingKept,
  numbersFor,
  withoutDeadline,
} from "./advance.ts";
import {
  type ConversationView,
  conversationService,
  dueSchema,
  type OfferedEvent,
  type Stepped,
  settleSchema,
  stepSchema,
} from "./wire.ts";

type Sdk = typeof import("@restatedev/restate-sdk");

/** What must happen outside once a step is stored. */
export interface Performance {
  readonly key: string;
  readonly steps: readonly HostStep[];
  readonly rejected: SteppedBatch["rejected"];
}

export interface ConversationPorts extends AdvancePorts {
  readonly clock: Pick<Clock, "now">;
  /** The config version of this node, for events that start here. */
  readonly cfg: () => number;
  /**
   * Starts what a step wants done, and does not wait for its end: the conversation is held meanwhile. When it
   * rejects, it is called again, on this node or another.
   */
  readonly perform: (performance: Performance) => Promise<void>;
}

/** Refused calls are not made again: a call of a wrong form stays wrong. */
function parsed<Output>(sdk: Sdk, key: string, schema: ZodType<Output>, input: unknown): Output {
  const refused = (why: string) =>
    new sdk.TerminalError(`Cannot step the conversation: ${why}`, { errorCode: 400 });
  try {
    parseSessionKey(key);
  } catch (error) {
    throw refused(reasonOf(error));
  }
  const result = schema.safeParse(input);
  if (result.success) return result.data;
  throw refused(result.error.message);
}

/** @param sdk loaded by its caller, as it is an optional package */
export function conversationObject(sdk: Sdk, ports: ConversationPorts) {
  /** Hashes of 52 bits, as the doubles that they are: eight bytes each. */
  const hashes = {
    contentType: "application/octet-stream",
    serialize: (list: readonly number[]) => new Uint8Array(Float64Array.from(list).buffer),
    deserialize: (bytes: Uint8Array): readonly number[] => [
      ...new Float64Array(bytes.slice().buffer),
    ],
  };

  const json = sdk.serde.json as Serde<unknown>;

  async function read(ctx: ObjectContext | ObjectSharedContext): Promise<Kept> {
    return {
      head: (await ctx.get<Kept["head"]>("head")) ?? nothingKept.head,
      seen: (await ctx.get<readonly number[]>("seen", hashes)) ?? nothingKept.seen,
      deadlines: (await ctx.get<Kept["deadlines"]>("deadlines")) ?? nothingKept.deadlines,
      outbox: (await ctx.get<Kept["outbox"]>("outbox")) ?? nothingKept.outbox,
      runs: (await ctx.get<boolean>("runs")) ?? nothingKept.runs,
    };
  }

  function write(ctx: ObjectContext, { head, seen, deadlines, outbox, runs }: Kept, before: Kept) {
    ctx.set("head", head);
    ctx.set("seen", seen, hashes);
    if (!isSame(deadlines, before.deadlines)) ctx.set("deadlines", deadlines);
    if (!isSame(outbox, before.outbox)) ctx.set("outbox", outbox);
    if (runs !== before.runs) ctx.set("runs", runs);
  }

  /** `offered` gets the time of the step and may be called again until its result is stored. */
  async function step(
    ctx: ObjectContext,
    kept: Kept,
    offered: (now: number) => readonly OfferedEvent[],
    before = kept,
  ): Promise<Stepped> {
    const { key } = ctx;
    const { stepped, next, timers, passed, steps, rejected } = await ctx.run<Advance>(
      "step",
      () => {
        const now = ports.clock.now();
        return advance(key, kept, offered(now), now, ports);
      },
    );
    write(ctx, next, before);
    for (const { id, at, inMs: delay } of timers)
      ctx.genericSend({
        service: conversationService,
        method: "due",
        key,
        parameter: { id, at },
        inputSerde: json,
        delay,
      });
    for (const { key: to, offered: event } of passed)
      ctx.genericSend({
        service: conversationService,
        method: "step",
        key: to,
        parameter: { events: [event] },
        inputSerde: json,
      });
    if (steps.length > 0 || rejected.length > 0)
      await ctx.run("perform", () => ports.perform({ key, steps, rejected }));
    return stepped;
  }

  return sdk.object({
    name: conversationService,
    handlers: {
      step: async (ctx: ObjectContext, input: unknown): Promise<Stepped> => {
        const { events } = parsed(sdk, ctx.key, stepSchema, input);
        const offered = events as unknown as readonly OfferedEvent[];
        const kept = await read(ctx);
        const numbers = numbersFor(kept, offered);
        if (numbers.every((seq) => seq === 0)) return numbers.map((seq) => ({ seq, code: 0 }));
        return step(ctx, kept, () => offered);
      },

      due: async (ctx: ObjectContext, input: unknown): Promise<Stepped> => {
        const due = parsed(sdk, ctx.key, dueSchema, input);
        const kept = await read(ctx);
        if (kept.deadlines[due.id] !== due.at) return [];
        const rest = withoutDeadline(kept, due.id);
        return step(ctx, rest, (now) => [dueEvent(due, now, ports.cfg())], kept);
      },

      settle: async (ctx: ObjectContext, input: unknown): Promise<boolean> => {
        const { id, ...result } = parsed(sdk, ctx.key, settleSchema, input);
        const { outbox } = await read(ctx);
        const { [id]: row, ...rest } = outbox;
        if (row === undefined) return false;
        const isOver = ["sent", "expired", "dead"].includes(result.state);
        ctx.set("outbox", isOver ? rest : { ...rest, [id]: { ...row, ...result } });
        return true;
      },

      state: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext): Promise<ConversationView> => {
          const { head, deadlines, outbox, runs } = await read(ctx);
          return { ...head, deadlines, outbox, runs };
        },
      ),
    },
    options: {
      // A node that died is noticed by its connection, and another takes the call at once.
      retryPolicy: { initialInterval: 50, exponentiationFactor: 2, maxInterval: 5_000 },
      // Finished calls are of no use to anyone: what they did is in the conversation.
      journalRetention: 0,
    },
  });
}

const isSame = (a: object, b: object) => JSON.stringify(a) === JSON.stringify(b);
