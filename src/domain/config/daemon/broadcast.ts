/**
 * `broadcast`: several agents in one room
 * =======================================
 * Maps a peer (`telegram:-100123`, or the bare id) to the agents that hear it, each in its own
 * session.
 */
import { z } from "zod";
import { id } from "../conversation/section.ts";

export const broadcast = z
  .object({
    strategy: z
      .enum(["parallel", "sequential"])
      .default("parallel")
      .describe("Whether the agents of a room run at the same time. Default: parallel."),
  })
  .catchall(
    z
      .array(id)
      .min(1)
      .max(16, "at most 16 agents share a room")
      .describe("The agents that share the room with this id."),
  )
  .prefault({});
