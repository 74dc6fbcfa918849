/**
 * What the API shows of an engine that keeps conversations outside of the daemon: its server, all nodes, and who has
 * which connection.
 */
import { z } from "zod";
import { count, millis, type Shape, text } from "./schema.ts";

const nodeSchema = z.object({
  node: text.describe("its name: machine and port"),
  own: z.boolean().describe("this one"),
  state: z
    .enum(["running", "stops", "silent", "unknown", "stopped", "gone"])
    .describe(
      "`silent`: it has said nothing for some seconds; `unknown`: this node hears of none, because the server does " +
        "not answer; `stopped`: it ended in order; `gone`: it ended without a word",
    ),
  since: millis
    .nullable()
    .describe("running: its start; silent, unknown: when it was last heard of; else its end"),
  address: text.nullable().describe("where its pages are, as it says"),
  version: text.nullable().describe("null: it does not say, as its version is older"),
  conversations: count.nullable().describe("active on it"),
  turns: count.nullable().describe("that run on it"),
  copy: z
    .object({
      behind: count.describe("conversations that are missing in it, or are newer elsewhere"),
      since: millis
        .nullable()
        .describe("since when any is, or it does not follow; null: it is complete"),
    })
    .nullable()
    .describe("its copy of all conversations; null: it keeps none"),
});
export type EngineNode = Shape<typeof nodeSchema>;

const sharedConnectionSchema = z.object({
  channel: text,
  account: text,
  holder: text.nullable().describe("name of the node that has it; null: nobody"),
  since: millis.describe("when it got it, or the last one gave it up"),
  live: z.boolean().describe("it is connected there"),
  waiting: z.array(text).describe("nodes that take it when the holder is gone"),
});
export type SharedConnection = Shape<typeof sharedConnectionSchema>;

const problemSchema = z.object({
  what: z.enum(["server", "leases", "copy", "conversation"]),
  key: text.nullable().describe("of the conversation that cannot go on; null: it concerns all"),
  title: text,
  since: millis,
  says: text.describe("the cause, and what to do"),
});
export type EngineProblem = Shape<typeof problemSchema>;

export const engineSchema = z
  .object({
    kind: z.literal("restate"),
    server: z.object({
      ingress: text,
      admin: text,
      version: text.nullable().describe("null: it has not answered yet"),
      failing: z.boolean(),
    }),
    several: z.boolean().describe("`engine.nodes` is set: others may share the conversations"),
    nodes: z.array(nodeSchema).describe("this one first; those that are gone last, for a day"),
    connections: z
      .array(sharedConnectionSchema)
      .describe("connections that may exist once only, and who has them"),
    schedule: z
      .object({ holder: text.nullable().describe("null: nobody"), since: millis })
      .nullable()
      .describe("the node that says what is said at set times; null: no node has wanted to yet"),
    problems: z.array(problemSchema),
  })
  .describe("the engine that keeps conversations outside of the daemon; null: there is none");
export type EngineStatus = Shape<typeof engineSchema>;
