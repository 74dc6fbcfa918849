/** Labelled rooms for tests, as text. */
export interface LineInput {
  readonly id?: string;
  readonly at?: number;
  readonly by: string;
  readonly text?: string;
  readonly to?: readonly string[];
  readonly answers?: readonly string[];
  readonly meant?: readonly string[];
}

/** A header and its lines, 30 s apart unless they say otherwise. */
export function roomText(header: object, lines: readonly LineInput[]): string {
  const rows = lines.map((line, index) =>
    JSON.stringify({ id: String(index + 1), at: (index + 1) * 30_000, text: "hm", ...line }),
  );
  return [JSON.stringify(header), ...rows].join("\n");
}

/** Ann and Bob talk; the agent is called, answers Ann, and she goes on without its name. */
export const kitchen = roomText({ room: "kitchen", agents: ["scout"], from: "3" }, [
  { by: "bob", text: "anyone here?" },
  { by: "ann", text: "hi bob", to: ["bob"] },
  { by: "ann", text: "scout: what is for lunch?", to: ["scout"] },
  { by: "scout", text: "soup", answers: ["3"] },
  { by: "ann", text: "and after that?", answers: ["4"] },
  { by: "bob", text: "I am hungry" },
  { by: "scout", text: "cake", answers: ["5"] },
  { by: "ann", text: "bob, coming?", to: ["bob"] },
  { by: "ann", text: "see you all" },
  { by: "bob", text: "thanks, that was good", answers: ["7"] },
]);
