/**
 * Random stories of a conversation, each step made when the story has come to it. fast-check shrinks
 * them to what matters.
 */
import fc from "fast-check";
import type { ConversationEvent } from "../../../src/machines/events/events.ts";
import type { Rig } from "../runtime/conversation-rig.ts";

const turnIds = fc.constantFrom("T1", "T1", "T2", "T3", "T4", "gone");
/** Makes the next event, when the story has come to it. */
export type Make = (rig: Rig) => ConversationEvent;
/** Any event at all, sensible or not, of this turn or of another. */
const anyEvent: fc.Arbitrary<Make> = fc.oneof(
  fc
    .record({
      author: fc.constantFrom("ann", "bob", "bot"),
      aim: fc.constantFrom("us" as const, "other" as const, undefined),
      media: fc.boolean(),
    })
    .map(
      ({ author, aim, media }) =>
        (rig: Rig) =>
          rig.message(author, "hm", {
            bot: author === "bot",
            ...(aim === undefined ? {} : { to: aim }),
            ...(media ? { attachments: [{ id: "a", kind: "image" as const }] } : {}),
          }),
    ),
  fc.record({ id: fc.constantFrom("flush", "quiet", "other"), late: fc.nat({ max: 3_000 }) }).map(
    ({ id, late }): Make =>
      (rig) => {
        rig.now += late;
        const due = rig.deadlines.get(id);
        // A deadline that fired is gone from the store; one that comes early is still in it.
        if (due !== undefined && due <= rig.now) rig.deadlines.delete(id);
        return { type: "deadline.due", at: rig.now, id };
      },
  ),
  turnIds.map(
    (turnId): Make =>
      ({ now }) => ({ type: "lane.granted", at: now, turnId }),
  ),
  fc.record({ turnId: turnIds, index: fc.nat({ max: 2 }) }).chain(({ turnId, index }) =>
    fc.constantFrom<Make>(
      ({ now: at }) => ({
        type: "agent.text",
        at,
        turnId,
        index,
        from: index * 4,
        to: index * 4 + 4,
        text: "word",
        mentions: ["bob"],
      }),
      ({ now: at }) => ({
        type: "agent.text",
        at,
        turnId,
        index,
        from: 0,
        to: 0,
        draft: true,
        text: "wo",
        mentions: [],
      }),
      ({ now: at }) => ({
        type: "agent.text",
        at,
        turnId,
        index,
        from: index * 4,
        to: index * 4 + 4,
        text: "word",
        mentions: [],
        edits: 0,
      }),
      ({ now: at }) => ({
        type: "agent.text",
        at,
        turnId,
        index,
        from: 0,
        to: 0,
        aside: "status",
        text: "beside",
        mentions: ["bob"],
      }),
      ({ now: at }) => ({ type: "agent.ended", at, turnId, silent: false }),
      ({ now: at }) => ({ type: "agent.failed", at, turnId, code: "error", message: "x" }),
      ({ now: at }) => ({ type: "agent.failed", at, turnId, code: "host-lost", message: "x" }),
      ({ now: at }) => ({ type: "delivery.sent", at, turnId, index, messageIds: [`s${index}`] }),
      ({ now: at }) => ({ type: "delivery.failed", at, turnId, index, status: "expired" }),
      ({ now: at }) => ({ type: "skip", at, turnId }),
      ({ now: at }) => ({ type: "agent.spoke", at, turnId, what: "text" }),
      ({ now: at }) => ({ type: "agent.steered", at, turnId, messages: [1, 2, 3, 4, 5, 6] }),
    ),
  ),
  fc.constantFrom<Make>(
    ({ now: at }) => ({ type: "disengage", at }),
    ({ now: at }) => ({ type: "run.aborted", at, by: "ann" }),
    ({ now: at }) => ({ type: "host.recovered", at }),
    ({ now: at }) => ({ type: "command.applied", at, command: "status", args: [] }),
  ),
);
export const stories = fc.array(anyEvent, { maxLength: 80, size: "max" });
export const modes = fc.constantFrom(
  ...(["collect", "followup", "queue", "steer", "steer-backlog", "interrupt"] as const),
);
