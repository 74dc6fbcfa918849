/**
 * What agents were given: the composed input of the newest turns, for `earshot prompt` and the page.
 * It is kept in memory only, and bounded; the journal has the messages that it was made of.
 */
import { LRUCache } from "lru-cache";
import { type EarshotConfig, secretValues } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import type { Clock } from "../../domain/ports/index.ts";
import { redactSecrets } from "../../domain/redact-secrets.ts";
import type { TurnRun } from "../../machines/events/effects.ts";
import { sizeOfTexts } from "../protocol/batch-encoding.ts";
import type { TurnRequest } from "../protocol/host-protocol.ts";
import type { SentPrompt } from "../protocol/why.ts";

export interface SentPrompts {
  composed(request: TurnRequest, effect: TurnRun): void;
  /** Of the turns that answered this message, oldest first, with secrets redacted. */
  of(messageId: string): readonly SentPrompt[];
}

/** UTF-16 units, or a little more. */
const sizeOf = ({ system, prompt, transcript }: SentPrompt): number =>
  1 + system.length + prompt.length + sizeOfTexts(transcript);

export function createSentPrompts(
  clock: Pick<Clock, "now">,
  config: () => EarshotConfig,
): SentPrompts {
  const kept = new LRUCache<string, SentPrompt>({
    max: limits.promptsKeptMax,
    maxSize: limits.promptUnitsKeptMax,
    sizeCalculation: sizeOf,
  });
  return {
    composed(request, { batch }) {
      const { key, turnId, turn, attempt, agentId } = request;
      const { system, prompt, transcript, model, thinking, images, tools } = request;
      kept.set(turnId, {
        key,
        turnId,
        turn,
        attempt,
        agentId,
        at: clock.now(),
        messages: batch.map(({ id }) => id),
        system,
        transcript,
        prompt,
        model,
        thinking,
        images: images.map(({ mime, name }) => ({ mime, name })),
        ...(tools === undefined ? {} : { tools }),
      });
    },
    of(messageId) {
      const secrets = secretValues(config());
      const plain = (text: string) => redactSecrets(text, secrets);
      return [...kept.rvalues()].flatMap((sent) =>
        sent?.messages.includes(messageId)
          ? [{ ...sent, system: plain(sent.system), prompt: plain(sent.prompt) }]
          : [],
      );
    },
  };
}
