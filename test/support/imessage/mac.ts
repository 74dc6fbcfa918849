/**
 * The Messages database of a Mac, as far as imsg and BlueBubbles report it: chats, and rows numbered in the
 * order in which they were written. A tapback is a row, too.
 */
import { randomUUID } from "node:crypto";

export interface MacChat {
  readonly id: number;
  readonly guid: string;
  readonly name: string;
  readonly people: readonly string[];
}

export interface MacRow {
  readonly rowId: number;
  readonly guid: string;
  readonly chat: MacChat;
  /** Null: the account itself. */
  readonly sender: string | null;
  text: string;
  readonly createdAt: number;
  readonly replyTo?: string;
  readonly mentions?: readonly {
    readonly handle: string;
    readonly start: number;
    readonly length: number;
  }[];
  readonly files?: readonly {
    readonly guid: string;
    readonly name: string;
    readonly mime: string;
    readonly path: string;
  }[];
  readonly tapback?: {
    readonly target: string;
    readonly type: string;
    readonly remove: boolean;
    readonly emoji?: string;
  };
  editedAt?: number;
  retractedAt?: number;
}

export class Mac {
  readonly chats: MacChat[] = [];
  readonly rows: MacRow[] = [];
  /** What the account itself has sent through a program. */
  readonly sent: MacRow[] = [];
  readonly typings: string[] = [];
  readonly #watchers = new Set<(row: MacRow, isNew: boolean) => void>();

  chat(guid: string, name: string, people: readonly string[]): MacChat {
    const chat = { id: this.chats.length + 1, guid, name, people };
    this.chats.push(chat);
    return chat;
  }

  write(chat: MacChat, sender: string | null, text: string, more: Partial<MacRow> = {}): MacRow {
    const row: MacRow = {
      rowId: this.rows.length + 101,
      guid: randomUUID().toUpperCase(),
      chat,
      sender,
      text,
      createdAt: Date.now(),
      ...more,
    };
    this.rows.push(row);
    for (const look of [...this.#watchers]) look(row, true);
    return row;
  }

  change(row: MacRow, what: Pick<Partial<MacRow>, "text" | "editedAt" | "retractedAt">): void {
    Object.assign(row, what);
    for (const look of [...this.#watchers]) look(row, false);
  }

  find(guid: string): MacRow | undefined {
    return this.rows.find((row) => row.guid === guid);
  }

  watch(look: (row: MacRow, isNew: boolean) => void): () => void {
    this.#watchers.add(look);
    return () => void this.#watchers.delete(look);
  }

  /** The emoji or names of tapbacks of the account on a message. */
  tapbacks(guid: string): string[] {
    const list: string[] = [];
    for (const { sender, tapback } of this.rows) {
      if (sender !== null || tapback?.target !== guid) continue;
      const shown = tapback.emoji ?? tapback.type;
      if (tapback.remove) list.splice(list.indexOf(shown), 1);
      else list.push(shown);
    }
    return list;
  }
}
