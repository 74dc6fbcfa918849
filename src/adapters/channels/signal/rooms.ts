/**
 * What the daemon knows: the groups of the account with their members, and the files that it received
 * (signal-cli(1): listGroups, getAttachment).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Route } from "../../../domain/message.ts";
import type { SignalClient } from "./client.ts";
import type { CallKind } from "./errors.ts";
import type { SignalNames } from "./names.ts";
import { fileSchema, groupsSchema } from "./wire.ts";

const fileMsMax = 30_000;
const groupsMsMax = 20_000;

/** Reads all groups; `names` gets their titles. */
export async function readGroups(
  client: SignalClient,
  names: SignalNames,
  options: { readonly kind: CallKind; readonly signal: AbortSignal },
) {
  const groups = await client.call(
    "listGroups",
    {},
    { ...options, msMax: groupsMsMax },
    groupsSchema,
  );
  for (const { id, name } of groups) names.retitle(id, name);
  return groups;
}

/** Who is in a room. Signal does not say who is a bot, so of several others some may be. */
export async function membersIn(
  client: SignalClient,
  names: SignalNames,
  chat: Route["chat"],
  signal: AbortSignal,
) {
  if (chat.kind === "direct") return { humans: 1, bots: 1, truncated: false };
  const groups = await readGroups(client, names, { kind: "ask", signal });
  const members = groups.find(({ id }) => id === chat.id)?.members;
  if (members == null)
    throw new EarshotError(
      "EAR_CHANNEL_REJECTED",
      "Cannot count the members of a group: signal-cli does not know it",
    );
  const ids = new Set(members.map((member) => names.idOf(member)));
  const bots = ids.delete(names.self.id) ? 1 : 0;
  return { humans: ids.size, bots, truncated: ids.size > 1 };
}

/** A received file, which the daemon has on its disk. */
export async function fetchFile(
  client: SignalClient,
  id: string,
  signal: AbortSignal,
): Promise<ReadableStream<Uint8Array>> {
  // Four letters for three bytes.
  const bytesMax = Math.ceil((limits.platformFileBytesMax * 4) / 3) + 1_024;
  const { data } = await client.call(
    "getAttachment",
    { id },
    { kind: "ask", signal, msMax: fileMsMax, bytesMax },
    fileSchema,
  );
  const bytes = Buffer.from(data, "base64");
  return new ReadableStream({
    start(controller) {
      controller.enqueue(new Uint8Array(bytes));
      controller.close();
    },
  });
}
