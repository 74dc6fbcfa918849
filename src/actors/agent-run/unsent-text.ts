/**
 * What an agent had said when its turn was cut off and what the room never got of it: the visible text
 * behind its last complete block. For people who look at the room from outside; the agent and the room
 * are not shown it.
 */
import { cut } from "../../domain/sanitize.ts";
import type { AgentFailed, AgentText } from "../../machines/events/events.ts";

/** UTF-16 units that are journalled. */
const unsentUnitsMax = 4_000;

type Block = Pick<AgentText, "text" | "aside">;
interface Answer {
  readonly visible: string;
  breakOff(): void;
}

export class UnsentText {
  readonly #blocks: string[] = [];

  /** A block of the answer was handed over. */
  note({ text, aside }: Block): void {
    const trimmed = text.trim();
    if (aside === undefined && trimmed !== "") this.#blocks.push(trimmed);
  }

  /** Ends an incomplete answer; what is not sent of it. */
  breakOff(output: Answer, code: AgentFailed["code"]): { readonly unsent?: string } {
    const stopped = this.#rest(output.visible);
    output.breakOff();
    // After a stop nothing more is sent, also if a block was complete.
    const unsent = code === "aborted" ? stopped : this.#rest(output.visible);
    return unsent === "" ? {} : { unsent: cut(unsent, unsentUnitsMax) };
  }

  #rest(visible: string): string {
    let from = 0;
    for (const block of this.#blocks) {
      // A fence that was closed and opened again is not found as it was sent.
      const found = visible.indexOf(block, from);
      if (found >= 0) from = found + block.length;
    }
    return visible.slice(from).trim();
  }
}
