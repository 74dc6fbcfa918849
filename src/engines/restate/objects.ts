/**
 * The virtual objects
 * ===================
 * Restate runs one exclusive call per object and key at a time, wherever a node is, and stores what the call has
 * done so far. When its node dies, the call is made again elsewhere and passes over what is stored.
 *
 * `inbox` collects what comes for a conversation. `conversation` has one call for as long as the conversation is
 * active: the node that answers it steps the conversation, runs its turns and sends, and nobody else does. What it
 * must be able to rely on is stored in that call. When nothing is under way the call ends, and a delayed one comes
 * when the next deadline is due.
 */
import type { ObjectContext, ObjectSharedContext } from "@restatedev/restate-sdk";
import type { OrderOutcome } from "../../actors/protocol/room-actions.ts";
import { ordersName, outcomeIn } from "../../actors/runtime/orders.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, KeptRow } from "../../domain/ports/index.ts";
import type { Activation, Work } from "./activation.ts";
import type { Sdk } from "./calls/handlers.ts";
import type { ActiveRows } from "./feed/node-mirror.ts";
import { feedKey, feedService } from "./feed/wire.ts";
import { type Group, isGroup, KeptState, metaGroup, metaIn, verdictOn } from "./kept-state.ts";
import { callConversation, jsonOf, options, readCall } from "./object-calls.ts";
import {
  conversationService,
  type Fill,
  fillSchema,
  inboxService,
  type Offered,
  outcomeSchema,
  verdictSchema,
} from "./wire.ts";

export interface ObjectPorts {
  readonly clock: Pick<Clock, "now">;
  /** Makes a conversation active on this node. `isAgain`: the last attempts of the same call ended early. */
  readonly activate: (key: string, rows: readonly KeptRow[], isAgain: boolean) => Activation;
  /** Gets what becomes of the rows of those. */
  readonly rows: ActiveRows;
  /** Resolves when rows of a conversation may be numbered here that has rows up to this number. */
  readonly numbered: (last: number) => Promise<void>;
  /** Resolves when conversations may become active here. @default at once */
  readonly ready?: Promise<void> | undefined;
}

/** @param keys of its state, where they are known */
async function keptState(
  ctx: ObjectContext | ObjectSharedContext,
  keys?: readonly string[],
): Promise<KeptState> {
  const names = (keys ?? (await ctx.stateKeys())).filter(isGroup);
  const groups = await Promise.all(
    names.map(async (key) => [key, (await ctx.get<Group>(key)) ?? {}] as const),
  );
  return new KeptState(groups);
}

/** Of a conversation that has some of its rows and waits for the others. */
const fillingKey = "filling";
interface Filling {
  /** The call that comes next. */
  readonly next: number;
  /** Somebody has spoken meanwhile. */
  readonly called: boolean;
}

/** Takes rows of a conversation that was kept elsewhere; with the last of them it goes on here. */
async function fill(sdk: Sdk, ctx: ObjectContext, given: Fill, clock: Pick<Clock, "now">) {
  const { place, rows, whole, dueAt } = given;
  const refused = (why: string) =>
    new sdk.TerminalError(`Cannot fill ${ctx.key}: ${why}`, { errorCode: 409 });
  const filling = await ctx.get<Filling>(fillingKey);
  const there = await keptState(ctx);
  if (filling === null && !there.isEmpty) throw refused("it has rows of its own");
  if (place > 0 && place !== filling?.next)
    throw refused(`call ${filling?.next ?? 0} comes next (received ${place})`);
  if (place === 0) for (const key of there.keys()) ctx.clear(key);
  const kept = place === 0 ? new KeptState([]) : there;
  for (const [key, group] of kept.apply(rows)) ctx.set(key, group);
  const revision = (await revisionOf(ctx)) + 1;
  ctx.set(revisionKey, revision);
  const called = filling?.called ?? false;
  if (!whole) return ctx.set<Filling>(fillingKey, { next: place + 1, called });
  ctx.clear(fillingKey);
  announce(sdk, ctx, revision);
  if (called) callConversation(sdk, ctx, ctx.key);
  else await alarm(sdk, ctx, "alarm", dueAt, clock);
}

/** How often rows of a conversation were stored. */
const revisionKey = "revision";

const revisionOf = async (ctx: ObjectContext | ObjectSharedContext) =>
  (await ctx.get<number>(revisionKey)) ?? 0;

/** The other nodes learn of it, also when this one dies at once. */
const announce = (sdk: Sdk, ctx: ObjectContext, revision: number) =>
  ctx.genericSend({
    service: feedService,
    method: "announce",
    key: feedKey,
    parameter: { key: ctx.key, revision },
    inputSerde: jsonOf(sdk),
  });

