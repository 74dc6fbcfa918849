/** What must happen in a room with buttons, on every platform that has them. */
import { expect } from "vitest";
import type { startAsking } from "./asking-daemon.ts";

type Daemon = Awaited<ReturnType<typeof startAsking>>;

/** What is seen of a room. */
export interface SeenRoom<Message> {
  /** The bot's messages that have these words. */
  shown(part: string): readonly Message[];
  /** The first of them, once it is there. */
  answer(part: string): Promise<Message>;
}

/** A question for permission offers three commands of one id; that id and two of them. */
export function permissionIn(labels: readonly string[]) {
  const id = /^\/approve (\w{4}) once$/.exec(labels[0] ?? "")?.[1] ?? "";
  expect(labels).toEqual([`/approve ${id} once`, `/approve ${id} always`, `/approve ${id} deny`]);
  const [once = "", , deny = ""] = labels;
  return { id, once, deny };
}

/**
 * An owner's press grants, once, although the platform sends it twice; a later one changes nothing and
 * says so. Each function presses and returns the id of the press as a message.
 */
export async function grantsOnce<Message>(
  daemon: Daemon,
  { shown, answer }: SeenRoom<Message>,
  { grantTwice, deny }: { readonly grantTwice: () => string; readonly deny: () => string },
): Promise<void> {
  expect(await daemon.decided(grantTwice())).toMatchObject({ decision: "command" });
  await answer("Allowed once");
  await answer('"optionId":"yes"');

  deny();
  await answer("Nothing of that id waits for an answer.");
  expect(shown("Allowed once")).toHaveLength(1);
  expect(shown("Nothing of that id")).toHaveLength(1);
  expect(shown("Refused")).toHaveLength(0);
}

/** A choice that the agent offers is answered with a button, and heard once although it is sent twice. */
export async function choosesOnce<Message>(
  daemon: Daemon,
  { shown, answer }: SeenRoom<Message>,
  act: {
    /** Says something that the agent hears. */
    say(text: string): unknown;
    labelsOf(question: Message): readonly string[];
    pressTwice(question: Message, label: string): string;
  },
): Promise<void> {
  act.say("offer");
  const question = await answer("Tea or coffee?");
  expect(act.labelsOf(question)).toEqual(["Tea", "Coffee"]);
  const pressed = act.pressTwice(question, "Coffee");
  expect(await daemon.decided(pressed)).toMatchObject({ decision: "engage" });
  await answer("You chose: Coffee");
  act.say("and that was all");
  await answer("and that was all");
  expect(shown("You chose: Coffee")).toHaveLength(1);
}
