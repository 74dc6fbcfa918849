/**
 * What comes over Restate: answers of its ingress to the calls that a node makes, and calls of the handlers that
 * a node serves. A server that answers with the bytes of the input stands for the ingress; the handlers run on
 * a state in memory.
 */
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import * as sdk from "@restatedev/restate-sdk";
import { createSystemClock } from "../../../src/adapters/system/clock.ts";
import { sha256 } from "../../../src/adapters/system/digest.ts";
import { encodeVerdict } from "../../../src/domain/decision.ts";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { Clock } from "../../../src/domain/ports/index.ts";
import { ingressCaller } from "../../../src/engines/restate/calls/ingress-call.ts";
import { untold } from "../../../src/engines/restate/feed/node-mirror.ts";
import { feedObject } from "../../../src/engines/restate/feed/object.ts";
import { fillConversation } from "../../../src/engines/restate/filling.ts";
import { createInbox } from "../../../src/engines/restate/inbox.ts";
import { inboxObject } from "../../../src/engines/restate/inbox-object.ts";
import { leaseObject } from "../../../src/engines/restate/leases/object.ts";
import { createNodeNumbers } from "../../../src/engines/restate/numbers/node-numbers.ts";
import { numbersObject } from "../../../src/engines/restate/numbers/object.ts";
import { conversationObject } from "../../../src/engines/restate/objects.ts";
import { cursorObject, rowsObject } from "../../../src/engines/restate/shared/objects.ts";
import { createSharedRows } from "../../../src/engines/restate/shared/shared-rows.ts";
import { accessService } from "../../../src/engines/restate/shared/wire.ts";
import { createVerdicts } from "../../../src/engines/restate/verdicts.ts";
import type { Frames } from "../harness/mutate.ts";
import { canary, frames, jsonFrames, jsonIn, type Target } from "../harness/target.ts";

const key = "agent:main:direct:ann";

/** The server, and what it answers next: pairs of a status and a body, the last of them again and again. */
let server: Promise<Server> | null = null;
let answers: Frames = [];
const serve = () =>
  new Promise<Server>((resolve) => {
    const made = createServer((request, response) => {
      request.resume().once("end", () => {
        const [status, body] = answers;
        if (answers.length > 2) answers = answers.slice(2);
        const code = Number(status);
        response.writeHead(code >= 200 && code < 600 ? code : 200);
        response.end(body);
      });
    });
    made.listen(0, "127.0.0.1", () => resolve(made));
  });
const close = async () => {
  const ending = server;
  server = null;
  const closing = await ending;
  closing?.closeAllConnections();
  closing?.close();
};

type Seeds = readonly (readonly [name: string, ...answered: unknown[]])[];
const answered = (
  name: string,
  seeds: Seeds,
  read: (ingress: string) => Promise<unknown>,
): Target => ({
  name: `restate-${name}`,
  claim: "an answer of Restate has its form, or is EAR_STORE_FAILED",
  seeds: seeds.map(([seed, ...bodies]) => ({
    name: seed,
    frames: bodies.flatMap((body) => frames("200", JSON.stringify(body))),
  })),
  async read(given) {
    answers = given;
    server ??= serve();
    const { port } = (await server).address() as AddressInfo;
    return read(`http://127.0.0.1:${port}`);
  },
  refuses: (error) => error instanceof EarshotError && error.code === "EAR_STORE_FAILED",
  close,
});

/** Two seconds later with each look, so that nobody waits. */
function hurriedClock(): Clock {
  let at = 0;
  return {
    ...createSystemClock(),
    monotonic: () => {
      at += 2_000;
      return at;
    },
    setTimer: (due, fire) => {
      queueMicrotask(fire);
      return { at: due };
    },
    clearTimer: () => undefined,
  };
}

