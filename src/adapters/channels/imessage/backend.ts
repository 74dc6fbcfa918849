/**
 * What the account needs of the program on the Mac, in one form for both.
 */
import type { Attachment, Inbound, Millis } from "../../../domain/message.ts";
import type { ChannelHook } from "../../../domain/ports/index.ts";

/** A row of the Messages database. */
export interface AppleRow {
  /** Rows are numbered in the order in which they were written. */
  readonly rowId: number;
  readonly guid: string;
  readonly chatGuid: string;
  readonly chatTitle: string | null;
  /** Phone number or e-mail address; null: not reported. */
  readonly sender: string | null;
  readonly senderName: string | null;
  readonly isFromMe: boolean;
  readonly text: string;
  readonly mentions: Inbound["mentions"];
  readonly sentAt: Millis | null;
  readonly replyTo: string | null;
  readonly attachments: readonly Attachment[];
  /** A tapback, which is a row of its own. */
  readonly reaction: {
    readonly target: string;
    readonly emoji: string;
    readonly isAdded: boolean;
  } | null;
  /** When it was edited or taken back; only where that is reported. */
  readonly editedAt: Millis | null;
  readonly retractedAt: Millis | null;
}

export interface AppleSend {
  readonly chatGuid: string;
  readonly text: string;
  /** Needs the private API. */
  readonly replyTo?: string;
  readonly file?: { readonly name: string; readonly mime: string; readonly data: Uint8Array };
  /** The same for each attempt. */
  readonly sendId: string;
  readonly signal: AbortSignal;
}

/** What a gateway gets from a connection. */
export interface AppleListener {
  /** `rowId`: everything up to that row has been reported. */
  onRow(row: AppleRow, rowId: number): void;
  onUnreadable(at: string): void;
  /** From now on everything is reported. */
  onReady(): void;
  /** Resolves when there is capacity. */
  capacity(): Promise<void>;
}

export interface AppleBackend {
  /** Whether a file and its words are one send; if not, the words are a message behind it. */
  readonly hasCaptions: boolean;
  /** The account, as far as the program names it. */
  identify(signal: AbortSignal): Promise<{ id: string; name: string; notes: readonly string[] }>;
  /** The newest row; 0: there is none. */
  newest(signal: AbortSignal): Promise<number>;
  /** Reports rows behind `since` until the signal aborts; rejects when the connection ends. */
  watch(since: number, listener: AppleListener, signal: AbortSignal): Promise<void>;
  /** Connects; what fails here is an EarshotError. */
  connect(signal: AbortSignal): Promise<void>;
  close(): Promise<void>;
  /** Resolves to the guid of the message; null: it is not reported. */
  send(request: AppleSend): Promise<string | null>;
  members(chatGuid: string, signal: AbortSignal): Promise<number | null>;
  download(id: string, signal: AbortSignal): Promise<ReadableStream<Uint8Array>>;
  /** These need the private API. */
  react(
    target: { readonly chatGuid: string; readonly guid: string },
    emoji: string,
    how: { readonly remove: boolean; readonly signal: AbortSignal },
  ): Promise<void>;
  edit(
    target: { readonly chatGuid: string; readonly guid: string },
    text: string,
    signal: AbortSignal,
  ): Promise<void>;
  typing: ((chatGuid: string, on: boolean, signal: AbortSignal) => Promise<void>) | null;
  hook?(
    onChange: (row: AppleRow) => Promise<void>,
    onUnreadable: AppleListener["onUnreadable"],
  ): ChannelHook | null;
}
