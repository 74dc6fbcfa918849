/**
 * The transcript files of the killed processes, read as any other program would.
 */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Store } from "../../src/domain/ports/index.ts";
import type { TranscriptLine } from "../../src/domain/session.ts";

function filesIn(folder: string): string[] {
  const agent = join(folder, "agents", "main");
  if (!existsSync(agent)) return [];
  const names = readdirSync(agent).filter((name) => name.endsWith(".jsonl"));
  return names.map((name) => join(agent, name));
}

/** Whether some line of some file says just this. */
export function standsInFile(folder: string, text: string): boolean {
  const said = JSON.stringify(text);
  return filesIn(folder).some((path) => readFileSync(path, "utf8").includes(`"text":${said}`));
}

/** What differs between the store's transcripts and the files; empty when nothing does. */
export async function transcriptViolations(store: Store, folder: string): Promise<string[]> {
  const found: string[] = [];
  const files = new Map(filesIn(folder).map((path) => [path.slice(-32, -6), path]));
  for (const { sessionId } of await store.sessions({ all: true, limit: 1_000 })) {
    const lines = await store.transcript({ sessionId, limit: 1_000_000 });
    const path = files.get(sessionId);
    const text = path === undefined ? "" : readFileSync(path, "utf8");
    files.delete(sessionId);
    const whole = lines.map(({ sessionId: _, ...line }) => `${JSON.stringify(line)}\n`).join("");
    if (inOrder(text) !== inOrder(whole))
      found.push(`the file of ${sessionId} is not its transcript`);
    found.push(...turnViolations(lines));
  }
  for (const path of files.values()) found.push(`${path} belongs to no session`);
  return found;
}

/** Fields in one order: an id is written before what it names, and read back after it. */
function inOrder(text: string): string {
  const lines = text.split("\n").filter((line) => line !== "");
  return lines
    .map((line) => JSON.stringify(Object.entries(JSON.parse(line) as object).sort()))
    .join("\n");
}

/** What people said is there once, and in each turn before what was answered. */
function turnViolations(lines: readonly TranscriptLine[]): string[] {
  const found: string[] = [];
  const said = new Set<string>();
  const turns = new Set<string>();
  for (const { turnId, role, messageId } of lines) {
    if (!turns.has(turnId) && role !== "user") found.push(`turn ${turnId} begins with ${role}`);
    turns.add(turnId);
    if (messageId === undefined) continue;
    if (said.has(messageId)) found.push(`${messageId} was noted twice`);
    said.add(messageId);
  }
  return found;
}
