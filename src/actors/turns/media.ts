/**
 * What a turn gets of attached files. Reading starts when a message engages, continues while the
 * batch is collected, and is awaited for a limited time when the turn is composed: a slow file
 * never changes the batch, its order or its route. A file that cannot be read is named with the
 * reason; its message is never lost.
 *
 * Overheard files are only described until the agent asks for them.
 */

import type { MediaSettings } from "../../domain/config/conversation/media.ts";
import { agentOf, type EarshotConfig, resolveMedia } from "../../domain/config/index.ts";
import { limits } from "../../domain/limits.ts";
import type {
  AgentImage,
  Clock,
  Digest,
  Log,
  MediaReading,
  MediaService,
  TimerHandle,
} from "../../domain/ports/index.ts";
import { unlessAborted, within } from "../../domain/ports/within.ts";
import type { PromptAttachment, PromptLink } from "../../machines/prompt/envelope.ts";
import { type FoundMessage, linksIn, type MediaRef, refsOf } from "./attachment-names.ts";
import { createMediaJobs, type MediaJobs, type Outcome } from "./media-jobs.ts";

export interface MediaPorts {
  readonly clock: Clock;
  readonly digest: Digest;
  readonly log: Log;
  /** Null: nothing can be fetched (a replay). */
  readonly service: MediaService | null;
  readonly config: () => EarshotConfig;
  readonly agentOf: (key: string) => string;
}

/** A message's files and links as known when the turn is composed. */
export interface MediaShown {
  readonly attachments: readonly PromptAttachment[];
  readonly links: readonly PromptLink[];
}

export interface MediaGathered {
  /** One for each message of the batch. */
  readonly shown: readonly MediaShown[];
  readonly images: readonly AgentImage[];
}

type Picture = Awaited<ReturnType<MediaService["picture"]>>;

export interface Media {
  /** Starts reading a message's files and links, where configured. */
  engaged(key: string, message: FoundMessage): void;
  /**
   * The contents of a batch's files and links. Waits at most `media.timeoutMs`, and no longer than
   * the signal.
   */
  gather(key: string, batch: readonly FoundMessage[], signal: AbortSignal): Promise<MediaGathered>;
  /** What is known already, without waiting or starting anything. */
  known(message: FoundMessage): MediaShown;
  /** Reads one attachment on request. */
  readOne(key: string, message: FoundMessage, ref: MediaRef): Promise<Outcome<MediaReading>>;
  /** One image on request; null where the agent does not get images directly. */
  pictureOne(key: string, message: FoundMessage, ref: MediaRef): Promise<Picture | null>;
  /** Number of turns waiting for files. */
  waiting(): number;
  /** Starts the periodic deletion of old files. */
  start(): void;
  stop(): void;
}

const cleanupMs = 600_000;

export function createMedia(ports: MediaPorts): Media {
  return new MediaBudget(ports);
}

/** The agent's capability and the settings of its conversation. */
interface Terms {
  readonly settings: MediaSettings;
  /** Images are given to the agent directly. */
  readonly passes: boolean;
}

class MediaBudget implements Media {
  readonly #ports: MediaPorts;
  readonly #jobs: MediaJobs;
  #waiting = 0;
  #stopped = false;
  #cleanupTimer: TimerHandle | null = null;

  constructor(ports: MediaPorts) {
    this.#ports = ports;
    this.#jobs = createMediaJobs(ports.clock);
  }