const event = {
  identity: "i1",
  sentAt: 1,
  messageId: "m1",
  event: { type: "message.received", at: 1 },
};
const kept = [
  { table: "journal", id: "[1]", row: { seq: 1, mid: "m1", body: "{}" } },
  { table: "outbox", id: '["t:0"]', row: { id: "t:0", state: "pending", due: null } },
];
const shared = {
  version: 2,
  refused: false,
  whole: true,
  rows: [{ name: "telegram:default:ann", body: "{}" }],
};
const sharedRows = (ingress: string) =>
  createSharedRows({
    clock: createSystemClock(),
    log: () => undefined,
    call: ingressCaller(ingress),
    onChanged: () => undefined,
  });

const callers: readonly Target[] = [
  answered("put", [["new", [true]]], (ingress) =>
    createInbox(ingress).offer(
      key,
      event as Parameters<ReturnType<typeof createInbox>["offer"]>[1],
    ),
  ),
  answered(
    "verdict",
    [
      ["made", encodeVerdict({ decision: "observe", rule: "default", credit: "none" })],
      ["none", null],
    ],
    (ingress) => createVerdicts(hurriedClock(), ingressCaller(ingress)).of(key, "m1"),
  ),
  answered(
    "shared",
    [
      ["all", shared],
      ["a change", { ...shared, version: 0, rows: [] }, { ...shared, rows: [] }],
    ],
    (ingress) => sharedRows(ingress).load([{ name: "telegram:default:bob", body: "{}" }]),
  ),
  answered("numbers", [["place", 3]], (ingress) =>
    createNodeNumbers({ clock: createSystemClock(), call: ingressCaller(ingress) }).above(1),
  ),
  answered("cursor", [["one", { bot: "12" }]], (ingress) =>
    sharedRows(ingress).cursor("telegram", "default", "bot"),
  ),
  answered(
    "fill",
    [
      ["it is there", kept],
      ["it is new", [], null, kept],
      ["others are there", [kept[0]], false],
      ["half of it is there", [kept[0]], true, null, kept],
    ],
    (ingress) => fillConversation({ ingress, digest: sha256 }, key, kept, null),
  ),
];

type Call = readonly [service: string, handler: string, key: string, input: unknown];
type Handler = (ctx: unknown, input: unknown) => Promise<unknown>;
const objects = [
  inboxObject(sdk),
  conversationObject(sdk, {
    clock: { now: () => 1 },
    activate: () => {
      throw new Error("no handler of these makes a conversation active");
    },
    numbered: async () => undefined,
    rows: untold,
  }),
  numbersObject(sdk),
  leaseObject(sdk),
  rowsObject(sdk, accessService),
  cursorObject(sdk),
  feedObject(sdk),
] as unknown as readonly { readonly name: string; readonly object: Record<string, Handler> }[];
const handlers: ReadonlyMap<string, Handler> = new Map(
  objects.flatMap(({ name, object }) =>
    Object.entries(object).map(([handler, run]) => [`${name}/${handler}`, run] as const),
  ),
);

/** Each as service and handler. */
export const handlerNames: readonly string[] = [...handlers.keys()];

/** What a handler uses of its context, on a state that is JSON as Restate stores it. */
function contextOf(state: Map<string, string>, own: string) {
  return {
    key: own,
    get: async (name: string) => JSON.parse(state.get(name) ?? "null") as unknown,
    set: (name: string, value: unknown) => void state.set(name, JSON.stringify(value)),
    clear: (name: string) => void state.delete(name),
    stateKeys: async () => [...state.keys()],
    run: async (_: string, work: () => unknown) => work(),
    awakeable: () => ({ id: "awakeable", promise: Promise.resolve(null) }),
    resolveAwakeable: () => undefined,
    genericSend: () => undefined,
    genericCall: async () => true,
  };
}

