/**
 * The program, the protocol over its pipes, and the listeners of its sessions. Output that is not a
 * message is skipped, and quoted when the program fails; a program that is not an ACP agent is
 * detected because it does not answer the first request.
 */

import type {
  AgentCapabilities,
  AgentRequestMethod,
  AgentRequestParamsByMethod,
  AgentRequestResponsesByMethod,
  AnyMessage,
  ClientConnection,
  RequestPermissionRequest,
  RequestPermissionResponse,
} from "@agentclientprotocol/sdk";
import { AgentFailure } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import type { FailureKind } from "../../../domain/stream.ts";
import { createSystemClock } from "../../system/clock.ts";
import type { Child, ChildEnd, ChildSpec } from "../command/child.ts";
import { openChild } from "../command/children.ts";
import { kindOfEnd, problemOf } from "../command/driver.ts";
import { agentFailed, linesOf, shown } from "../shared/lines.ts";
import type { AcpConfig } from "./config.ts";
import { type Judge, requestOf, responseOf } from "./permissions.ts";
import { notificationOf, type SessionUpdate } from "./update-schema.ts";

export type AcpSdk = typeof import("@agentclientprotocol/sdk");

/** Stray lines tolerated before the program is considered not to be an agent. */
const strayLinesMax = 1_000;

/** Codes of JSON-RPC 2.0 and of the protocol. */
function kindOfRpc(code: number): FailureKind {
  if (code === -32_000) return "auth";
  if (code === -32_002) return "not-found";
  return code === -32_603 ? "server" : "invalid";
}

/** Time for a program to exit after closing its output, ms. */
const exitMsMax = 500;

export interface SessionListener {
  take(update: SessionUpdate): void;
  /** Resolves when there is capacity; until then the program's pipe is not read. */
  capacity(): Promise<void>;
}

export class AcpProcess {
  readonly #sdk: AcpSdk;
  readonly #config: AcpConfig;
  readonly #program: ChildSpec;
  readonly #child: Child;
  readonly #connection: ClientConnection;
  readonly #listeners = new Map<string, SessionListener>();
  readonly #judges = new Map<string, Judge>();
  /** Numbers of requests without an answer. The SDK prints an answer to any other on stderr. */
  readonly #asked = new Set<unknown>();
  #capabilities: AgentCapabilities = {};
  #end: ChildEnd | null = null;
  #stray: string | null = null;
  #strays = 0;
  /** Running turns. */
  turns = 0;
  /** Not available for new turns. */
  retired = false;

