/**
 * Carries out orders
 * ==================
 * An order may be handed over again, because a node died after it was carried out and before anybody knew. So each
 * leaves a note: in the commit of its first effect, or, where others commit it, before that with what there was
 * then. A second look at an order that left a note finds out what became of it; its outcome is stored beside.
 *
 * Orders of one conversation do not wait for each other: a turn is stopped while a session is summed up.
 */
import { isDeepStrictEqual } from "node:util";
import { EarshotError } from "../../domain/errors.ts";
import type { Millis } from "../../domain/message.ts";
import type { MetaWrite } from "../../domain/ports/index.ts";
import type { Journal } from "../journal/journal.ts";
import type { ConversationOrder, OrderedAction, OrderOutcome } from "../protocol/room-actions.ts";
import type { Runtime, RuntimePorts } from "../protocol/runtime.ts";
import { createOperator } from "./operator.ts";
import type { Parts } from "./parts.ts";
import { createRoomActions } from "./room-actions.ts";
import { createSessionOperator } from "./session-operator.ts";

/** An order that was begun. */
interface Noted {
  readonly id: string;
  readonly at: Millis;
  /** What it changes, as it was before; absent: what it changes is stored with this. */
  readonly before?: unknown;
  readonly outcome?: OrderOutcome;
}

type Ways = Pick<
  Runtime,
  "abortTurn" | "disengage" | "label" | "act" | "updateSession" | "resetSession" | "compactSession"
>;

/** Of the meta row that has the notes. */
export const ordersName = "orders";
/** The newest orders that are remembered; those under way besides. */
const notedMax = 32;

/** The outcome of an order in the value of its conversation's row; null: it has none yet. */
export function outcomeIn(value: string, id: string): OrderOutcome | null {
  const noted = JSON.parse(value) as readonly Noted[];
  return noted.find((one) => one.id === id)?.outcome ?? null;
}

export function createOrders(ports: RuntimePorts, opened: () => Parts): Runtime["carryOut"] {
  const { clock, store } = ports;
  let loading: Promise<void> | null = null;
  let noted: readonly Noted[] = [];

  async function load(): Promise<void> {
    noted = JSON.parse((await store.meta(ordersName)) ?? "[]") as Noted[];
  }

  /** What stores that the order was begun, or how it ended. */
  function note(one: Omit<Noted, "at">): MetaWrite {
    const others = noted.filter(({ id }) => id !== one.id);
    const open = others.filter(({ outcome }) => outcome === undefined);
    const ended = others.filter(({ outcome }) => outcome !== undefined).slice(-notedMax);
    noted = [...ended, ...open, { ...one, at: clock.now() }];
    return { kind: "meta", name: ordersName, value: JSON.stringify(noted) };
  }

  /** The functions of the runtime, whose first commit has the note. */
  function noting(id: string): Ways {
    const parts = opened();
    let isNoted = false;
    const more = <Write>(writes: readonly Write[]): readonly (Write | MetaWrite)[] => {
      if (isNoted) return writes;
      isNoted = true;
      return [...writes, note({ id })];
    };
    const journal: Journal = {
      ...parts.journal,
      offer: (events, writes = []) => parts.journal.offer(events, more(writes)),
      append: (events, writes = [], until) => parts.journal.append(events, more(writes), until),
      keep: (writes, until) => parts.journal.keep(more(writes), until),
    };
    const own = () => ({ ...opened(), journal });
    const operator = createOperator(ports, own);
    const sessions = createSessionOperator(ports, own);
    // What is said is known by its own id.
    const { say } = parts.speaker;
    const act = createRoomActions(() => store, { ...operator, ...sessions, say });
    return { ...operator, ...sessions, act };
  }

  /**
   * Does what others commit, unless that was done: then what it changes is not as it was.
   * @param look null: there is no such thing
   */
  async function changing<Answer>(
    id: string,
    begun: Noted | undefined,
    look: () => Promise<unknown>,
    done: Answer,
    change: () => Promise<Answer>,
  ): Promise<Answer> {
    const before = await look();
    if (begun !== undefined && !isDeepStrictEqual(begun.before, before)) return done;
    await opened().journal.keep([note({ id, before })], "ordered");
    return change();
  }

  async function carryOut(order: ConversationOrder, begun: Noted | undefined): Promise<unknown> {
    const { id, key, action } = order;
    const { outbox, quarantine, speaker } = opened();
    const ways = noting(id);
    /** It was carried out: what is stored says so. */
    const isDone = begun !== undefined && begun.before === undefined;
    switch (action.does) {
      case "resend":
      case "drop": {
        const row = await store.outboxRow(action.part);
        const change = async () => row !== null && outbox[action.does](row);
        const look = async () => row && [row.state, row.attempts, row.doubts, row.error];
        return changing(id, begun, look, true, change);
      }
      case "retry-event":
      case "drop-event": {
        const look = async () => quarantine.list().some(({ seq }) => seq === action.seq);
        return action.does === "drop-event"
          ? changing(id, begun, look, true, () => quarantine.drop(action.seq))
          : changing(id, begun, look, "retried", () => quarantine.retry(action.seq));
      }
      case "say":
        return speaker.say({ ...action.speech, key });
      case "compact-session":
        return ways.compactSession(key);
      case "reset-session": {
        const { sessionId, wait, by } = action;
        const there = await store.session(sessionId);
        const how = { wait, sessionId, ...(by === undefined ? {} : { by }) };
        if (there === null) return ways.resetSession(key, how);
        const { conv: _, ...session } = there;
        return wait ? session : null;
      }
      case "update-session":
        return isDone
          ? createSessionOperator(ports, opened).session(key)
          : ways.updateSession(key, action.patch, action.by);
      case "label": {
        const { does: _, ...label } = action;
        return ways.label({ key, ...label });
      }
      case "act":
        return acted(order, action, isDone, ways);
      case "abort-turn":
        return isDone || ways.abortTurn(key, action.by);
      case "disengage":
        return isDone ? null : ways.disengage(key, action.by).then(() => null);
    }
    throw new EarshotError(
      "EAR_USAGE",
      `Cannot carry out an order: this version does not know ${JSON.stringify((action as OrderedAction).does)}. ` +
        "Use the same version on all nodes.",
    );
  }

  function acted(
    { id, key }: ConversationOrder,
    { action, by }: Extract<OrderedAction, { does: "act" }>,
    isDone: boolean,
    ways: Ways,
  ): Promise<unknown> {
    if (action.does === "say") return ways.act({ key, by, action: { id, ...action } });
    if (isDone) return Promise.resolve({ refused: null, messages: [] });
    return ways.act({ key, by, action });
  }

  return async (order) => {
    loading ??= load();
    await loading;
    const begun = noted.find(({ id }) => id === order.id);
    if (begun?.outcome !== undefined) return begun.outcome;
    let outcome: OrderOutcome;
    try {
      outcome = { answer: (await carryOut(order, begun)) ?? null };
    } catch (error) {
      if (opened().journal.failing() !== null) throw error;
      ports.log("warn", "order.failed", { key: order.key, error: String(error) });
      const { code = "EAR_ASSERT", message } = error as Partial<EarshotError> & Error;
      outcome = { refused: { code, message } };
    }
    await opened().journal.keep([note({ id: order.id, outcome })]);
    return outcome;
  };
}
