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
import { filesText } from "./attach.ts";

/** At most so many earlier messages are shown. */
const historyShownMax = 20;
/** Earlier messages arrive together, directly after the first frame. */
const historyMs = 150;
/** Assumed width of a terminal that does not report one. */
const columnsAssumed = 80;
/** Start of an answer that cannot share its first line with a name. */
const startsBlock = /^\s*(?:[-*+>#|]|`{3}|~{3}|\d{1,9}[.)] )/;

export class ChatScreen {
  readonly #lines: Interface;
  readonly #out: NodeJS.WriteStream;
  readonly #interactive: boolean;
  readonly #colour: ReturnType<typeof pc.createColors>;
  #agent = "agent";
  /** The last number at the time this chat was opened; null until then. */
  #since: number | null = null;
  readonly #history: { readonly speaker: Speaker; readonly text: string }[] = [];
  #typing = false;
  #turn: string | null = null;
  readonly #own = new Set<string>();
  /** Sent here and not yet decided or answered. */
  readonly #open = new Set<string>();
  /** Of these, messages that engaged and wait for a turn, and those of the running turn. */
  #engaged: string[] = [];
  #inTurn: string[] = [];

  constructor(lines: Interface, out: NodeJS.WriteStream, interactive: boolean) {
    this.#lines = lines;
    this.#out = out;
    this.#interactive = interactive;
    this.#colour = pc.createColors(hasColour(out));
  }

  /** A turn here has failed. */
  hasFailed = false;

  /** A message was sent here. */
  sent(id: string): void {
    this.#own.add(id);
    this.#open.add(id);
  }

  /** No message sent here waits for a decision or an answer. */
  isQuiet(): boolean {
    return this.#open.size === 0 && this.#turn === null;
  }

  connected(is: boolean): void {
    if (!is) this.#line(this.#colour.dim("(connection lost; waiting for the daemon)"));
    else if (this.#since !== null) this.#line(this.#colour.dim("(connected again)"));
  }

  /** Prints a note that is not part of the conversation. */
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
        if (!this.#own.has(frame.id)) this.#part(frame.n, personOf(frame), messageText(frame));
        return;
      case "said":
        this.#part(frame.n, { name: `${this.#agent}${viaText(frame.via)}` }, messageText(frame));
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
        this.#refused(frame);
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
    // Earlier messages come directly after this frame.
    setTimeout(() => this.#showHistory(), historyMs);
  }

  #showHistory(): void {
    const before = this.#history.splice(0);
    if (before.length > historyShownMax)
      this.#line(this.#colour.dim(`(${before.length - historyShownMax} earlier parts not shown)`));
    for (const { speaker, text } of before.slice(-historyShownMax))
      this.#printMessage(speaker, text);
    this.prompt();
  }

  /** A part of the conversation: shown now, or with the history if it is from before this chat. */
  #part(n: number, speaker: Speaker, text: string): void {
    if (n > (this.#since ?? 0)) this.#printMessage(speaker, text);
    else if (this.#interactive) this.#history.push({ speaker, text });
  }

  #turned({ turnId, state, outcome, cause }: Extract<ServerFrame, { type: "turn" }>): void {
    if (state === "start") {
      this.#turn = turnId;
      this.#inTurn = this.#engaged.splice(0);
    } else {
      this.#turn = null;
      for (const id of this.#inTurn.splice(0)) this.#open.delete(id);
      if (outcome === "failed") this.#failed(cause);
      else if (outcome !== undefined && outcome !== "replied")
        this.#line(this.#colour.dim(`(${this.#agent}: ${outcome})`));
    }
    this.prompt();
  }

  /** A script reads answers from stdout: why there is none goes to stderr. */
  #failed(cause = "the daemon's log says why"): void {
    const text = `${this.#agent} could not answer: ${terminalSafe(cause).replaceAll("\n", " ")}`;
    this.hasFailed = true;
    if (this.#interactive) this.#line(this.#colour.red(text));
    else process.stderr.write(`${text}\n`);
  }

  #refused({ id, final, code, message }: Extract<ServerFrame, { type: "error" }>): void {
    const text = terminalSafe(`${code}: ${message}`);
    // It is not said again, and nothing will come of it.
    if (final === true && id !== undefined && this.#open.delete(id)) this.hasFailed = true;
    if (this.#interactive) this.#line(this.#colour.red(text));
    else process.stderr.write(`${text}\n`);
  }

  #printMessage(speaker: Speaker, text: string): void {
    const { green, cyan } = this.#colour;
    const name = speaker.isPerson ? green(speaker.name) : cyan(speaker.name);
    if (!this.#interactive) {
      this.#line(`${name}: ${terminalSafe(text)}`);
      return;
    }
    const columns = this.#out.columns || columnsAssumed;
    const alone = startsBlock.test(text);
    const taken = alone ? 0 : columnsOf(`${speaker.name}: `);
    // A person's text is shown as typed.
    const shown = speaker.isPerson
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

  /** Clears the prompt and the input on the screen; returns the number of rows beyond one. */
  #clearPrompt(): number {
    const { rows } = this.#lines.getCursorPos();
    moveCursor(this.#out, 0, -rows);
    cursorTo(this.#out, 0);
    clearScreenDown(this.#out);
    return rows;
  }
}

/** The author of a message; a person's text is shown as typed. */
interface Speaker {
  readonly name: string;
  readonly isPerson?: true;
}

/** The text of a message with its files. */
const messageText = ({ text, attachments }: Extract<ServerFrame, { type: "taken" | "said" }>) =>
  [text, filesText(attachments)].filter((part) => part !== "").join("\n");

const viaText = (channel: string | undefined) =>
  channel === undefined ? "" : ` (${terminalSafe(channel).replaceAll("\n", " ")})`;

/** The author: this person, perhaps on another page, or somebody on another channel. */
function personOf({ via, by = "you" }: Extract<ServerFrame, { type: "taken" }>): Speaker {
  const name = terminalSafe(by).replaceAll("\n", " ");
  return { name: `${name}${viaText(via)}`, isPerson: true };
}

const hasColour = (out: NodeJS.WriteStream) => pc.isColorSupported && out.isTTY === true;
