/**
 * Telling what was told
 * =====================
 * A run that took another way and begins again tells the same lines from the start. Those that were
 * told already are held against what was told, by a running hash, and not told again; where they are
 * others, something is wrong with one of the two runs, and nothing more is told.
 */
import { createHash, type Hash } from "node:crypto";
import { EarshotError } from "../../domain/errors.ts";

export class Echo {
  readonly #tell: (json: string) => void;
  #hash = createHash("sha256");
  #told = 0;
  #before: string | null = null;
  #left = 0;
  #isWrong = false;

  constructor(tell: (json: string) => void) {
    this.#tell = tell;
  }

  /** A line of the first run. */
  first(json: string): void {
    this.#told += 1;
    add(this.#hash, json);
    this.#tell(json);
  }

  /** The first run has ended early: another begins from the start. */
  rewind(): void {
    this.#before = this.#hash.digest("hex");
    this.#hash = createHash("sha256");
    this.#left = this.#told;
    this.#compare();
  }

  /** A line of the second run. */
  again(json: string): void {
    if (this.#isWrong) return;
    if (this.#left === 0) {
      this.#tell(json);
      return;
    }
    add(this.#hash, json);
    this.#left -= 1;
    this.#compare();
  }

  /** Hands on what it is given. @throws EarshotError EAR_ASSERT where the second run differs. */
  check<Given>(given: Given): Given {
    if (this.#isWrong)
      throw new EarshotError(
        "EAR_ASSERT",
        "Cannot go on as several threads have told something else than one does: run it again " +
          "with --threads 1, and please report it",
      );
    return given;
  }

  /** The second run has ended. @throws EarshotError as `check`. */
  end(): void {
    this.#isWrong ||= this.#left > 0;
    this.check(null);
  }

  #compare(): void {
    if (this.#left === 0) this.#isWrong = this.#hash.digest("hex") !== this.#before;
  }
}

const add = (hash: Hash, json: string) => hash.update(json).update("\n");
