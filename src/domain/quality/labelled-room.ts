/**
 * Labelled rooms
 * ==============
 * What people wrote in a room, with what each line was meant for: the material that decisions are
 * measured on (docs/quality.md). JSON Lines: a header opens each room, its lines follow in order of
 * time.
 */
import { z } from "zod";
import { EarshotError } from "../errors.ts";
import { limits } from "../limits.ts";
import { type Millis, momentMax } from "../message.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const ids = z.array(id).max(limits.mentionsCountMax);

const headerSchema = z.strictObject({
  /** Names the room. */
  room: id,
  /** Each of them plays the agent once; its name is its only alias. */
  agents: z.array(id).min(1).max(limits.labelledAgentsMax),
  /** The first line that counts; those before it are context. @default all count */
  from: id.optional(),
  /** Authors that are bots. */
  bots: z.array(id).max(limits.labelledAgentsMax).default([]),
});
const lineSchema = z.strictObject({
  id,
  /** ms; not falling within a room. */
  at: z.number().int().min(0).max(momentMax),
  by: id,
  text: z.string().max(limits.textUnitsMax),
  /** The authors that it addresses, as a channel's mention list would say. */
  to: ids.optional(),
  /** Earlier lines that it answers, as annotated; some may be older than the room. The ladder never
   * gets them. */
  answers: ids.optional(),
  /** For which agents it is meant, as somebody said outright; then nothing else counts. */
  meant: ids.optional(),
  /** What a judge answered about it, where a room has one agent. */
  judged: z.strictObject({ engage: z.boolean(), confidence: z.number().min(0).max(1) }).optional(),
});

export type LabelledHeader = z.infer<typeof headerSchema>;
export interface LabelledLine {
  readonly id: string;
  readonly at: Millis;
  readonly by: string;
  readonly text: string;
  readonly to?: readonly string[] | undefined;
  readonly answers?: readonly string[] | undefined;
  readonly meant?: readonly string[] | undefined;
  readonly judged?: { readonly engage: boolean; readonly confidence: number } | undefined;
}
/** One room, checked: times do not fall, and ids are there once. */
export interface LabelledRoom extends LabelledHeader {
  readonly lines: readonly LabelledLine[];
}

/**
 * Reads rooms line by line. `add` returns a room when the next one begins, `end` the last one.
 * @param source the file's name in errors
 */
export class LabelledRoomReader {
  readonly #source: string;
  #row = 0;
  #header: LabelledHeader | null = null;
  #lines: LabelledLine[] = [];
  #ids = new Set<string>();

  constructor(source: string) {
    this.#source = source;
  }

  /** @throws EarshotError EAR_SCENARIO_INVALID with the line's number. */
  add(text: string): LabelledRoom | null {
    this.#row += 1;
    if (text.trim() === "") return null;
    const value = this.#json(text);
    if (typeof value === "object" && value !== null && "room" in value) {
      const header = this.#checked(headerSchema, value);
      const before = this.end();
      this.#header = header;
      return before;
    }
    this.#addLine(this.#checked(lineSchema, value));
    return null;
  }

  /** @throws EarshotError EAR_SCENARIO_INVALID when the last room has no line. */
  end(): LabelledRoom | null {
    const header = this.#header;
    if (header === null) return null;
    const lines = this.#lines;
    if (lines.length === 0) this.#fail(`room ${JSON.stringify(header.room)} has no lines`);
    if (header.from !== undefined && !this.#ids.has(header.from))
      this.#fail(`from: room ${JSON.stringify(header.room)} has no line with that id`);
    this.#header = null;
    this.#lines = [];
    this.#ids = new Set();
    return { ...header, lines };
  }

  #addLine(line: LabelledLine): void {
    if (this.#header === null) this.#fail("a room's header is expected first");
    const before = this.#lines.at(-1);
    if (before !== undefined && line.at < before.at)
      this.#fail(`at: ${line.at} is earlier than the line before (${before.at})`);
    if (this.#ids.has(line.id)) this.#fail("id: an earlier line of the room has it");
    this.#ids.add(line.id);
    this.#lines.push(line);
  }

  #json(text: string): unknown {
    try {
      return JSON.parse(text);
    } catch (error) {
      return this.#fail(`it is not JSON: ${error instanceof Error ? error.message : ""}`);
    }
  }

  #checked<Value>(schema: z.ZodType<Value>, value: unknown): Value {
    const read = schema.safeParse(value);
    if (read.success) return read.data;
    const [{ path = [], message = "" } = {}] = read.error.issues;
    return this.#fail([path.join("."), message].filter((part) => part !== "").join(": "));
  }

  #fail(why: string): never {
    throw new EarshotError(
      "EAR_SCENARIO_INVALID",
      `Cannot read ${this.#source}, line ${this.#row}: ${why}. Nothing was measured`,
    );
  }
}

/** Whether a line is meant for an agent: as its label says, or by its addressees and what it answers. */
export function isMeant(
  { to, answers, meant }: LabelledLine,
  agent: string,
  authorOf: (id: string) => string | undefined,
): boolean {
  if (meant !== undefined) return meant.includes(agent);
  if (to?.includes(agent)) return true;
  return answers?.some((name) => authorOf(name) === agent) === true;
}
