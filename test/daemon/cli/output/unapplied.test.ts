/** What `earshot status` says of events that are not applied yet. */
import { expect, test } from "vitest";
import { unappliedRow } from "../../../../src/daemon/cli/commands/status.ts";

test("what was left is said while it is read, and events that wait are; otherwise nothing", () => {
  const said = (events: number, reading: boolean) => unappliedRow({ events, reading });
  expect(said(0, true)).toEqual([["events", "reading what was left: 0 events not applied yet"]]);
  expect(said(12, true)).toEqual([["events", "reading what was left: 12 events not applied yet"]]);
  expect(said(1, false)).toEqual([["events", "1 event not applied yet"]]);
  expect(said(0, false)).toEqual([]);
});