const seedCalls: readonly (readonly [name: string, ...calls: Call[]])[] = [
  [
    "events",
    ["inbox", "put", key, { events: [event, { ...event, identity: "i2" }] }],
    ["inbox", "take", key, { waker: "w" }],
    ["inbox", "put", key, { events: [event] }],
    ["inbox", "take", key, { waker: null }],
  ],
  [
    "orders",
    ["inbox", "order", key, { id: "o1", action: { does: "abort" }, known: false }],
    ["inbox", "order", key, { id: "o2", action: { does: "reset" }, known: true }],
    ["inbox", "wake", key, {}],
    ["inbox", "take", key, { waker: null, orders: true }],
    ["conversation", "known", key, null],
    ["conversation", "outcome", key, { id: "o1" }],
  ],
  [
    "rows",
    ["conversation", "fill", key, { place: 0, rows: kept, whole: false, dueAt: null }],
    ["conversation", "filling", key, null],
    ["conversation", "fill", key, { place: 1, rows: kept, whole: true, dueAt: 5 }],
    ["conversation", "rows", key, null],
    ["conversation", "whole", key, null],
    ["conversation", "verdict", key, { id: "m1" }],
  ],
  [
    "leases",
    [
      "leases",
      "beat",
      "all",
      {
        boot: "b",
        node: "n",
        beat: 1,
        at: 1,
        wants: ["telegram:default"],
        leaves: false,
        lapsed: [],
      },
    ],
    [
      "leases",
      "beat",
      "all",
      {
        boot: "c",
        node: "m",
        beat: 1,
        at: 1,
        wants: [],
        leaves: true,
        lapsed: [{ boot: "b", beat: 1 }],
      },
    ],
    ["leases", "enlist", "all", { boot: "c", version: 2, awakeable: "a" }],
    ["leases", "state", "all", null],
  ],
  [
    "news",
    ["feed", "enlist", "all", { boot: "a", after: -1, awakeable: "w" }],
    ["feed", "enlist", "all", { boot: "a", after: 0, awakeable: "w" }],
    [
      "feed",
      "publish",
      "all",
      {
        boot: "b",
        news: [
          { key, revision: 1, rows: kept },
          { key, revision: 2, rows: null },
        ],
        lines: [{ t: 1, key, out: "send" }],
      },
    ],
    ["feed", "announce", "all", { key, revision: 3 }],
    ["feed", "enlist", "all", { boot: "a", after: 0, awakeable: "w" }],
  ],
  [
    "shared rows",
    ["access", "change", "all", { known: 0, rows: [{ name: "ann", body: canary }] }],
    ["access", "since", "all", { known: 0 }],
    ["access", "change", "all", { known: 1, rows: [{ name: "ann", body: null }] }],
    ["cursors", "set", "telegram:default", { identity: "bot", value: "12" }],
    ["cursors", "all", "telegram:default", null],
  ],
];

const served: Target = {
  name: "restate-calls",
  claim: "a call of a handler has its form, or is refused for good",
  seeds: seedCalls.map(([name, ...calls]) => ({ name, frames: jsonFrames(...calls) })),
  async read(given) {
    const states = new Map<string, Map<string, string>>();
    const results: unknown[] = [];
    let refused: unknown = null;
    for (const call of jsonIn(given)) {
      if (!Array.isArray(call)) continue;
      const [service, handler, own, input] = call as unknown as Call;
      // What Restate calls by is a text of a path, and it knows no other handler.
      if ([service, handler, own].some((part) => typeof part !== "string")) continue;
      const run = handlers.get(`${service}/${handler}`);
      if (run === undefined || handler === "run") continue;
      const name = JSON.stringify([service, own]);
      const state = states.get(name) ?? new Map<string, string>();
      states.set(name, state);
      try {
        results.push(await run(contextOf(state, own), input));
      } catch (error) {
        if (!this.refuses(error)) throw error;
        refused = error;
      }
    }
    if (refused !== null) throw refused;
    return results;
  },
  refuses: (error) =>
    error instanceof sdk.TerminalError && (error.code === 400 || error.code === 409),
};

export const engineTargets: readonly Target[] = [...callers, served];
