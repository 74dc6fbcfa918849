/**
 * The media port
 * ==============
 * What the runtime may ask about a file that somebody sent: what is in it, in words, or the picture
 * itself. Whoever answers fetches it through the platform's client or the guarded HTTP client,
 * bounded in bytes and time, and keeps it under a name of ours; nothing is decoded or unpacked in
 * the daemon. What was read once is not read again, also after a restart.
 */
import type { MediaSettings } from "../config/conversation/media.ts";
import type { Attachment, Millis } from "../message.ts";
import type { AgentImage } from "./agent.ts";

/** A file somebody sent, and where it is. */
export interface MediaItem {
  /** Names what is kept of it: letters and digits of ours, never a platform's words. */
  readonly id: string;
  readonly channel: string;
  readonly account: string;
  readonly attachment: Attachment;
}

/** A page somebody linked to. */
export interface MediaLink {
  readonly id: string;
  readonly url: string;
}

/** What the words of a reading are. */
export type MediaWords = "transcript" | "description" | "content" | "page";

export interface MediaReading {
  /** What is in it, in words; null: nothing turned it into words. */
  readonly text: string | null;
  readonly words: MediaWords | null;
  /** Of a page: its title. */
  readonly title: string | null;
  /** One line for people and agents: why there are no words, or what is odd. */
  readonly note: string | null;
  /** As the first bytes say, else as declared; null where that is not known. */
  readonly mime: string | null;
  /** As fetched; null: it was not. */
  readonly bytes: number | null;
}

export interface SpokenFile {
  readonly mime: string;
  readonly name: string;
  readonly data: Uint8Array;
}

export interface MediaService {
  /**
   * Fetches and reads an attachment as the settings say. A file that looks like text is its own
   * reading. What goes wrong is told in `note`; it rejects only when the signal aborts.
   */
  read(item: MediaItem, settings: MediaSettings, signal: AbortSignal): Promise<MediaReading>;
  /**
   * The picture for an agent that takes pictures. Null with a reason when there is none that a model
   * takes; rejects only when the signal aborts.
   */
  picture(
    item: MediaItem,
    settings: MediaSettings,
    signal: AbortSignal,
  ): Promise<{ readonly image: AgentImage | null; readonly note: string | null }>;
  /** Title and beginning of a page. As `read`. */
  follow(link: MediaLink, settings: MediaSettings, signal: AbortSignal): Promise<MediaReading>;
  /**
   * Text said aloud, as the settings say; null where they say nothing. Rejects when the program
   * fails: the text was sent anyway.
   */
  speak(text: string, settings: MediaSettings, signal: AbortSignal): Promise<SpokenFile | null>;
  /** Forgets files older than `before`, and the oldest beyond `bytesMax` in all. */
  prune(before: Millis, bytesMax: number): Promise<void>;
}
