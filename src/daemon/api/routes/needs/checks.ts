/** `POST /api/checks`: checks everything that can be checked; each result is sent as it comes. */
import { checkStepSchema } from "../../../api-types/checks.ts";
import type { Endpoints } from "../../../http/endpoint.ts";
import type { RouteDeps } from "../deps.ts";

const run = {
  method: "post",
  path: "/api/checks",
  summary: "Checks the machine, the config in force, and what it names; JSON Lines",
  answer: { contentType: "application/x-ndjson", each: checkStepSchema },
} as const;

export function checkRoutes({ add }: Endpoints, { check }: RouteDeps): void {
  add(run, ({ context }) =>
    context.body(streamOf(check), 200, {
      "content-type": "application/x-ndjson",
      "cache-control": "no-store",
    }),
  );
}

function streamOf(check: RouteDeps["check"]): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  let isRead = true;
  return new ReadableStream({
    async start(stream) {
      await check((step) => {
        if (isRead) stream.enqueue(encoder.encode(`${JSON.stringify(step)}\n`));
      });
      if (isRead) stream.close();
    },
    cancel() {
      isRead = false;
    },
  });
}
