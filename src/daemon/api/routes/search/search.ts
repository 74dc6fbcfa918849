/** `GET /api/search`: messages by their text and facts, the newest first. */
import { z } from "zod";
import { decisions, rules } from "../../../../domain/decision.ts";
import { fold } from "../../../../domain/fold-text.ts";
import { parseQuery } from "../../../../domain/search/query.ts";
import { foundOutcomes } from "../../../../domain/search/values.ts";
import { searchAnswerSchema } from "../../../api-types/search.ts";
import { type Endpoints, wholeNumber } from "../../../http/endpoint.ts";
import { checkedKey } from "../../../room-view/room-views.ts";
import type { RouteDeps } from "../deps.ts";

const pageMessages = 50;
const pageMessagesMax = 200;
const textUnitsMax = 1_000;
const keyUnitsMax = 2_048;

/** Names with commas between them. */
const oneOrMore = <const Names extends readonly [string, ...string[]]>(names: Names) =>
  z
    .string()
    .max(textUnitsMax)
    .transform((text) => text.split(",").map((name) => name.trim()))
    .pipe(z.array(z.enum(names)))
    .optional();
const moment = wholeNumber().optional();

const search = {
  method: "get",
  path: "/api/search",
  summary: "Messages by text, author, decision, rule, outcome and time, the newest first",
  query: z.object({
    text: z
      .string()
      .max(textUnitsMax, `at most ${textUnitsMax} characters`)
      .default("")
      .describe('words that must all occur, "a phrase", -word; any text is valid'),
    room: z.string().max(keyUnitsMax).optional().describe("session key: only this room"),
    author: z.string().max(textUnitsMax).optional().describe("part of a name, or a whole id"),
    decision: oneOrMore(decisions).describe("one of these decisions; with commas"),
    rule: oneOrMore(rules).describe("one of these rules; with commas"),
    outcome: oneOrMore(foundOutcomes).describe("one of these outcomes; with commas"),
    since: moment.describe("ms since the epoch"),
    until: moment.describe("ms since the epoch, exclusive"),
    before: moment.describe("the `next` of the page before"),
    limit: wholeNumber(pageMessagesMax).default(pageMessages).describe("at most so many"),
  }),
  answer: searchAnswerSchema,
  refuses: ["no-copy", "bad-request"],
} as const;

export function searchRoutes({ add }: Endpoints, deps: RouteDeps): void {
  add(search, ({ query: { text, author, decision, rule, outcome, room, limit, ...rest } }) =>
    deps.search.find({
      ...rest,
      terms: parseQuery(text),
      room: room === undefined ? undefined : checkedKey(room),
      author: author === undefined ? undefined : fold(author.trim()),
      decisions: decision,
      rules: rule,
      outcomes: outcome,
      limit: Math.max(1, limit),
    }),
  );
}
