/**
 * The port of a node, which Restate calls over HTTP/2: whatever comes there instead of Restate's calls, a
 * request is answered, and the next one is as well. Its calls themselves are those of `engine.ts`.
 */
import { once } from "node:events";
import { type ClientHttp2Session, connect } from "node:http2";
import type { RestateNode } from "../../../src/engines/restate/node.ts";
import { openTestNode } from "../../support/restate/node.ts";
import type { Frames } from "../harness/mutate.ts";
import { frames, refusesNothing, type Target } from "../harness/target.ts";

let opened: Promise<RestateNode> | null = null;

/** A path of a request; what a client may not send is left out. */
const pathOf = (text: string) => `/${encodeURI(text).replace(/^\/+/u, "")}`;

/** The status of the answer to a path, a media type and a body in parts. */
async function ask(client: ClientHttp2Session, given: Frames): Promise<number> {
  const [method = "", path = "", type = "", ...parts] = given.map((frame) => frame.toString());
  const isGet = method === "GET";
  const request = client.request({
    ":method": isGet ? "GET" : "POST",
    ":path": pathOf(path),
    ...(isGet ? { accept: "application/vnd.restate.endpointmanifest.v4+json" } : {}),
    ...(/^[\x20-\x7e]+$/u.test(type) ? { "content-type": type.trim() } : {}),
  });
  request.on("error", () => undefined);
  request.resume();
  const answered = once(request, "response") as Promise<[{ readonly ":status"?: number }]>;
  // It may be answered, and over, before all of it was sent.
  if (!isGet) for (const part of parts) request.write(Buffer.from(part));
  request.end();
  const [{ ":status": status = 0 }] = await answered;
  if (!request.closed) {
    // What it would answer with for as long as the call is under way is not waited for.
    request.close();
    await once(request, "close");
  }
  return status;
}

const invocation = "application/vnd.restate.invocation.v5";
const body = ["\u0000\u0000", "\u0000\u0000\u0000\u0000\u0000\u0003", "abc"];

export const nodeTargets: readonly Target[] = [
  {
    name: "restate-node",
    claim: "a request to a node's port is answered, whatever it holds",
    seeds: [
      { name: "what it serves", frames: frames("GET", "discover") },
      { name: "nothing that is there", frames: frames("POST", "nothing", invocation, ...body) },
      { name: "no call", frames: frames("POST", "invoke/inbox/put", invocation, ...body) },
      { name: "no media type", frames: frames("POST", "invoke/inbox/take") },
    ],
    async read(given) {
      opened ??= openTestNode();
      const { port } = await opened;
      // One for each: a connection on which very many requests are given up is ended.
      const client = connect(`http://127.0.0.1:${port}`);
      try {
        const status = await ask(client, given);
        const next = await ask(client, frames("GET", "discover"));
        if (next !== 200) throw new Error(`the next request is answered ${next}`);
        return status;
      } finally {
        client.destroy();
      }
    },
    refuses: refusesNothing,
    async close() {
      const ending = opened;
      opened = null;
      await (await ending)?.close();
    },
  },
];
