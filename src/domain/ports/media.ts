/**
 * What the runtime may ask about an attached file: its content as text, or the image itself. The
 * implementation fetches the file through the platform's client or the guarded HTTP client, bounded
 * in bytes and time, and stores it under a generated name; nothing is decoded or unpacked in the
 * daemon. A file is read once, also across restarts.
 */
import type { MediaSettings } from "../config/conversation/media.ts";
import type { Attachment, Millis } from "../message.ts";
import type { AgentImage } from "./agent.ts";

/** An attached file and where to fetch it. */
export interface MediaItem {
  /** Name of the cached data: generated letters and digits, never text of a platform. */
  readonly id: string;
  readonly channel: string;
  readonly account: string;
  readonly attachment: Attachment;
}

/** A page that a message links to. */
export interface MediaLink {
  readonly id: string;
  readonly url: string;
}

/** What kind of text a reading holds. */
export type MediaWords = "transcript" | "description" | "content" | "page";

export interface MediaReading {
  /** The content as text; null: no converter produced text. */
  readonly text: string | null;
  readonly words: MediaWords | null;
  /** The title of a page. */
  readonly title: string | null;
  /** One line for people and agents: why there is no text, or what is unusual. */
  readonly note: string | null;
  /** By its first bytes, otherwise as declared; null: unknown. */
  readonly mime: string | null;
  /** Size as fetched; null: not fetched. */
  readonly bytes: number | null;
}

export interface SpokenFile {
  readonly mime: string;
  readonly name: string;
  readonly data: Uint8Array;
}

export interface MediaService {
  /**
   * Fetches and reads an attachment by the settings. A text file is its own reading. Failures are
   * described in `note`; rejects only when the signal aborts.
   */
  read(item: MediaItem, settings: MediaSettings, signal: AbortSignal): Promise<MediaReading>;
  /**
   * The image for an agent that accepts images. Null with a note when no model takes it; rejects
   * only when the signal aborts.
   */
  picture(
    item: MediaItem,
    settings: MediaSettings,
    signal: AbortSignal,
  ): Promise<{ readonly image: AgentImage | null; readonly note: string | null }>;
  /** Title and beginning of a page; errors as in `read`. */
  follow(link: MediaLink, settings: MediaSettings, signal: AbortSignal): Promise<MediaReading>;
  /**
   * Synthesizes text; null where no program is configured. Rejects when the program fails: the text
   * has been sent anyway.
   */
  speak(text: string, settings: MediaSettings, signal: AbortSignal): Promise<SpokenFile | null>;
  /** Deletes files older than `before`, and the oldest above `bytesMax` in total. */
  prune(before: Millis, bytesMax: number): Promise<void>;
}
