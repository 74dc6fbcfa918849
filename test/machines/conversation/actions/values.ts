/** What the tests of single actions give to them, and what they expect. */
import { room } from "../../../support/machines/acting.ts";

export const settings = (over: object) => ({ settings: over as never });
export const none = { changed: {}, effects: [] };
export const stickinessOf = (mode: string, over: object = {}) => ({
  enabled: true,
  windowMs: 100,
  mode,
  holdDuringTurn: true,
  ...over,
});
export const floor = { engagement: { stickiness: stickinessOf("floor") } };
export const set = (id: string, at: number) => ({ type: "deadline.set", id, at });
export const clear = (id: string) => ({ type: "deadline.clear", id });
export const dropped = (seq: number, why: string) => ({
  type: "dropped",
  message: { seq, id: `m${seq}` },
  why,
});
export const entry = (seq: number, over: object = {}) => ({
  seq,
  id: `m${seq}`,
  at: seq,
  author: "ann",
  self: false,
  ...over,
});
export const buffer = (...entries: ReturnType<typeof entry>[]) => ({ entries, dropped: 0 });
export const asked = { route: room, media: false, group: null, gist: "ann: hi" };
