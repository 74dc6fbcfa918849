/**
 * Buttons and lists
 * =================
 * Up to three short options are reply buttons, up to ten are a list; WhatsApp has no polls, and neither
 * in groups. A choice comes back as a message of the person that replies to the question. Limits:
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/messages/interactive-reply-buttons-messages
 * and .../interactive-list-messages.
 */
import type { OutgoingChoices } from "../../../domain/outgoing.ts";

/** At the start of the ids of our buttons and rows. */
const mark = "earshot:";
const buttonsCountMax = 3;
const buttonUnitsMax = 20;
const rowUnitsMax = 24;
const rowsCountMax = 10;
const questionUnitsMax = 1_024;

/** The interactive message; null: there is none for these. `question` has WhatsApp's marks. */
export function interactiveOf(
  { options, poll }: OutgoingChoices,
  question: string,
): Readonly<Record<string, unknown>> | null {
  if (poll === true || question === "" || question.length > questionUnitsMax) return null;
  const body = { text: question };
  const id = (index: number) => `${mark}${index}`;
  if (options.length <= buttonsCountMax && options.every((label) => label.length <= buttonUnitsMax))
    return {
      type: "button",
      body,
      action: {
        buttons: options.map((title, index) => ({
          type: "reply",
          reply: { id: id(index), title },
        })),
      },
    };
  if (options.length > rowsCountMax) return null;
  const rows = options.map((label, index) =>
    label.length <= rowUnitsMax
      ? { id: id(index), title: label }
      : { id: id(index), title: `${cutTitle(label)}…`, description: label },
  );
  return { type: "list", body, action: { button: "Choose", sections: [{ rows }] } };
}

/** Not within a character. */
const cutTitle = (label: string) => {
  const cut = label.slice(0, rowUnitsMax - 1);
  return /[\ud800-\udbff]$/.test(cut) ? cut.slice(0, -1) : cut;
};

/** The label of a row that was chosen. */
export function listLabel({
  id = "",
  title,
  description,
}: {
  id?: string | undefined;
  title: string;
  description?: string | undefined;
}): string {
  return id.startsWith(mark) && description !== undefined ? description : title;
}
