/**
 * `commands`: who may give them
 * =============================
 * `allowFrom`, where set for a channel (or `*`), is the only list; else the channel's own allow
 * lists count. Owners are named apart.
 */
import { z } from "zod";
import { scopedId } from "./access.ts";
import { id, section } from "./section.ts";

export const commands = section(
  {
    /** Whether `/words` in a message are commands at all. */
    text: z.boolean(),
    /** Channel id to ids; under `*` each id carries its channel. */
    allowFrom: z.record(id, z.array(id).max(10_000)),
    ownerAllowFrom: z.array(scopedId).max(1_000),
  },
  { text: true, allowFrom: {}, ownerAllowFrom: [] },
);
