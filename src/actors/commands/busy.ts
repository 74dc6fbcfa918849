/**
 * Whether a conversation has something to do: a command that changes what a turn is made from waits.
 */
import type { Standing } from "../../machines/events/effects.ts";

/** A turn is owed or under way. */
export const isBusy = ({ attention }: Standing): boolean => attention !== "observing";