  engaged(key: string, message: FoundMessage): void {
    const { attachments, text } = message.inbound;
    if (this.#ports.service === null || (attachments.length === 0 && !text.includes("://"))) return;
    const terms = this.#terms(key, message);
    for (const work of this.#worksOf(terms, message).slice(0, limits.mediaPerTurnMax))
      void work.begin();
  }

  async gather(
    key: string,
    batch: readonly FoundMessage[],
    signal: AbortSignal,
  ): Promise<MediaGathered> {
    const plans = batch.map((message) => {
      const terms = this.#terms(key, message);
      return { message, terms, works: this.#worksOf(terms, message) };
    });
    const works = plans.flatMap((plan) => plan.works).slice(0, limits.mediaPerTurnMax);
    const found: Findings = new Map();
    const reading = works.map(async ({ id, begin }) => {
      found.set(id, await begin());
    });
    const waitMs = Math.max(0, ...plans.map(({ terms }) => terms.settings.timeoutMs));
    if (works.length > 0) await this.#waitFor(Promise.all(reading), waitMs, signal);
    const { images, numbers } = choosePictures(works, found);
    const begun = new Set(works.map(({ id }) => id));
    const shown = plans.map(({ message, terms }) => ({
      attachments: refsOf(message, this.#ports.digest).map((ref) => {
        const { id } = ref.item;
        const outcome = found.get(id) ?? (begun.has(id) ? unfinished : undefined);
        return attachmentShown(ref, outcome, numbers.get(id));
      }),
      links: linksOf(terms, message, this.#ports.digest).map((link) =>
        linkShown(link, found.get(link.id)),
      ),
    }));
    return { shown, images };
  }

  known(message: FoundMessage): MediaShown {
    const attachments = refsOf(message, this.#ports.digest).map((ref) =>
      attachmentShown(ref, this.#jobs.known(ref.item.id), undefined),
    );
    return { attachments, links: [] };
  }

  async readOne(
    key: string,
    message: FoundMessage,
    { item }: MediaRef,
  ): Promise<Outcome<MediaReading>> {
    const { service: mediaService } = this.#ports;
    if (mediaService === null) return { note: "nothing can be fetched here" };
    const { settings } = this.#terms(key, message);
    const before = this.#jobs.known<MediaReading>(item.id);
    // On request, a failed job is tried again.
    if (before !== undefined && !hasText(before)) this.#jobs.forget(item.id);
    return this.#jobs.run({
      id: item.id,
      conv: message.conv,
      msMax: settings.timeoutMs * 2,
      keep: () => true,
      work: (signal) => mediaService.read(item, settings, signal),
    });
  }

  async pictureOne(
    key: string,
    message: FoundMessage,
    { item }: MediaRef,
  ): Promise<Picture | null> {
    const { service: mediaService } = this.#ports;
    const { settings, passes } = this.#terms(key, message);
    if (mediaService === null || !passes || item.attachment.kind !== "image") return null;
    const outcome = await this.#jobs.run<Picture>({
      id: `${item.id}:asked`,
      conv: message.conv,
      msMax: settings.timeoutMs * 2,
      keep: () => false,
      work: (signal) => mediaService.picture(item, settings, signal),
    });
    return "found" in outcome ? outcome.found : { image: null, note: outcome.note };
  }

  waiting(): number {
    return this.#waiting;
  }

  start(): void {
    const { clock, service: mediaService, log, config } = this.#ports;
    if (mediaService === null) return;
    const again = () => {
      if (this.#stopped) return;
      const { media, messages } = config();
      mediaService
        .prune(clock.now() - messages.dedupe.retentionMs, media.storeBytesMax)
        .catch((error: unknown) => log("warn", "media.sweep", { error: String(error) }))
        .finally(() => {
          // Cleared at the stop, because a timer keeps the process alive.
          if (!this.#stopped) this.#cleanupTimer = clock.setTimer(clock.now() + cleanupMs, again);
        });
    };
    again();
  }

  stop(): void {
    this.#stopped = true;
    if (this.#cleanupTimer !== null) this.#ports.clock.clearTimer(this.#cleanupTimer);
    this.#jobs.stop();
  }

  #terms(key: string, { inbound }: FoundMessage): Terms {
    const config = this.#ports.config();
    const agentId = this.#ports.agentOf(key);
    const { channel, account } = inbound;
    const settings = resolveMedia(config, { agentId, key, channel, account });
    const { driver } = agentOf(config, agentId);
    // A driver's options say whether it accepts images, as no driver is opened here.
    const takes = (driver as { readonly images?: unknown }).images === true;
    return { settings, passes: settings.image === "pass" && takes };
  }

  /** What is read of a message without a request. */
  #worksOf(terms: Terms, message: FoundMessage): Work[] {
    const { service: mediaService } = this.#ports;
    if (mediaService === null) return [];
    const { settings, passes } = terms;
    const msMax = settings.timeoutMs * 2;
    const work = <Found extends MediaReading | Picture>(
      id: string,
      jobId: string,
      keep: (found: Found) => boolean,
      act: (signal: AbortSignal) => Promise<Found>,
    ): Work => ({
      id,
      begin: () => this.#jobs.run<Found>({ id: jobId, conv: message.conv, msMax, keep, work: act }),
    });
    const files = refsOf(message, this.#ports.digest).flatMap(({ item }): Work[] => {
      const { kind } = item.attachment;
      if (kind === "image" && passes)
        return [
          // Images are too large to remember; failures are not.
          work<Picture>(
            item.id,
            `${item.id}:picture`,
            ({ image }) => image === null,
            (signal) => mediaService.picture(item, settings, signal),
          ),
        ];
      const converter = kind === "file" ? null : settings[kind];
      if (converter === null || converter === "pass") return [];
      const read = (signal: AbortSignal) => mediaService.read(item, settings, signal);
      return [work<MediaReading>(item.id, item.id, () => true, read)];
    });
    const pages = linksOf(terms, message, this.#ports.digest).map((link) =>
      work<MediaReading>(
        link.id,
        link.id,
        () => true,
        (signal) => mediaService.follow(link, settings, signal),
      ),
    );
    return [...files, ...pages];
  }

  /** Waits for `work`, at most `ms` and not after the signal, which the caller looks at. */
  async #waitFor(work: Promise<unknown>, ms: number, signal: AbortSignal): Promise<void> {
    this.#waiting += 1;
    await within(this.#ports.clock, ms, Promise.allSettled([unlessAborted(work, signal)]));
    this.#waiting -= 1;
  }
}

