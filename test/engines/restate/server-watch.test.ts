/** Whether Restate answers: what a node says of a server that is away, stands still or is something else. */
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { afterEach, describe, expect, test } from "vitest";
import { SimulatedClock } from "../../../src/actors/simulation/simulated-clock.ts";
import { engineLimits } from "../../../src/domain/ports/engine/engine-limits.ts";
import {
  createServerWatch,
  type ServerWatch,
} from "../../../src/engines/restate/calls/server-watch.ts";

type Answer = (path: string, response: ServerResponse) => void;
const asRestate: Answer = (path, response) =>
  void response.end(path === "/version" ? '{"version":"1.7.12"}' : "{}");

describe("the watch of the server", () => {
  const open: Server[] = [];
  const watches: ServerWatch[] = [];
  afterEach(async () => {
    await Promise.all(watches.splice(0).map((watch) => watch.stop()));
    for (const server of open.splice(0)) server.closeAllConnections();
  });

  /** A server on a port, that answers as `now` has it. */
  async function serve(answer: Answer) {
    const now: { answer: Answer } = { answer };
    const server = createServer((request, response) => now.answer(request.url ?? "", response));
    open.push(server);
    await new Promise<void>((done) => server.listen(0, "127.0.0.1", done));
    return { now, server, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` };
  }
  function watch(ingress: string, admin = ingress, isAnswered = () => false) {
    const clock = new SimulatedClock(1_000);
    const logged: string[] = [];
    const made = createServerWatch({
      clock,
      log: (level, event) => void logged.push(`${level} ${event}`),
      ingress,
      admin,
      isAnswered,
    });
    watches.push(made);
    made.start();
    /** Resolves once it has looked again and this holds. */
    const until = (holds: () => boolean) =>
      expect
        .poll(() => {
          clock.advanceTo(clock.now() + engineLimits.serverLookMs);
          return holds();
        })
        .toBe(true);
    return { clock, logged, until, state: () => made.state() };
  }

  test("says its version while it answers", async () => {
    const { url } = await serve(asRestate);
    const { state, until, logged } = watch(url);
    await until(() => state().version === "1.7.12");
    expect(state().failing).toBeNull();
    expect(logged).toEqual([]);
  });

  test("says since when it is away, why and what to do, once in the log, and when it is back", async () => {
    const { server, url, now } = await serve(asRestate);
    const { state, until, logged, clock } = watch(url);
    await until(() => state().version !== null);
    now.answer = (_, response) => void response.destroy();
    await until(() => state().failing !== null);
    const since = state().failing?.since;
    expect(since).toBeGreaterThan(1_000);
    await until(() => clock.now() > (since ?? 0) + 3 * engineLimits.serverLookMs);
    expect(state()).toEqual({
      version: "1.7.12",
      failing: {
        since,
        why: `Cannot reach Restate at ${url}/restate/health: there is no connection. Start its server, or correct engine.ingress`,
      },
    });
    now.answer = asRestate;
    await until(() => state().failing === null);
    expect(logged).toEqual(["warn engine.unreachable", "info engine.reachable"]);
    server.close();
  });

  test("does not ask the ingress while calls are answered, and the admin port all the same", async () => {
    const { url, now } = await serve(asRestate);
    const asked: string[] = [];
    now.answer = (path, response) => {
      asked.push(path);
      asRestate(path, response);
    };
    let isAnswered = true;
    const { state, until } = watch(url, url, () => isAnswered);
    await until(() => state().version !== null && asked.length > 2);
    expect(new Set(asked)).toEqual(new Set(["/version"]));
    isAnswered = false;
    await until(() => asked.includes("/restate/health"));
    isAnswered = true;
    // A look that is under way may still ask both.
    const before = asked.length;
    await until(() => asked.length > before + 2);
    now.answer = (_, response) => void response.destroy();
    await until(() => state().failing !== null);
    expect(state().failing?.why).toContain(`${url}/version: there is no connection`);
  });

  test("names the address that does not answer, or answers something else", async () => {
    const restate = await serve(asRestate);
    const refuses = await serve((_, response) => void response.writeHead(503).end("not ready"));
    const other = await serve((_, response) => void response.end("<html>"));
    const whyOf = async (ingress: string, admin: string) => {
      const { state, until } = watch(ingress, admin);
      await until(() => state().failing !== null);
      return state().failing?.why;
    };
    expect(await whyOf(restate.url, refuses.url)).toBe(
      `Cannot reach Restate at ${refuses.url}/version: it answers 503 (not ready). Start its server, or correct engine.admin`,
    );
    expect(await whyOf(restate.url, other.url)).toBe(
      `Cannot use ${other.url}/version: it answers no version (<html>). Correct engine.admin: something else listens there`,
    );
  });
});