  private constructor(sdk: AcpSdk, config: AcpConfig, program: ChildSpec, child: Child) {
    this.#sdk = sdk;
    this.#config = config;
    this.#program = program;
    this.#child = child;
    const { methods } = sdk;
    this.#connection = sdk
      .client({ name: "earshot" })
      .onRequest(methods.client.session.requestPermission, ({ params }) => this.#permit(params))
      .connect({ readable: this.#messages(), writable: this.#answers() });
    void child.ended.then((end) => {
      this.#end = end;
      this.retired = true;
      this.#connection.close(new Error("the program has ended"));
    });
  }

  /**
   * Starts the program and negotiates the protocol.
   * @throws EarshotError EAR_AGENT_FAILED
   */
  static async start(sdk: AcpSdk, config: AcpConfig, program: ChildSpec): Promise<AcpProcess> {
    const started = new AcpProcess(sdk, config, program, await openChild(program));
    try {
      await started.#initialize();
      return started;
    } catch (error) {
      await started.stop();
      throw error;
    }
  }

  /** Resolves when the program has ended. */
  get ended(): Promise<unknown> {
    return this.#child.ended;
  }

  get capabilities(): AgentCapabilities {
    return this.#capabilities;
  }

  /**
   * Sends a request.
   * @throws EarshotError EAR_AGENT_FAILED with the reason.
   */
  async request<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    try {
      return await this.#connection.agent.request(method, params);
    } catch (error) {
      throw await this.#explained(method, error);
    }
  }

  /**
   * As `request`, with a time limit, for requests without model work: a program that is too slow
   * here is not used for further turns.
   */
  async ask<Method extends AgentRequestMethod>(
    method: Method,
    params: AgentRequestParamsByMethod[Method],
  ): Promise<AgentRequestResponsesByMethod[Method]> {
    const { startMs } = this.#config;
    const answer = await within(createSystemClock(), startMs, this.request(method, params));
    if (answer !== late) return answer;
    this.retired = true;
    const message = `The program did not answer ${method} within ${startMs} ms${this.#strayNote()}`;
    throw new AgentFailure("timeout", message);
  }

  /** Cancels the running prompt of a session. */
  cancel(sessionId: string): void {
    // A dead agent has stopped already.
    this.#connection.agent
      .notify(this.#sdk.methods.agent.session.cancel, { sessionId })
      .catch(() => undefined);
  }

  /**
   * Routes a session's updates to a listener and its permission requests to a judge, until the
   * returned function is called.
   */
  listen(sessionId: string, listener: SessionListener, judge: Judge): () => void {
    this.#listeners.set(sessionId, listener);
    this.#judges.set(sessionId, judge);
    return () => {
      if (this.#listeners.get(sessionId) !== listener) return;
      this.#listeners.delete(sessionId);
      this.#judges.delete(sessionId);
    };
  }

  async stop(): Promise<void> {
    this.retired = true;
    await this.#child.stop();
  }

  async #initialize(): Promise<void> {
    const answer = await this.ask("initialize", {
      protocolVersion: this.#sdk.PROTOCOL_VERSION,
      clientInfo: { name: "earshot", version: "1" },
      clientCapabilities: { fs: { readTextFile: false, writeTextFile: false } },
    });
    if (answer.protocolVersion !== this.#sdk.PROTOCOL_VERSION)
      throw agentFailed(
        "Cannot use the agent: it speaks another version of the protocol, received " +
          String(answer.protocolVersion),
      );
    this.#capabilities = answer.agentCapabilities ?? {};
  }

  /** Describes a request's error: the agent's own message, otherwise how the program ended. */
  async #explained(method: string, error: unknown): Promise<Error> {
    if (error instanceof this.#sdk.RequestError && this.#end === null) {
      const isLogin = error.code === -32_000;
      const login = isLogin ? "; log in with the program itself first" : "";
      return new AgentFailure(
        kindOfRpc(error.code),
        `The agent refused ${method}: ${shown(error.message)}${login}`,
        error,
      );
    }
    // The pipe may close shortly before the exit is known.
    const end = this.#end ?? (await this.#child.ended);
    const problem = problemOf(this.#program.command, end) ?? "The program ended";
    return new AgentFailure(kindOfEnd(end), `${problem}${this.#strayNote()}`, error);
  }

  #strayNote(): string {
    return this.#stray === null ? "" : `; it said ${shown(this.#stray)}`;
  }

  async #permit(request: RequestPermissionRequest): Promise<RequestPermissionResponse> {
    const judge = this.#judges.get(request.sessionId);
    // Without a running turn nothing is allowed.
    if (judge === undefined) return { outcome: { outcome: "cancelled" } };
    const choice = await judge(requestOf(request));
    return this.#judges.get(request.sessionId) === judge
      ? responseOf(request, choice)
      : { outcome: { outcome: "cancelled" } };
  }

  #messages(): ReadableStream<AnyMessage> {
    const lines = linesOf(this.#child.output);
    return new ReadableStream<AnyMessage>(
      {
        pull: async (controller) => {
          const message = await this.#next(lines);
          if (message === null) controller.close();
          else controller.enqueue(message);
        },
        cancel: () => this.#child.stop(),
      },
      { highWaterMark: 0 },
    );
  }

  /** The next message; null at the end. */
  async #next(lines: AsyncGenerator<string>): Promise<AnyMessage | null> {
    try {
      for (;;) {
        for (const listener of this.#listeners.values()) await listener.capacity();
        const { value: line, done } = await lines.next();
        if (done === true) break;
        const message = this.#messageOf(line);
        if (message !== null) return message;
      }
      // The program usually exits now; one that only closed its output is useless.
      setTimeout(() => void this.stop(), exitMsMax).unref();
    } catch (error) {
      this.#stray = error instanceof Error ? error.message : String(error);
      void this.stop();
    }
    return null;
  }

  #messageOf(line: string): AnyMessage | null {
    if (line.trim() === "") return null;
    try {
      const value: unknown = JSON.parse(line);
      if (this.#isUpdate(value)) {
        const update = notificationOf(value.params);
        if (update !== null) this.#listeners.get(update.sessionId)?.take(update.update);
        return null;
      }
      if (this.#isMessage(value)) return value as AnyMessage;
    } catch {
      // Many programs log to standard output.
    }
    this.#stray ??= line.slice(0, 500);
    this.#strays += 1;
    if (this.#strays > strayLinesMax) void this.stop();
    return null;
  }

  #answers(): WritableStream<AnyMessage> {
    return new WritableStream<AnyMessage>({
      write: (message) => {
        if ("method" in message && "id" in message) this.#asked.add(message.id);
        return this.#child.write(`${JSON.stringify(message)}\n`);
      },
    });
  }

  /** The SDK checks updates even where nothing of it takes them, and prints what does not fit. */
  #isUpdate(value: unknown): value is { readonly params?: unknown } {
    if (typeof value !== "object" || value === null || !("jsonrpc" in value)) return false;
    const { update } = this.#sdk.methods.client.session;
    return "method" in value && value.method === update && !("id" in value);
  }

  /** Whether a value is a protocol message; a response answers a request that waits for one. */
  #isMessage(value: unknown): boolean {
    if (typeof value !== "object" || value === null || !("jsonrpc" in value)) return false;
    return "method" in value || ("id" in value && this.#asked.delete(value.id));
  }
}