/** A file or link that is read without a request. */
interface Work {
  /** Id of the attachment or link. */
  readonly id: string;
  begin(): Promise<Outcome<MediaReading | Picture>>;
}
type Findings = Map<string, Outcome<MediaReading | Picture>>;

const unfinished = { note: "still being fetched; attachment_fetch waits for it" } as const;

const linksOf = (
  { settings: { links } }: Terms,
  { conv, inbound }: FoundMessage,
  digest: Digest,
) => (links === null ? [] : linksIn(conv, inbound.text, links.countMax, digest));

const hasText = (outcome: Outcome<MediaReading>): boolean =>
  "found" in outcome && outcome.found.text !== null;

/** The images that fit into one turn, in order of the messages, with their numbers. */
function choosePictures(
  works: readonly Work[],
  found: Findings,
): { images: AgentImage[]; numbers: Map<string, number> } {
  const images: AgentImage[] = [];
  const numbers = new Map<string, number>();
  let bytes = 0;
  for (const { id } of works) {
    const outcome = found.get(id);
    if (outcome === undefined || !("found" in outcome) || !("image" in outcome.found)) continue;
    const { image } = outcome.found;
    if (image === null) continue;
    bytes += image.data.length;
    if (images.length >= limits.turnImagesMax || bytes > limits.turnImagesBytesMax) {
      found.set(id, { note: "not shown: too many pictures for one turn" });
      continue;
    }
    images.push(image);
    numbers.set(id, images.length);
  }
  return { images, numbers };
}

/** An attachment for the prompt: its name for agents, and what is known of it. */
function attachmentShown(
  { name, item }: MediaRef,
  outcome: Outcome<MediaReading | Picture> | undefined,
  picture: number | undefined,
): PromptAttachment {
  const { url: _place, ...attachment } = item.attachment;
  const plain = { ...attachment, id: name };
  if (outcome === undefined) return plain;
  if (!("found" in outcome)) return { ...plain, note: outcome.note };
  const { found } = outcome;
  const note = found.note === null ? {} : { note: found.note };
  if ("image" in found) return { ...plain, ...note, ...(picture === undefined ? {} : { picture }) };
  const { mime, bytes, text, words } = found;
  return {
    ...plain,
    ...(mime === null ? {} : { mime }),
    ...(bytes === null ? {} : { bytes }),
    ...note,
    ...(text === null || words === null ? {} : { content: { words, text } }),
  };
}

function linkShown(
  { url }: { readonly url: string },
  outcome: Outcome<MediaReading | Picture> | undefined,
): PromptLink {
  if (outcome === undefined) return { url, title: null, text: null, note: "not read in time" };
  if (!("found" in outcome)) return { url, title: null, text: null, note: outcome.note };
  const { found } = outcome;
  if ("image" in found) return { url, title: null, text: null, note: null };
  return { url, title: found.title, text: found.text, note: found.note };
}
