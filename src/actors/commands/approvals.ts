/**
 * Permissions that wait for an owner
 * ==================================
 * An agent of a running turn wants to do something that its policy leaves to an owner. The room of
 * the turn is told in one line, with a short id; `/approve` answers it. Nothing is granted by silence:
 * a question ends as refused with its turn, however that ends. The question lives in memory only, as
 * does the agent that waits for its answer.
 */
import { z } from "zod";
import { limits } from "../../domain/limits.ts";
import type { Route } from "../../domain/message.ts";
import type { PermissionAnswer, PermissionRequest } from "../../domain/permission.ts";
import type { Clock, Ids, Log, OutboxRow } from "../../domain/ports/index.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type { TextBody } from "../outbox/row-body.ts";
import type { ContextQuestion } from "../protocol/host-protocol.ts";

export interface ApprovalPorts {
  readonly clock: Clock;
  readonly ids: Ids;
  readonly log: Log;
  /** Stores a line of the runtime's own and sends it. */
  readonly say: (row: OutboxRow) => Promise<void>;
}

/** A turn whose agent may ask. */
export interface ApprovalTurn {
  readonly turnId: string;
  readonly conv: number;
  readonly key: string;
  readonly route: Route;
  /** ms; nothing of it is told later. */
  readonly ageMsMax: number;
}

/** A question that has no answer yet. */
export interface Approval extends PermissionRequest {
  readonly id: string;
  readonly conv: number;
  readonly turnId: string;
}

export interface Approvals {
  /** A turn is about to run; what its conversation asked before is over. */
  opened(turn: ApprovalTurn): void;
  ask(question: ContextQuestion): Promise<PermissionAnswer>;
  /** Of one conversation, oldest first. */
  pending(conv: number): readonly Approval[];
  /** In any case. */
  find(id: string): Approval | null;
  answer(id: string, answer: PermissionAnswer): void;
  ended(turnId: string): void;
}

interface Waiting {
  readonly permit: Approval;
  readonly settle: (answer: PermissionAnswer) => void;
}

const shownUnitsMax = 200;
const idLength = 4;
const requestSchema = z.object({ kind: z.string(), title: z.string() });

export function createApprovals({ clock, ids, log, say }: ApprovalPorts): Approvals {
  const turns = new Map<string, ApprovalTurn>();
  const waiting = new Map<string, Waiting>();

  const over = (isMeant: (permit: Approval) => boolean) => {
    for (const [id, { permit, settle }] of waiting) {
      if (!isMeant(permit)) continue;
      waiting.delete(id);
      settle("deny");
    }
  };

  /** The end of a new unique id, which is its random part; longer where that is taken. */
  function shortId(turnId: string): string {
    const whole = ids.next(`permit|${turnId}`);
    let length = idLength;
    while (waiting.has(whole.slice(-length)) && length < whole.length) length += 1;
    return whole.slice(-length);
  }

  function rowOf(turn: ApprovalTurn, { id, kind, title }: Approval): OutboxRow {
    const { route, conv, key } = turn;
    const at = clock.now();
    const what = oneLine(`${kind}: ${title}`, shownUnitsMax).replaceAll("`", "'");
    const text =
      `The agent asks an owner whether it may do this:\n\`${what}\`\n` +
      `\`/approve ${id} once\`, \`always\` or \`deny\``;
    const body: TextBody = {
      route,
      text,
      replyTo: null,
      quote: false,
      expiresAt: at + turn.ageMsMax,
    };
    const turnId = `permit-${ids.next(`permit|${turn.turnId}`)}`;
    return {
      id: `${turnId}:0`,
      conv,
      key,
      turnId,
      index: 0,
      kind: "notice",
      state: "pending",
      createdAt: at,
      dueAt: at,
      attempts: 0,
      doubts: 0,
      messageIds: null,
      error: null,
      body: JSON.stringify(body),
    };
  }

  return {
    opened(turn) {
      over(({ conv }) => conv === turn.conv);
      turns.set(turn.turnId, turn);
    },
    ask({ turnId, key, input }) {
      const turn = turns.get(turnId);
      const request = requestSchema.safeParse(input);
      const asked = [...waiting.values()].filter(({ permit }) => permit.turnId === turnId).length;
      if (turn?.key !== key || !request.success || asked >= limits.permitsPerTurnMax)
        return Promise.resolve("deny");
      const permit = { id: shortId(turnId), conv: turn.conv, turnId, ...request.data };
      const answer = new Promise<PermissionAnswer>((settle) => {
        waiting.set(permit.id, { permit, settle });
      });
      log("info", "permission.asked", { key, turnId, id: permit.id });
      say(rowOf(turn, permit)).catch((error: unknown) => {
        log("warn", "permission.untold", { key, turnId, error: String(error) });
        over(({ id }) => id === permit.id);
      });
      return answer;
    },
    pending: (conv) =>
      [...waiting.values()].flatMap(({ permit }) => (permit.conv === conv ? [permit] : [])),
    find: (id) => waiting.get(id.toUpperCase())?.permit ?? null,
    answer(id, answer) {
      const found = waiting.get(id);
      if (found === undefined) return;
      waiting.delete(id);
      log("info", "permission.answered", { turnId: found.permit.turnId, id, answer });
      found.settle(answer);
    },
    ended(turnId) {
      turns.delete(turnId);
      over((permit) => permit.turnId === turnId);
    },
  };
}
