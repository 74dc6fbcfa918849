/** Asks the daemon to do something to a room; the journal of the room says that it was done. */
import type { Activation } from "../../../src/domain/decision.ts";
import { ApiError, ask } from "../lib/api.ts";

export type RoomAction =
  | { readonly does: "stop" | "disengage" | "new" }
  | { readonly does: "say"; readonly text: string; readonly id: string }
  | { readonly does: "activation"; readonly level: Activation | null };

export interface Acted {
  readonly ok: boolean;
  /** What happened, or why it did not. */
  readonly text: string;
}

/** Never rejects. */
export async function act(token: string, key: string, body: RoomAction): Promise<Acted> {
  const path = `/api/rooms/${encodeURIComponent(key)}/actions`;
  try {
    const { done } = (await ask(path, { token, body })) as { readonly done: string };
    return { ok: true, text: done };
  } catch (error) {
    const text = error instanceof ApiError ? error.message : "Cannot reach earshot.";
    return { ok: false, text };
  }
}
