import { expect } from "vitest";
import {
  deletionSchema,
  editSchema,
  inboundSchema,
  reactionSchema,
} from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";

/** The same event, after it was seen to have the one form that every channel's events have. */
export function checkedEvent<Event extends ChannelEvent | null>(event: Event): Event {
  if (event?.type === "message") expect(inboundSchema.parse(event.message)).toEqual(event.message);
  if (event?.type === "edit") expect(editSchema.parse(event.edit)).toEqual(event.edit);
  if (event?.type === "delete")
    expect(deletionSchema.parse(event.deletion)).toEqual(event.deletion);
  if (event?.type === "reaction")
    expect(reactionSchema.parse(event.reaction)).toEqual(event.reaction);
  return event;
}
