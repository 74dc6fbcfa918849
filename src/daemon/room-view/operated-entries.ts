/**
 * The transcript entries of what was done by hand, and of where a session began. Orders that were
 * given in the room itself have an entry as commands.
 */
import type { Millis } from "../../domain/message.ts";
import { oneLine } from "../../domain/sanitize.ts";
import type {
  Disengage,
  RunAborted,
  SessionOverridden,
  SessionReset,
  TextDue,
} from "../../machines/events/events.ts";
import type { ActedEntry, RoomEntry, SessionEntry } from "../api-types/room.ts";

type Operated = Disengage | RunAborted | SessionOverridden | SessionReset | TextDue;
interface Place {
  readonly seq: number;
  readonly at: Millis;
}

export function operatedOf(event: Operated, place: Place): readonly RoomEntry[] {
  if (event.type === "session.reset") return [began(event, place)];
  const { by } = event;
  if (by === undefined) return [];
  const acted = { kind: "acted", ...place, by: oneLine(by) } as const;
  switch (event.type) {
    case "run.aborted":
      return event.operator === true ? [{ ...acted, does: "stop" }] : [];
    case "disengage":
      return [{ ...acted, does: "disengage" }];
    case "text.due":
      return [{ ...acted, does: "say" }];
    case "session.overridden":
      return activationOf(acted, event);
  }
}

/** Other settings of a session change nothing that the room sees. */
function activationOf(
  acted: Omit<ActedEntry, "does">,
  { activation }: SessionOverridden,
): readonly ActedEntry[] {
  return activation === undefined ? [] : [{ ...acted, does: "activation", level: activation }];
}

function began({ operator, cuts, by }: SessionReset, place: Place): SessionEntry {
  const why = operator === true ? "operator" : cuts === true ? "command" : "policy";
  return { kind: "session", ...place, why, ...(by === undefined ? {} : { by: oneLine(by) }) };
}
