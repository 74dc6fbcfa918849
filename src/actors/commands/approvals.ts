/**
 * Permissions that wait for an owner
 * ==================================
 * When a policy leaves an agent's action to an owner, the turn's room gets one line with a short
 * id, and `/approve` answers it: typed, or pressed where the channel has buttons. A button's label is the
 * command itself, so a press orders what that person's text would order, and nothing else. Silence never
 * grants: a request ends as refused with its turn, however the turn ends. Requests live in memory only, as
 * does the agent that waits for the answer.
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
  /** Stores a notice of the runtime and sends it. */
  readonly say: (row: OutboxRow) => Promise<void>;
}

/** A turn whose agent may request permissions. */
export interface ApprovalTurn {
  readonly turnId: string;
  readonly conv: number;
  readonly key: string;
  readonly route: Route;
  /** Age in ms after which its notices expire. */
  readonly ageMsMax: number;
}

/** A pending request. */
export interface Approval extends PermissionRequest {
  readonly id: string;
  readonly conv: number;
  readonly turnId: string;
}

export interface Approvals {
  /** A turn is about to run; earlier requests of its conversation end. */
  opened(turn: ApprovalTurn): void;
  ask(question: ContextQuestion): Promise<PermissionAnswer>;
  /** Pending requests of one conversation, oldest first. */
  pending(conv: number): readonly Approval[];
  /** Finds a pending request of any conversation. */
  find(id: string): Approval | null;
  answer(id: string, answer: PermissionAnswer): void;
  ended(turnId: string): void;
}

interface Waiting {
  readonly approval: Approval;
  readonly settle: (answer: PermissionAnswer) => void;
}

const shownUnitsMax = 200;
const idLength = 4;
const answers: readonly PermissionAnswer[] = ["once", "always", "deny"];
const requestSchema = z.object({ kind: z.string(), title: z.string() });

export function createApprovals({ clock, ids, log, say }: ApprovalPorts): Approvals {
  const turns = new Map<string, ApprovalTurn>();
  const waiting = new Map<string, Waiting>();

  const over = (isMeant: (approval: Approval) => boolean) => {
    for (const [id, { approval, settle }] of waiting) {
      if (!isMeant(approval)) continue;
      waiting.delete(id);
      settle("deny");
    }
  };

  /** A short id: the random end of a new unique id, longer where that is taken. */
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
    const question = `The agent asks an owner whether it may do this:\n\`${what}\``;
    const body: TextBody = {
      route,
      text: `${question}\n\`/approve ${id} once\`, \`always\` or \`deny\``,
      choices: { text: question, options: answers.map((word) => `/approve ${id} ${word}`) },
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
      const openCount = [...waiting.values()].filter(
        ({ approval }) => approval.turnId === turnId,
      ).length;
      if (turn?.key !== key || !request.success || openCount >= limits.permitsPerTurnMax)
        return Promise.resolve("deny");
      const approval = { id: shortId(turnId), conv: turn.conv, turnId, ...request.data };
      const answer = new Promise<PermissionAnswer>((settle) => {
        waiting.set(approval.id, { approval, settle });
      });
      log("info", "permission.asked", { key, turnId, id: approval.id });
      say(rowOf(turn, approval)).catch((error: unknown) => {
        log("warn", "permission.untold", { key, turnId, error: String(error) });
        over(({ id }) => id === approval.id);
      });
      return answer;
    },
    pending: (conv) =>
      [...waiting.values()].flatMap(({ approval }) => (approval.conv === conv ? [approval] : [])),
    find: (id) => waiting.get(id.toUpperCase())?.approval ?? null,
    answer(id, answer) {
      const found = waiting.get(id);
      if (found === undefined) return;
      waiting.delete(id);
      log("info", "permission.answered", { turnId: found.approval.turnId, id, answer });
      found.settle(answer);
    },
    ended(turnId) {
      turns.delete(turnId);
      over((approval) => approval.turnId === turnId);
    },
  };
}
