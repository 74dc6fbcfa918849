/**
 * Room for young objects
 * ======================
 * V8 doubles the room for young objects, in each thread, while they live longer than it lasts. A
 * program that is being loaded does exactly that, and an idle daemon would keep the room, 11 MB of it, for
 * ever. So until it is ready the room stays as it is; under load it grows as always.
 */
import { setFlagsFromString } from "node:v8";

/** The room stays as it is until `releaseYoungSpace`. */
export const holdYoungSpace = (): void => setFlagsFromString("--semi-space-growth-factor=1");

/** The room grows as V8 needs it, by its own default. */
export const releaseYoungSpace = (): void => setFlagsFromString("--semi-space-growth-factor=2");

/**
 * Every object begins as a young one, in all threads. V8 makes those of a place in the code old from the start once
 * most of them outlived a collection, as a rush of messages lets nearly all that a message needs: from then on
 * each line left 2 kB more for the full collections, and each collection of young objects took longer.
 */
export const beginYoung = (): void => setFlagsFromString("--no-allocation-site-pretenuring");
