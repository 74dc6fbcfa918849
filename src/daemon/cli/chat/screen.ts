/**
 * The chat on a terminal
 * ======================
 * Messages appear above the line being typed, which stays intact, with bold, code and lists,
 * wrapped at words. Without a terminal the output is plain text as the agent wrote it, without
 * colours or a prompt. Text of an agent is sanitised: no answer can move the cursor.
 */
import { clearScreenDown, cursorTo, type Interface, moveCursor } from "node:readline";
import pc from "picocolors";
import type { ServerFrame } from "../../../adapters/channels/webchat/protocol.ts";
import { terminalSafe } from "../../../domain/sanitize.ts";
import { terminalText } from "../output/markdown.ts";
import { columnsOf, wrapText } from "../output/wrap.ts";
import { inWords } from "./attach.ts";

/** What was said before this chat was opened is shown so far back. */
const historyShownMax = 20;
/** Frames of before arrive in one piece, right behind the first. */
const historyMs = 150;
/** Assumed width of a terminal that does not report one. */
const columnsAssumed = 80;
/** How an answer starts that cannot share its first line with a name. */
const startsBlock = /^\s*(?:[-*+>#|]|`{3}|~{3}|\d{1,9}[.)] )/;

export class ChatScreen {
  readonly #lines: Interface;
  readonly #out: NodeJS.WriteStream;
  readonly #interactive: boolean;
  readonly #colour: ReturnType<typeof pc.createColors>;
  #agent = "agent";
  /** The last number at the time this chat was opened; null until then. */
  #since: number | null = null;
  readonly #history: { readonly who: Who; readonly text: string }[] = [];
  #typing = false;
  #turn: string | null = null;
  readonly #own = new Set<string>();
  /** Said here and not yet decided or answered. */
  readonly #open = new Set<string>();
  /** Of these, what engaged and no turn has taken up yet, and what the running turn took up. */
  #engaged: string[] = [];
  #inTurn: string[] = [];

  constructor(lines: Interface, out: NodeJS.WriteStream, interactive: boolean) {
    this.#lines = lines;
    this.#out = out;
    this.#interactive = interactive;
    this.#colour = pc.createColors(hasColour(out));
  }

  /** A line was typed here. */
  said(id: string): void {
    this.#own.add(id);
    this.#open.add(id);
  }

  /** Nothing said here waits for a decision or an answer. */
  isQuiet(): boolean {
    return this.#open.size === 0 && this.#turn === null;
  }

  connected(is: boolean): void {
    if (!is) this.#line(this.#colour.dim("(the daemon went away; waiting for it)"));
    else if (this.#since !== null) this.#line(this.#colour.dim("(there again)"));
  }

  /** Something of ours, beside the conversation. */
  note(text: string): void {
    this.#line(this.#colour.dim(terminalSafe(text)));
  }

  prompt(): void {
    if (!this.#interactive) return;
    const { dim, green } = this.#colour;
    const busy = this.#typing || this.#turn !== null;
    const note = busy ? dim(`${this.#agent} is typing… `) : "";
    this.#lines.setPrompt(`${note}${green("›")} `);
    this.#lines.prompt(true);
  }

  close(): void {
    if (this.#interactive) this.#clearPrompt();
  }

  show(frame: ServerFrame): void {
    switch (frame.type) {
      case "ready":
        this.#ready(frame);
        return;
      case "taken":
        if (!this.#own.has(frame.id)) this.#part(frame.n, personOf(frame), wordsOf(frame));
        return;
      case "said":
        this.#part(frame.n, { name: `${this.#agent}${through(frame.via)}` }, wordsOf(frame));
        return;
      case "decided":
        if (frame.decision !== "engage") this.#open.delete(frame.id);
        else if (this.#open.has(frame.id)) this.#engaged.push(frame.id);
        return;
      case "turn":
        this.#turned(frame);
        return;
      case "typing":
        this.#typing = frame.on;
        this.prompt();
        return;
      case "error":
        this.#line(this.#colour.red(terminalSafe(`${frame.code}: ${frame.message}`)));
        return;
      default:
        return;
    }
  }

  #ready({ agent, n }: Extract<ServerFrame, { type: "ready" }>): void {
    this.#agent = terminalSafe(agent.name).replaceAll("\n", " ");
    if (this.#since !== null) return;
    this.#since = n;
    if (!this.#interactive) return;
    this.#line(this.#colour.dim(`talking to ${this.#agent}; Ctrl-D ends`));
    // What was said before comes right behind this frame.
    setTimeout(() => this.#showHistory(), historyMs);
  }

  #showHistory(): void {
    const before = this.#history.splice(0);
    if (before.length > historyShownMax)
      this.#line(this.#colour.dim(`(${before.length - historyShownMax} earlier parts not shown)`));
    for (const { who, text } of before.slice(-historyShownMax)) this.#word(who, text);
    this.prompt();
  }

  /** A part of the conversation: shown now, or with the history if it is from before this chat. */
  #part(n: number, who: Who, text: string): void {
    if (n > (this.#since ?? 0)) this.#word(who, text);
    else if (this.#interactive) this.#history.push({ who, text });
  }

  #turned({ turnId, state, outcome }: Extract<ServerFrame, { type: "turn" }>): void {
    if (state === "start") {
      this.#turn = turnId;
      this.#inTurn = this.#engaged.splice(0);
    } else {
      this.#turn = null;
      for (const id of this.#inTurn.splice(0)) this.#open.delete(id);
      if (outcome !== undefined && outcome !== "replied")
        this.#line(this.#colour.dim(`(${this.#agent}: ${outcome})`));
    }
    this.prompt();
  }

  #word(who: Who, text: string): void {
    const { green, cyan } = this.#colour;
    const name = who.isPerson ? green(who.name) : cyan(who.name);
    if (!this.#interactive) {
      this.#line(`${name}: ${terminalSafe(text)}`);
      return;
    }
    const columns = this.#out.columns ?? columnsAssumed;
    const alone = startsBlock.test(text);
    const taken = alone ? 0 : columnsOf(`${who.name}: `);
    // Words of a person are shown as they were typed.
    const shown = who.isPerson
      ? wrapText(terminalSafe(text), { columns, taken })
      : terminalText(text, { columns, taken, colour: hasColour(this.#out) });
    this.#line(`${name}:${alone ? "\n" : " "}${shown}`);
  }

  #line(text: string): void {
    const rows = this.#interactive ? this.#clearPrompt() : 0;
    // The prompt is drawn that many rows above the cursor, where it was before.
    this.#out.write(`${text}\n${"\n".repeat(rows)}`);
    this.prompt();
  }

  /** Takes the prompt and what is being typed off the screen: all rows of it. Says how many there are beyond one. */
  #clearPrompt(): number {
    const { rows } = this.#lines.getCursorPos();
    moveCursor(this.#out, 0, -rows);
    cursorTo(this.#out, 0);
    clearScreenDown(this.#out);
    return rows;
  }
}

/** Whose words they are; those of a person are shown as they were typed. */
interface Who {
  readonly name: string;
  readonly isPerson?: true;
}

/** What was said, and what came with it. */
const wordsOf = ({ text, attachments }: Extract<ServerFrame, { type: "taken" | "said" }>) =>
  [text, inWords(attachments)].filter((part) => part !== "").join("\n");

const through = (channel: string | undefined) =>
  channel === undefined ? "" : ` (${terminalSafe(channel).replaceAll("\n", " ")})`;

/** The author: we, perhaps on another page, or somebody on another channel. */
function personOf({ via, by = "you" }: Extract<ServerFrame, { type: "taken" }>): Who {
  const name = terminalSafe(by).replaceAll("\n", " ");
  return { name: `${name}${through(via)}`, isPerson: true };
}

const hasColour = (out: NodeJS.WriteStream) => pc.isColorSupported && out.isTTY === true;
