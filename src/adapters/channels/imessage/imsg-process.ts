/**
 * `imsg rpc`: JSON-RPC 2.0 over a child's pipes, a JSON object a line (imsg's page JSON-RPC). The child
 * ends with its input; what it was asked then is in doubt.
 */
import { z } from "zod";
import type { EarshotError } from "../../../domain/errors.ts";
import { limits } from "../../../domain/limits.ts";
import type { Clock } from "../../../domain/ports/index.ts";
import { late, within } from "../../../domain/ports/within.ts";
import type { Child } from "../../agents/command/child.ts";
import { openChild } from "../../agents/command/children.ts";
import { linesOf } from "../../agents/shared/lines.ts";
import type { ImessageAccountConfig } from "./config.ts";
import { type CallKind, refused, unanswered, unavailable } from "./errors.ts";

const lineSchema = z.object({
  id: z.union([z.string(), z.number(), z.null()]).optional(),
  result: z.unknown().optional(),
  error: z
    .object({
      code: z.number().int(),
      data: z.object({ retry_safe: z.boolean().optional() }).optional().catch(undefined),
    })
    .optional(),
  method: z.string().optional(),
  params: z.unknown().optional(),
});

type Answer = z.infer<typeof lineSchema>;

const callMsMax = 20_000;

export class ImsgProcess {
  readonly #child: Child;
  readonly #clock: Clock;
  readonly #waiting = new Map<string, (answer: Answer | null) => void>();
  #count = 0;
  #isOpen = true;
  /** What the program reports without being asked. */
  onNotice: (method: string, params: unknown) => Promise<void> = async () => undefined;
  /** Why it ended. */
  readonly ended: Promise<EarshotError>;

  private constructor(child: Child, clock: Clock) {
    this.#child = child;
    this.#clock = clock;
    const read = this.#read().catch(() => "its output is no JSON-RPC");
    this.ended = read.then(async (why) => {
      this.#isOpen = false;
      await child.stop();
      const { problem, startCode } = await child.ended;
      for (const answer of this.#waiting.values()) answer(null);
      this.#waiting.clear();
      if (startCode === "ENOENT")
        return unavailable("run imsg", "the program is missing. brew install steipete/tap/imsg");
      const shown = why ?? (problem === null ? "it ended" : "it failed");
      return unavailable("run imsg", shown);
    });
  }

  static async start({ command, args }: ImessageAccountConfig, clock: Clock): Promise<ImsgProcess> {
    const child = await openChild({ command, args, cwd: process.cwd(), env: [] });
    return new ImsgProcess(child, clock);
  }

  /**
   * Asks the program.
   * @throws EarshotError with the disposition that fits `kind`
   */
  async call<Result>(
    method: string,
    params: Readonly<Record<string, unknown>>,
    kind: CallKind,
    schema: z.ZodType<Result>,
  ): Promise<Result> {
    const what = `${method} at imsg`;
    if (!this.#isOpen) throw unavailable(what, "it does not run");
    this.#count += 1;
    const id = String(this.#count);
    const answered = new Promise<Answer | null>((resolve) => this.#waiting.set(id, resolve));
    this.#child.write(`${JSON.stringify({ jsonrpc: "2.0", id, method, params })}\n`);
    const answer = await within(this.#clock, callMsMax, answered);
    this.#waiting.delete(id);
    if (answer === late) throw unanswered(what, kind, "no answer");
    if (answer === null) throw unanswered(what, kind, "it ended");
    const { error, result } = answer;
    if (error !== undefined) throw failure(what, kind, error.code, error.data?.retry_safe);
    const read = schema.safeParse(result);
    if (!read.success) throw unanswered(what, kind, "an answer of another form");
    return read.data;
  }

  async close(): Promise<void> {
    this.#child.closeInput();
    await this.#child.stop();
    await this.ended;
  }

  /** Resolves with the reason when it is the output's. */
  async #read(): Promise<string | null> {
    for await (const line of linesOf(this.#child.output, limits.platformAnswerBytesMax)) {
      let value: unknown;
      try {
        value = JSON.parse(line);
      } catch {
        continue;
      }
      const read = lineSchema.safeParse(value);
      if (!read.success) continue;
      const { id, method, params } = read.data;
      if (method !== undefined) await this.onNotice(method, params);
      else this.#waiting.get(String(id))?.(read.data);
    }
    return null;
  }
}

/** By imsg's codes: https://imsg.sh, JSON-RPC. */
function failure(what: string, kind: CallKind, code: number, isSafe?: boolean): EarshotError {
  if (isSafe === true || [-32_000, -32_002, -32_003].includes(code))
    return unavailable(what, code === -32_002 ? "the database cannot be read" : `busy (${code})`);
  if ([-32_700, -32_600, -32_601, -32_602].includes(code))
    return refused(what, kind, `imsg refused it (${code})`);
  if (code === -32_004) return unavailable(what, "an earlier send is still under way");
  return unanswered(what, kind, String(code));
}
