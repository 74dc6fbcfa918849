/**
 * `POST /api/rooms/:key/actions`: what an operator does to a room from outside of it. Each action is
 * journalled with who did it, is in the transcript, and is answered with what happened or refused with
 * the reason.
 */
import { z } from "zod";
import {
  operatorName,
  type RoomAction,
  type RoomRefusal,
} from "../../../../actors/protocol/room-actions.ts";
import { activations } from "../../../../domain/decision.ts";
import { limits } from "../../../../domain/limits.ts";
import { text } from "../../../api-types/schema.ts";
import { ApiRefusal, type Refusal } from "../../../http/api-error.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import { checkedKey } from "../../../room-view/room-views.ts";
import type { RouteDeps } from "../deps.ts";

const actionSchema = z.discriminatedUnion("does", [
  z.strictObject({ does: z.literal("stop") }).describe("stops the running turn"),
  z
    .strictObject({ does: z.literal("disengage") })
    .describe("ends all credits: the agent only listens until it is spoken to again"),
  z
    .strictObject({ does: z.literal("new") })
    .describe("archives the session and starts a new one, in which the agent remembers nothing"),
  z
    .strictObject({
      does: z.literal("say"),
      text: z
        .string()
        .max(limits.sendUnitsMax)
        .refine((words) => words.trim() !== "", "a text is expected"),
      id: z
        .string()
        .min(1)
        .max(256)
        .exactOptional()
        .describe("of the caller: the same text is said once; @default one of its own"),
    })
    .describe("the agent says the text where the newest message of the room came from"),
  z
    .strictObject({
      does: z.literal("activation"),
      level: z.enum(activations).nullable().describe("null: as configured"),
    })
    .describe("when the agent answers in this room, as /activation"),
]);

const act = {
  method: "post",
  path: "/api/rooms/:key/actions",
  summary: "Stops the turn, disengages, starts a session, says something, sets the activation",
  params: z.object({ key: text.describe("session key, percent-encoded") }),
  body: actionSchema,
  answer: z.object({
    does: z.enum(["stop", "disengage", "new", "say", "activation"]),
    done: text.describe("what happened, for people"),
    messages: z.array(text).describe("outbox ids of what is said"),
  }),
  refuses: ["bad-request", "not-found", "conflict", "too-large", "wrong-type", "not-ready"],
} as const;

export function roomActionRoutes({ add }: Endpoints, { runtime, problem }: RouteDeps): void {
  add(act, async ({ params: { key }, body }) => {
    const why = problem();
    if (why !== null) throw new ApiRefusal("not-ready", why);
    const acted = await runtime.act({ key: checkedKey(key), by: operatorName, action: body });
    if (acted.refused === null)
      return { does: body.does, done: doneText(body), messages: [...acted.messages] };
    const [code, message] = refusals[acted.refused];
    throw new ApiRefusal(code, message);
  });
}

const refusals: Readonly<Record<RoomRefusal, readonly [Refusal, string]>> = {
  unknown: ["not-found", "Cannot act on that room: there are no messages in it yet"],
  "no-turn": ["conflict", "Cannot stop: no turn runs in this room"],
  "no-session": [
    "conflict",
    "Cannot start a new session: the agent has not answered here yet, so nothing is remembered",
  ],
  "no-place": [
    "conflict",
    "Cannot say that: nobody has written here yet, so it is unknown where to. Use `earshot send`",
  ],
  conflict: ["conflict", "Cannot say that: this id was used for another text. Use an id once"],
};

function doneText(action: RoomAction): string {
  switch (action.does) {
    case "stop":
      return "The turn is being stopped. What was sent of its answer stays.";
    case "disengage":
      return "Disengaged: the agent only listens here until it is spoken to again.";
    case "new":
      return "Started a new session. The previous one is archived.";
    case "say":
      return "It is on its way, as the agent’s own message.";
    case "activation":
      return action.level === null
        ? "Activation: as configured."
        : `Activation: ${action.level}. It stays so, also in later sessions.`;
  }
}
