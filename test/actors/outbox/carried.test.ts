/**
 * Sends that another node makes: a process that ends meanwhile leaves a row that the next one asks about, and does
 * not send again.
 */
import { expect, test } from "vitest";
import { EarshotError } from "../../../src/domain/errors.ts";
import type { CarriedOutbound, SendReceipt, SendRequest } from "../../../src/domain/ports/index.ts";
import { readyDirectory } from "../../support/runtime/ready-directory.ts";
import { World } from "../../support/runtime/world.ts";

interface Asked {
  readonly attempt: string;
  readonly text: string;
  readonly expiresAt: number;
}

/** Other nodes, which make a call once for an attempt. */
function rig() {
  const asked: Asked[] = [];
  const made: string[] = [];
  const answers = new Map<string, Promise<SendReceipt>>();
  let fates: ("done" | "silent" | Error)[] = [];
  let attempts = 0;
  const make = (text: string): Promise<SendReceipt> => {
    const fate = fates.shift() ?? "done";
    if (fate instanceof Error) return Promise.reject(fate);
    made.push(text);
    return Promise.resolve({ messageIds: [`p${made.length}`] });
  };
  let isSilent = false;
  const send = async ({ attempt = "", text, expiresAt = 0 }: SendRequest) => {
    asked.push({ attempt, text, expiresAt });
    const known = answers.get(attempt) ?? make(text);
    known.catch(() => undefined);
    answers.set(attempt, known);
    // The answer does not come back to this process.
    return isSilent ? new Promise<never>(() => undefined) : known;
  };
  const outbound: CarriedOutbound = {
    newAttempt: () => `attempt-${++attempts}`,
    sendText: send,
    replyText: send,
  };
  const state = { isCarried: true };
  const directory = {
    ...readyDirectory(async () => ({ messageIds: [] })),
    outbound: () => outbound,
    carrier: () => (state.isCarried ? outbound : null),
  };
  return {
    asked,
    made,
    state,
    directory,
    fates: (...next: typeof fates) => {
      fates = next;
    },
    silent: (is: boolean) => {
      isSilent = is;
    },
  };
}

async function started() {
  const nodes = rig();
  const world = await new World({ ports: { directory: nodes.directory } }).start();
  const rows = async () => [
    ...(await world.store.outboxOpen()),
    ...(await world.store.outboxByState(["sent", "in-doubt", "dead"], 10)),
  ];
  return { nodes, world, rows };
}

test("a process that ends while another node sends: the next one learns that it was sent", async () => {
  const { nodes, world, rows } = await started();
  nodes.silent(true);
  await world.say("go", { direct: true });
  await world.pass(1_000);
  expect(await rows()).toMatchObject([{ state: "sending" }]);
  nodes.silent(false);
  await world.kill();
  await world.pass(1_000);
  expect(nodes.made).toHaveLength(1);
  expect(nodes.asked.map(({ attempt }) => attempt)).toEqual(["attempt-1", "attempt-1"]);
  expect(await rows()).toMatchObject([{ state: "sent", attempts: 1, doubts: 0 }]);
});

test("one that ends before it was asked: the next one asks for the same attempt, and it is made", async () => {
  const { nodes, world, rows } = await started();
  const send = nodes.directory.outbound().sendText;
  nodes.directory.outbound().sendText = () => new Promise(() => undefined);
  await world.say("go", { direct: true });
  await world.pass(1_000);
  expect(nodes.asked).toEqual([]);
  nodes.directory.outbound().sendText = send;
  await world.kill();
  await world.pass(1_000);
  expect(nodes.asked.map(({ attempt }) => attempt)).toEqual(["attempt-1"]);
  expect(nodes.asked[0]?.expiresAt).toBeGreaterThan(world.clock.now());
  expect(await rows()).toMatchObject([{ state: "sent", attempts: 1, doubts: 0 }]);
});

test("what no node has taken is tried again as another attempt, what is in doubt is marked", async () => {
  const { nodes, world, rows } = await started();
  nodes.fates(
    new EarshotError("EAR_CHANNEL_UNAVAILABLE", "no node has taken it"),
    new EarshotError("EAR_SEND_IN_DOUBT", "the node that had the connection has lost it"),
  );
  await world.say("go", { direct: true });
  await world.pass(20_000);
  expect(nodes.asked.map(({ attempt }) => attempt)).toEqual([
    "attempt-1",
    "attempt-2",
    "attempt-3",
  ]);
  expect(nodes.made).toHaveLength(1);
  expect(await rows()).toMatchObject([{ state: "sent", doubts: 1 }]);
});

test("where nobody can be asked any more it is in doubt, as on one machine", async () => {
  const { nodes, world, rows } = await started();
  nodes.silent(true);
  await world.say("go", { direct: true });
  await world.pass(1_000);
  nodes.state.isCarried = false;
  nodes.silent(false);
  await world.kill();
  await world.pass(5_000);
  expect(await rows()).toMatchObject([{ state: "sent", doubts: 1 }]);
  expect(nodes.made).toHaveLength(2);
});
