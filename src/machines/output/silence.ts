/**
 * An agent says "I do not answer this" with a token. People must never see it, not even its first
 * letter while the answer is still streaming. So everything that may still turn out to be the token
 * is held back until it is decided; real text flows. Each unit is looked at a bounded number of
 * times, and the same answer gives the same text however it was split into deltas.
 *
 * Silent are: the token alone, in any case, with punctuation around it, repeated, as a JSON string,
 * or as `{"action":"TOKEN"}`. At the start or the end of a real text the token is taken off and the
 * rest is sent (`strip`), or nothing is sent at all (`drop`, which has to hold the whole answer
 * back).
 */
import type { SilentSettings } from "../../domain/settings.ts";

/** Takes deltas in, gives back what may be shown. */
export interface Silence {
  /** Text that is certainly to be shown; empty while nothing is decided. */
  push(delta: string): string;
  /** The end of the answer: whether all of it was silence, and if not what is left to show. */
  end(): { readonly silent: boolean; readonly rest: string };
}

const wordUnit = /[\p{L}\p{N}]/u;
/** May surround a token without being content. */
const edgeUnit = /[\s\p{P}`~|+=<>^$]/u;
const spaceUnit = /\s/;
const afterToken = /^[\s.,:;!?]+/;
/** Goes with the token at the end of a text. */
const beforeToken = /[\s*_`~"'([{<-]/;
/** Tokens in a row with nothing between them that are still silence. */
const gluedMax = 4;
/** White space that a JSON form may contain and still be one. */
const jsonSpacesMax = 64;

/** A watcher for one answer. */
export function createSilence(settings: SilentSettings): Silence {
  return settings.mixed === "drop" ? new HoldAll(settings.token) : new StripEdges(settings.token);
}

/** Holds the whole answer, since a token at its very end unsays all of it. */
class HoldAll implements Silence {
  readonly #token: string;
  readonly #parts: string[] = [];

  constructor(token: string) {
    this.#token = token;
  }

  push(delta: string): string {
    this.#parts.push(delta);
    return "";
  }

  end(): { silent: boolean; rest: string } {
    const whole = this.#parts.join("");
    const watcher = new StripEdges(this.#token);
    const shown = watcher.push(whole);
    const { silent, rest } = watcher.end();
    const unsaid = silent || shown.length + rest.length < whole.length;
    return unsaid ? { silent: true, rest: "" } : { silent: false, rest: whole };
  }
}

class StripEdges implements Silence {
  readonly #forms: readonly string[];
  /** Held: edges and whole tokens, nothing said yet or nothing said since. */
  #row = "";
  /** Where in the row the first token starts and the last one ends; -1: none in it. */
  #firstToken = -1;
  #lastEnd = -1;
  /** Units that are the start of a form so far, and the same without white space in lower case. */
  #partial = "";
  #matched = "";
  #spoken = false;
  #inWord = false;

  constructor(token: string) {
    const folded = token.toLowerCase();
    const glued = Array.from({ length: gluedMax }, (_, index) => folded.repeat(index + 1));
    this.#forms = [...glued, `{"action":"${folded}"}`];
  }

  push(delta: string): string {
    let out = "";
    for (let at = 0; at < delta.length; at += 1) out += this.#take(delta.charAt(at));
    return out;
  }

  end(): { silent: boolean; rest: string } {
    let out = "";
    if (this.#isWhole()) this.#keepToken();
    else {
      const units = this.#partial;
      this.#drop();
      for (let at = 0; at < units.length; at += 1) out += this.#plain(units.charAt(at));
    }
    if (this.#firstToken < 0) {
      const rest = out + this.#row;
      return { silent: !this.#spoken && rest.trim() === "", rest };
    }
    if (!this.#spoken) return { silent: true, rest: "" };
    let last = this.#firstToken;
    while (last > 0 && beforeToken.test(this.#row.charAt(last - 1))) last -= 1;
    return { silent: false, rest: out + this.#row.slice(0, last) };
  }

  #isWhole(): boolean {
    return this.#matched !== "" && this.#forms.includes(this.#matched);
  }

  #take(unit: string): string {
    if (this.#isWhole()) {
      const glued = wordUnit.test(unit) && wordUnit.test(this.#matched.slice(-1));
      if (!glued) this.#keepToken();
      else if (this.#continues(unit)) {
        this.#partial += unit;
        return "";
      }
    } else if (this.#continues(unit)) {
      this.#partial += unit;
      return "";
    }
    if (this.#partial === "") return this.#start(unit);
    // What looked like a form was not: its first unit is plain, the others get their own try.
    const units = this.#partial + unit;
    this.#drop();
    let out = this.#plain(units.charAt(0));
    for (let at = 1; at < units.length; at += 1) out += this.#take(units.charAt(at));
    return out;
  }

  #start(unit: string): string {
    if (this.#inWord || !this.#continues(unit)) return this.#plain(unit);
    this.#partial = unit;
    return "";
  }

  /**
   * Whether the units matched so far and this one still are the start of a form; then takes it in.
   */
  #continues(unit: string): boolean {
    if (this.#partial === "" && this.#inWord) return false;
    const json = this.#matched.startsWith("{");
    if (json && spaceUnit.test(unit))
      return this.#partial.length < this.#matched.length + jsonSpacesMax;
    const tried = this.#matched + unit.toLowerCase();
    if (!this.#forms.some((form) => form.startsWith(tried))) return false;
    this.#matched = tried;
    return true;
  }

  #keepToken(): void {
    if (this.#firstToken < 0) this.#firstToken = this.#row.length;
    this.#row += this.#partial;
    this.#lastEnd = this.#row.length;
    this.#drop();
    this.#inWord = false;
  }

  #drop(): void {
    this.#partial = "";
    this.#matched = "";
  }

  /** A unit that belongs to no form: held if it may surround a token, else sent. */
  #plain(unit: string): string {
    this.#inWord = wordUnit.test(unit);
    if (edgeUnit.test(unit)) {
      this.#row += unit;
      return "";
    }
    const atStart = !this.#spoken && this.#lastEnd >= 0;
    const row = atStart ? this.#row.slice(this.#lastEnd).replace(afterToken, "") : this.#row;
    this.#row = "";
    this.#firstToken = -1;
    this.#lastEnd = -1;
    this.#spoken = true;
    return row + unit;
  }
}
