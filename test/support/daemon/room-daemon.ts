/**
 * A room of four people and two bots on a real daemon, played through the webhook channel: with an
 * agent that follows a script, so that what it says, and when, is known.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import type { RoomFrame, RoomView } from "../../../src/daemon/api-types/room.ts";

export const roomKey = "agent:main:webhook:group:release";
const people = {
  ann: { id: "ann", name: "Ann" },
  bo: { id: "bo", name: "Bo" },
  cy: { id: "cy", name: "Cy" },
  dee: { id: "dee", name: "Dee" },
  relay: { id: "relay", name: "Relay", isBot: true },
  clerk: { id: "clerk", name: "Clerk", isBot: true },
} as const;
export type Cast = keyof typeof people;

/** What a line needs besides its author and text. */
export interface Aim {
  readonly mentions?: readonly (Cast | "scout")[];
  readonly replyTo?: { readonly id: string; readonly authorId?: string; authorIsSelf?: boolean };
}

export interface RoomScript {
  readonly steps: readonly object[];
  readonly afterMs?: number;
}

/** Writes a config whose agent Scout follows the script. */
export function writeRoomConfig(stateDir: string, runs: readonly RoomScript[], more = {}): void {
  const driver = { kind: "scripted", runs };
  const config = {
    agents: { list: [{ id: "main", name: "Scout", aliases: ["scout"], driver }] },
    messages: { inbound: { debounceMs: 50 } },
    ...more,
  };
  writeFileSync(join(stateDir, "earshot.json5"), JSON.stringify(config), { mode: 0o600 });
}

/** The message as `/api/inbound` takes it. */
export function line(id: string, who: Cast, text: string, { mentions = [], ...rest }: Aim = {}) {
  const named = mentions.map((one) =>
    one === "scout" ? { id: "self", name: "Scout", isSelf: true } : people[one],
  );
  return {
    channel: "webhook",
    chat: { id: "release", kind: "group", title: "#release-room" },
    id,
    author: people[who],
    text,
    mentions: named,
    ...rest,
  };
}

export interface Called {
  readonly base: string;
  readonly token: string;
}

export async function call(daemon: Called, path: string, body?: unknown): Promise<Response> {
  const headers: Record<string, string> = { authorization: `Bearer ${daemon.token}` };
  if (body !== undefined) headers["content-type"] = "application/json";
  return fetch(`${daemon.base}${path}`, {
    headers,
    ...(body === undefined ? {} : { method: "POST", body: JSON.stringify(body) }),
  });
}

/** Says a line and waits for its decision. */
export async function say(daemon: Called, ...what: Parameters<typeof line>): Promise<string> {
  const answer = await call(daemon, "/api/inbound?wait=decision", line(...what));
  const { taken } = (await answer.json()) as {
    taken: readonly { decision: string; rule: string }[];
  };
  return `${taken[0]?.decision} ${taken[0]?.rule}`;
}

const pathOf = (rest: string, key = roomKey) => `/api/rooms/${encodeURIComponent(key)}${rest}`;

export async function viewOf(daemon: Called): Promise<RoomView> {
  const answer = await call(daemon, pathOf(""));
  if (!answer.ok) throw new Error(`${answer.status}: ${await answer.text()}`);
  return (await answer.json()) as RoomView;
}

export const roomCall = (daemon: Called, rest: string, body?: unknown) =>
  call(daemon, pathOf(rest), body);

/** Frames as they come; `until` reads on to the first that satisfies. */
export async function openFrames(daemon: Called, after?: number, key?: string) {
  const query = after === undefined ? "" : `?after=${after}`;
  const answer = await call(daemon, pathOf(`/live${query}`, key));
  if (!answer.ok || answer.body === null) throw new Error(`${answer.status}`);
  const reader = answer.body.getReader();
  const decoder = new TextDecoder();
  const seen: RoomFrame[] = [];
  let rest = "";
  const next = async (): Promise<RoomFrame> => {
    for (;;) {
      const end = rest.indexOf("\n\n");
      if (end >= 0) {
        const event = rest.slice(0, end);
        rest = rest.slice(end + 2);
        if (!event.startsWith("data: ")) continue;
        const frame = JSON.parse(event.slice(6)) as RoomFrame;
        seen.push(frame);
        return frame;
      }
      const { value, done } = await reader.read();
      if (done) throw new Error("the stream ended");
      rest += decoder.decode(value, { stream: true });
    }
  };
  return {
    seen,
    next,
    async until(holds: (frame: RoomFrame) => boolean): Promise<RoomFrame> {
      for (;;) {
        const frame = await next();
        if (holds(frame)) return frame;
      }
    },
    close: () => reader.cancel(),
  };
}
