/**
 * Sends in the outbox of a daemon that does not run, as a process leaves them behind that ended
 * while it sent, or whose channel refused for good.
 */
import { join } from "node:path";
import { openSqliteStore } from "../../../src/adapters/stores/sqlite-store.ts";
import { hash52 } from "../../../src/domain/key.ts";

const key = "agent:main:webhook:group:garden";

/** Leaves one send for each id, whose text is "text of" it, to the room #garden. */
export async function writeUnsettledSends(
  stateDir: string,
  state: "in-doubt" | "dead",
  ids: readonly string[],
): Promise<void> {
  const store = await openSqliteStore({ path: join(stateDir, "earshot.db") });
  const chat = { id: "garden", kind: "group", title: "#garden" };
  const route = { channel: "webhook", account: "default", chat, thread: null };
  await store.commit(
    ids.map((id) => ({
      kind: "outbox",
      row: {
        id,
        conv: hash52(key),
        key,
        turnId: "T1",
        index: 0,
        kind: "reply",
        state,
        createdAt: Date.now(),
        dueAt: 0,
        attempts: 1,
        doubts: 1,
        messageIds: null,
        error: "the connection broke while sending",
        body: JSON.stringify({
          route,
          text: `text of ${id}`,
          replyTo: null,
          quote: false,
          expiresAt: Date.now() + 3_600_000,
        }),
      },
    })),
  );
  await store.close();
}
