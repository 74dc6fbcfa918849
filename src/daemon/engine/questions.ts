/**
 * What only another node knows
 * ============================
 * A message that admission has ended, as one that was denied, is of no conversation: it is in the journal of the node
 * that took it, and in no copy. A node that is asked about a message that it does not know asks the others, which
 * answer what they know of it.
 */
import { z } from "zod";
import type { Why } from "../../actors/protocol/why.ts";
import { engineLimits } from "../../domain/ports/engine/engine-limits.ts";
import type { Clock, Ids, Log } from "../../domain/ports/index.ts";
import type { Note } from "../../engines/restate/feed/wire.ts";
import { whySchema } from "../api-types/runtime.ts";

const askSchema = z.object({ why: z.string().min(1).max(512) });
const answerSchema = z.object({ why: z.array(whySchema) });

export interface QuestionPorts {
  readonly clock: Clock;
  readonly log: Log;
  readonly ids: Ids;
  readonly publish: (note: Note) => void;
  /** How many nodes can answer. */
  readonly others: () => number;
}

export interface Questions {
  /** What other nodes know of a message: of those that answer in time. */
  why(messageId: string): Promise<readonly Why[]>;
  /** Answers the others with this. */
  serve(why: (messageId: string) => Promise<readonly Why[]>): void;
  heard(note: Note): void;
}

export function createQuestions(ports: QuestionPorts): Questions {
  const { clock, log, ids, publish, others } = ports;
  const asked = new Map<string, (body: unknown) => void>();
  let known: ((messageId: string) => Promise<readonly Why[]>) | null = null;

  async function answer({ id, body }: Note): Promise<void> {
    const parsed = askSchema.safeParse(body);
    if (!parsed.success || known === null) return;
    const why = await known(parsed.data.why);
    const isShort = JSON.stringify(why).length <= engineLimits.answerUnitsMax;
    publish({ kind: "answer", id, body: { why: isShort ? why : [] } });
  }

  return {
    why(messageId) {
      const wanted = others();
      if (wanted === 0) return Promise.resolve([]);
      const id = ids.next();
      const found = new Map<string, Why>();
      return new Promise((resolve) => {
        let heard = 0;
        const end = () => {
          clock.clearTimer(timer);
          asked.delete(id);
          resolve([...found.values()]);
        };
        const timer = clock.setTimer(clock.now() + engineLimits.askMsMax, end);
        asked.set(id, (body) => {
          const parsed = answerSchema.safeParse(body);
          // Several nodes may have a copy of the same.
          for (const why of parsed.data?.why ?? [])
            found.set(JSON.stringify([why.key, why.at, why.message.id]), why as Why);
          heard += 1;
          if (heard >= wanted) end();
        });
        publish({ kind: "ask", id, body: { why: messageId } });
      });
    },
    serve(why) {
      known = why;
    },
    heard(note) {
      if (note.kind === "answer") return asked.get(note.id)?.(note.body);
      answer(note).catch((error: unknown) =>
        log("warn", "engine.unanswered", { error: String(error) }),
      );
    },
  };
}
