/**
 * Ids and randomness
 * ==================
 * Ids are ULIDs (github.com/ulid/spec): 48 bits of time and 80 random bits in 26 letters of
 * Crockford's base 32, so they sort by age. Ids of the same millisecond increase, as in the
 * specification's monotonic form, and so do ids made after the clock was set back, but by a random
 * step: knowing one id does not reveal another, and a turn's fence is one.
 */
import { randomFillSync } from "node:crypto";
import type { Ids, Random } from "../../domain/ports/index.ts";

/** Random bytes in stock: to ask for a few at a time takes longer than to make thousands. */
const stock = Buffer.alloc(4_096);
let taken = stock.length;

function randomBytes(count: number): Buffer {
  if (taken + count > stock.length) {
    randomFillSync(stock);
    taken = 0;
  }
  taken += count;
  return stock.subarray(taken - count, taken);
}

const alphabet = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

function encode(value: bigint, letters: number): string {
  let text = "";
  let rest = value;
  for (let place = 0; place < letters; place += 1) {
    text = alphabet.charAt(Number(rest & 31n)) + text;
    rest >>= 5n;
  }
  return text;
}

/** Monotonic ids. `now` is ms since the epoch. */
export function createIds(now: () => number = Date.now): Ids {
  let last = 0;
  let chance = 0n;
  return {
    next() {
      const at = now();
      if (at > last) {
        last = at;
        // The top bit stays free, so 2^31 ids fit into one millisecond.
        chance = BigInt(`0x${randomBytes(10).toString("hex")}`) >> 1n;
      } else {
        chance += 1n + BigInt(randomBytes(6).readUIntBE(0, 6));
      }
      return encode(BigInt(last), 10) + encode(chance, 16);
    },
  };
}

/** Unpredictable uniform numbers. */
export function createRandom(): Random {
  return { next: () => randomBytes(6).readUIntBE(0, 6) / 2 ** 48 };
}
