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
