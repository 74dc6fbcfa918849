/**
 * Whether a conversation is busy: a command that changes what a turn is composed from must wait.
 */
import type { ConversationStatus } from "../../machines/events/effects.ts";

/** A turn is pending or running. */
export const isBusy = ({ attention }: ConversationStatus): boolean => attention !== "observing";
