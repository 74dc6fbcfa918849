/**
 * Where Restate calls the nodes
 * =============================
 * Restate makes a call to the end at the address at which it began, whatever is registered afterwards. So where the
 * nodes have another address now, what they had before is set to that, and what is under way goes on there.
 */
import { z } from "zod";
import { EarshotError } from "../../domain/errors.ts";
import { conversationService, inboxService } from "./wire.ts";

const deploymentsSchema = z.object({
  deployments: z.array(
    z.object({
      id: z.string(),
      /** Absent: it is reached in another way than over HTTP. */
      uri: z.string().optional(),
      services: z.array(z.object({ name: z.string() })),
    }),
  ),
});

/**
 * Makes Restate call the nodes at `uri` for every conversation from now on.
 * @param admin base URL of its admin API
 * @throws EarshotError EAR_HTTP_FAILED: it cannot be reached; EAR_HTTP_REFUSED: it cannot use that address.
 */
export async function registerNodes(admin: string, uri: string): Promise<void> {
  const registering = `Cannot register ${uri} with Restate`;
  const must = "It must reach that address.";
  await ask(admin, "POST", "deployments", { uri, force: true }, registering, must);
  const why = "Cannot read the addresses that Restate calls";
  const listed = await ask(admin, "GET", "deployments", undefined, why, "");
  const { deployments } = deploymentsSchema.parse(JSON.parse(listed));
  const before = deployments.filter(
    ({ uri: other, services }) =>
      other !== undefined &&
      new URL(other).href !== new URL(uri).href &&
      [conversationService, inboxService].every((ours) =>
        services.some(({ name }) => name === ours),
      ),
  );
  for (const { id, uri: old } of before) {
    const moving = `Cannot move what is under way at ${old} to ${uri}`;
    await ask(admin, "PATCH", `deployments/${id}`, { uri }, moving, must);
  }
}

async function ask(
  admin: string,
  method: "GET" | "POST" | "PATCH",
  path: string,
  input: object | undefined,
  doing: string,
  must: string,
): Promise<string> {
  let answer: Response;
  try {
    answer = await fetch(`${admin}/${path}`, {
      method,
      ...(input !== undefined && {
        headers: { "content-type": "application/json" },
        body: JSON.stringify(input),
      }),
    });
  } catch (cause) {
    throw new EarshotError(
      "EAR_HTTP_FAILED",
      `${doing}: there is no connection to ${admin}. Is it running?`,
      { cause },
    );
  }
  const text = await answer.text();
  if (answer.ok) return text;
  throw new EarshotError(
    "EAR_HTTP_REFUSED",
    `${doing}: it answers ${answer.status} (${text.slice(0, 300)}). ${must}`.trim(),
  );
}
