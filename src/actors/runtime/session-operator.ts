/**
 * Operations on a session
 * =======================
 * Reading sessions, changing how an agent works in one, starting the next. Changes are events: an
 * override and a reset are journalled and applied by the conversation, and are stored with the
 * event that caused them.
 */
import { EarshotError } from "../../domain/errors.ts";
import { parseSessionKey } from "../../domain/key.ts";
import type { SessionRow, StoreWrite } from "../../domain/ports/index.ts";
import { within } from "../../domain/ports/within.ts";
import {
  defaultSessionSettings,
  patchedSettings,
  type Session,
  type SessionPatch,
} from "../../domain/session.ts";
import { conversationOf, newEvent } from "../protocol/event-codec.ts";
import type { Runtime, RuntimePorts } from "../protocol/runtime.ts";
import type { Parts } from "./parts.ts";

type Operator = Pick<
  Runtime,
  "session" | "sessions" | "usage" | "updateSession" | "resetSession" | "compactSession"
>;

/** How long a caller waits for a reset; it happens also after that. */
const resetMsMax = 10_000;

export function createSessionOperator(
  { clock, ids, reads }: Pick<RuntimePorts, "clock" | "ids" | "reads">,
  opened: () => Parts,
): Operator {
  /** One change of a session after the other: each starts from the result of the one before. */
  let changing: Promise<unknown> = Promise.resolve();

  /** @throws EarshotError EAR_KEY_INVALID | EAR_USAGE */
  function named(key: string) {
    const { agentId } = parseSessionKey(key);
    const { list } = opened().configs.current().agents;
    if (list.some(({ id }) => id === agentId)) return { ...conversationOf(key), agentId };
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot change the session: there is no agent ${JSON.stringify(agentId.slice(0, 64))}. Use the id of a configured agent.`,
    );
  }

  async function inUse(key: string): Promise<SessionRow | null> {
    const { conv } = conversationOf(key);
    return opened().store.sessionOf(conv);
  }

  const shown = () => reads ?? opened().store;

  async function update(key: string, patch: SessionPatch, by?: string): Promise<Session> {
    const { journal, configs, sessions } = opened();
    const { conv, agentId } = named(key);
    const at = clock.now();
    const before = await inUse(key);
    const settings = patchedSettings(before?.settings ?? defaultSessionSettings, patch);
    const writes: StoreWrite[] = [{ kind: "session", op: "settings", conv, at, settings }];
    if (before === null) writes.unshift(sessions.opening({ conv, key, agentId, at }));
    const { queue = null, send = null, activation = null } = settings.override;
    const override = { queue, send, activation };
    const made = { ...override, ...(by === undefined ? {} : { by }) };
    const event = { type: "session.overridden", at, ...made } as const;
    const identity = `operator|${ids.next()}`;
    const events =
      patch.override === undefined
        ? []
        : [newEvent({ conv, key }, configs.version(), event, { identity })];
    await journal.append(events, writes);
    return withoutNumber((await inUse(key)) as SessionRow);
  }

  async function reset(
    key: string,
    { wait = true, by, sessionId = ids.next() }: Parameters<Operator["resetSession"]>[1] = {},
  ): Promise<Session | null> {
    const { journal, configs, sessions, store } = opened();
    const { conv } = named(key);
    if ((await inUse(key)) === null) return null;
    const at = clock.now();
    const made = { operator: true, cuts: true, ...(by === undefined ? {} : { by }) } as const;
    const event = { type: "session.reset", at, sessionId, ...made } as const;
    const begun = sessions.begun(sessionId);
    const identity = `reset|${sessionId}`;
    await journal.append([newEvent({ conv, key }, configs.version(), event, { identity })]);
    if (!wait) return null;
    await within(clock, resetMsMax, begun);
    const row = await store.session(sessionId);
    if (row !== null) return withoutNumber(row);
    throw new EarshotError(
      "EAR_HOST_LOST",
      "Cannot return the new session yet: its conversation is busy. It starts as soon as the reset is applied.",
    );
  }

  return {
    async session(key) {
      const row = await shown().sessionOf(conversationOf(key).conv);
      return row === null ? null : withoutNumber(row);
    },
    async sessions({ key, ...filter }) {
      const conv = key === undefined ? {} : { conv: conversationOf(key).conv };
      const rows = await shown().sessions({ ...filter, ...conv });
      return rows.map(withoutNumber);
    },
    usage: () => shown().usageByAgent(),
    updateSession(key, patch, by) {
      const work = changing.then(() => update(key, patch, by));
      changing = work.catch(() => undefined);
      return work;
    },
    resetSession: reset,
    async compactSession(key) {
      const { store, compaction } = opened();
      const conversation = named(key);
      const session = await inUse(key);
      if (session === null) return "empty";
      const runs = await store.runs();
      if (runs.some(({ conv }) => conv === conversation.conv)) return "busy";
      return (await compaction.compact(conversation, session)) ? "done" : "empty";
    },
  };
}

function withoutNumber({ conv: _, ...session }: SessionRow): Session {
  return session;
}