/** So many attempts that end one after the other, each before it has stored more than that, are no chance. */
const earlyEnds = 2;
const earlyStoresMax = 8;

/** One call of `run`: what this node does of it. What was stored before it died is not done again. */
class Run {
  readonly #ctx: ObjectContext;
  readonly #ports: ObjectPorts;
  readonly #kept: KeptState;
  /** What was handed over before it began here. */
  readonly #waiting: Offered[] = [];
  #activation: Activation | null = null;
  #taken = 0;
  #revision: number;
  /** What the activation has changed in the piece of work that is being stored. */
  #changes: Work["changes"] = [];
  /** Rows were stored in this call. */
  hasStored = false;
  /** That this attempt works on it is stored. */
  #isMarked = false;
  /** Of the attempts before this one, how often each has stored something. */
  readonly #attempts: number[] = [];

  constructor(ctx: ObjectContext, ports: ObjectPorts, kept: KeptState, revision: number) {
    this.#ctx = ctx;
    this.#ports = ports;
    this.#kept = kept;
    this.#revision = revision;
    ctx.request().attemptCompletedSignal.addEventListener("abort", () => void this.end());
  }

  take(offered: readonly Offered[]): void {
    this.#taken += offered.length;
    if (this.#activation === null) this.#waiting.push(...offered);
    else if (offered.length > 0) this.#activation.take(offered);
  }

  /** Whether it rests, and knew of everything that was handed over. */
  isOver({ rests, heard = this.#taken }: Work): boolean {
    return rests && heard === this.#taken;
  }

  async work(): Promise<Work> {
    await this.#ports.ready;
    await this.#ports.numbered(this.#kept.last);
    if (!this.#isMarked) {
      // What the journal of a call begins with stays as older versions have it: they may go on with it, and began it.
      this.#isMarked = true;
      if (!this.#fails())
        return { changes: [], rests: false, dueAt: null, heard: this.#taken, begins: true };
    }
    if (this.#activation === null) {
      const { key } = this.#ctx;
      const rows = this.#kept.rows();
      this.#activation = this.#ports.activate(key, rows, this.#endsEarly());
      // Another node has stored rows in this call.
      this.#ports.rows.began(key, rows, this.#revision, this.hasStored);
      const offered = this.#waiting.splice(0);
      if (offered.length > 0) this.#activation.take(offered);
    }
    const work = await this.#activation.next();
    this.#changes = work.changes;
    return { ...work, changes: this.#kept.placed(work.changes) };
  }

  /** A piece of work is stored; it may have been done by another node. */
  stored({ changes, begins = false }: Work): void {
    if (!this.#isMarked) {
      if (begins || this.#attempts.length === 0) this.#attempts.push(0);
      this.#attempts[this.#attempts.length - 1] = (this.#attempts.at(-1) ?? 0) + 1;
    }
    for (const [key, rows] of this.#kept.apply(changes))
      if (rows === null) this.#ctx.clear(key);
      else this.#ctx.set(key, rows);
    if (changes.length > 0) {
      this.hasStored = true;
      this.#revision += 1;
      // Behind the rows: who reads this one has those, too.
      this.#ctx.set(revisionKey, this.#revision);
    }
    const activation = this.#activation;
    if (activation === null) return;
    const isAll = activation.stored();
    if (changes.length > 0)
      this.#ports.rows.stored(this.#ctx.key, this.#changes, this.#revision, isAll);
  }

  /** Whether the last attempts have ended soon, one after the other: they may have died of what they did. */
  #endsEarly(): boolean {
    const last = this.#attempts.slice(-earlyEnds);
    return last.length === earlyEnds && last.every((stores) => stores <= earlyStoresMax);
  }

  /**
   * Whether the last attempts have stored nothing but that they began: one more would make the call grow for ever, and
   * be taken for progress, after which Restate makes it again at once.
   */
  #fails(): boolean {
    const last = this.#attempts.slice(-earlyEnds);
    return last.length === earlyEnds && last.every((stores) => stores === 1);
  }

  get revision(): number {
    return this.#revision;
  }

  async end(): Promise<void> {
    const ending = this.#activation;
    if (ending === null) return;
    this.#activation = null;
    await ending.end();
    this.#ports.rows.ended(this.#ctx.key);
  }
}

export function conversationObject(sdk: Sdk, ports: ObjectPorts) {
  const taking = (ctx: ObjectContext, waker: string | null) =>
    ctx.genericCall({
      service: inboxService,
      method: "take",
      key: ctx.key,
      parameter: { waker, orders: true },
      inputSerde: jsonOf(sdk),
      outputSerde: jsonOf(sdk),
    }) as Promise<unknown> as Promise<readonly Offered[]>;

  return sdk.object({
    name: conversationService,
    handlers: {
      run: async (ctx: ObjectContext): Promise<void> => {
        const keys = await ctx.stateKeys();
        if (keys.includes(fillingKey)) {
          const filling = (await ctx.get<Filling>(fillingKey)) as Filling;
          return ctx.set(fillingKey, { ...filling, called: true });
        }
        const run = new Run(ctx, ports, await keptState(ctx, keys), await revisionOf(ctx));
        /** Takes what waits, and resolves when there is more. */
        const more = async () => {
          const { id, promise } = ctx.awakeable<null>();
          run.take(await taking(ctx, id));
          // In an object, as a promise that is returned would be waited for.
          return { waking: promise };
        };
        const next = () => ctx.run<Work>("work", () => run.work());
        let { waking } = await more();
        let working = next();
        for (;;) {
          const work = await sdk.RestatePromise.race<[typeof working, typeof waking]>([
            working,
            waking,
          ]);
          if (work === null) {
            ({ waking } = await more());
            continue;
          }
          run.stored(work);
          if (run.isOver(work)) {
            const left = await taking(ctx, null);
            if (left.length === 0) {
              await alarm(sdk, ctx, "alarm", work.dueAt, ports.clock);
              if (run.hasStored) announce(sdk, ctx, run.revision);
              await alarm(sdk, ctx, "pruning", work.pruneAt ?? null, ports.clock);
              return run.end();
            }
            run.take(left);
            ({ waking } = await more());
          }
          working = next();
        }
      },

      /** Takes rows of a conversation that was kept elsewhere, in calls that follow each other. */
      fill: async (ctx: ObjectContext, input: unknown): Promise<void> =>
        fill(sdk, ctx, readCall(sdk, ctx.key, fillSchema, input), ports.clock),

      /** Whether it has only some of its rows by now. */
      filling: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext): Promise<boolean> =>
          (await ctx.stateKeys()).includes(fillingKey),
      ),

      /** Whether there is such a conversation. */
      known: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext): Promise<boolean> => (await ctx.stateKeys()).some(isGroup),
      ),

      /** What became of an order, once it is stored. */
      outcome: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext, input: unknown): Promise<OrderOutcome | null> => {
          const { id } = readCall(sdk, ctx.key, outcomeSchema, input);
          const notes = metaIn(await ctx.get<Group>(metaGroup), ordersName);
          return notes === null ? null : outcomeIn(notes, id);
        },
      ),

      /** The encoded verdict on a message, once it is stored. */
      verdict: sdk.handlers.object.shared(
        { enableLazyState: true },
        async (ctx: ObjectSharedContext, input: unknown): Promise<number | null> => {
          const { id } = readCall(sdk, ctx.key, verdictSchema, input);
          return verdictOn(id, await ctx.stateKeys(), (key) => ctx.get<Group>(key));
        },
      ),

      /** The rows as they are stored by now, or later, and how often they were by now. */
      whole: sdk.handlers.object.shared(async (ctx: ObjectSharedContext) => {
        const revision = await revisionOf(ctx);
        return { revision, rows: (await keptState(ctx)).rows() };
      }),

      /** The rows as they are stored by now. */
      rows: sdk.handlers.object.shared(
        async (ctx: ObjectSharedContext): Promise<readonly KeptRow[]> =>
          (await keptState(ctx)).rows(),
      ),
    },
    options: {
      ...options,
      inactivityTimeout: engineLimits.silenceMsMax,
      abortTimeout: engineLimits.silenceMsMax,
    },
  });
}

/**
 * Makes a call come when the conversation must be active again. One that comes earlier finds nothing due. `name`: of
 * the state that has when the next one comes; what is far away has its own, or each near one would add another.
 */
async function alarm(
  sdk: Sdk,
  ctx: ObjectContext,
  name: "alarm" | "pruning",
  dueAt: Work["dueAt"],
  clock: ObjectPorts["clock"],
): Promise<void> {
  const set = await ctx.get<number>(name);
  if (dueAt === null) return;
  const now = await ctx.run("now", () => clock.now());
  if (set !== null && set > now && set <= dueAt) return;
  ctx.set(name, dueAt);
  callConversation(sdk, ctx, ctx.key, Math.max(1, dueAt - now));
}
