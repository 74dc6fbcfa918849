/**
 * What an answer has besides text
 * ===============================
 * A file (picture, document, voice, audio, video) or choices (buttons, a poll). An agent asks for it;
 * the runtime turns the request into a part of the answer that has the same place in the order, the
 * outbox and the outcome as a text. Each part also has a text: what the transcript keeps, and what a
 * channel sends that has no files or no buttons.
 */
import { z } from "zod";
import { limits } from "./limits.ts";
import { cut, oneLine } from "./sanitize.ts";

export const outgoingKinds = ["image", "file", "voice", "audio", "video"] as const;
export type OutgoingKind = (typeof outgoingKinds)[number];

const caption = z.string().trim().max(limits.captionUnitsMax);
const option = z
  .string()
  .trim()
  .min(1)
  .max(limits.choiceUnitsMax)
  .regex(/^[^\r\n]*$/u, "one line");

/** A file that an agent asks to send. */
export const mediaRequestSchema = z.strictObject({
  source: z
    .string()
    .trim()
    .min(1)
    .max(4_096)
    .describe("A path in your workspace, or an http or https address."),
  kind: z
    .enum(outgoingKinds)
    .optional()
    .describe("How it is shown. Left out: by its content; `voice` is a voice message (Ogg)."),
  name: z.string().trim().min(1).max(120).optional().describe("Its name in the room."),
  caption: caption.optional(),
});
export type MediaAsked = z.infer<typeof mediaRequestSchema>;

/** Choices that an agent asks to offer. */
export const choicesSchema = z.strictObject({
  text: z.string().trim().min(1).max(limits.questionUnitsMax).describe("The question."),
  options: z
    .array(option)
    .min(1)
    .max(limits.choicesCountMax)
    .refine((list) => new Set(list).size === list.length, "the same option twice")
    .describe("Labels. A pressed one comes back as a message with that text."),
  poll: z.boolean().optional().describe("A poll: everybody may vote, nothing comes back."),
});

/** The file of a part, copied when it was asked for, so that a later change or restart loses nothing. */
export const outgoingMediaSchema = z.strictObject({
  kind: z.enum(outgoingKinds),
  /** Name of the stored copy. */
  file: z.string().regex(/^[a-z0-9]{1,64}$/),
  name: z.string().min(1).max(limits.labelUnitsMax),
  mime: z.string().min(1).max(256),
  bytes: z.number().int().min(0),
  caption,
  /** The address that it was fetched from. */
  url: z.string().max(4_096).exactOptional(),
});
export type OutgoingMedia = z.infer<typeof outgoingMediaSchema>;

export const outgoingChoicesSchema = z.strictObject({
  text: choicesSchema.shape.text,
  options: z.array(option).min(1).max(limits.choicesCountMax),
  poll: z.literal(true).exactOptional(),
});
export type OutgoingChoices = z.infer<typeof outgoingChoicesSchema>;

/** At most one of them. */
export interface Extras {
  readonly media?: OutgoingMedia;
  readonly choices?: OutgoingChoices;
}

/** The text of a part with a file: its caption, and where the file is or what it is called. */
export function mediaText({ kind, name, caption, url }: Omit<OutgoingMedia, "file">): string {
  const where = url ?? `[${kind}: ${oneLine(name)}]`;
  return caption === "" ? where : `${caption}\n${where}`;
}

/** The text of choices: the question, and the options numbered. */
export function choicesText({ text, options }: OutgoingChoices): string {
  const list = options.map((label, index) => `${index + 1}. ${label}`);
  return cut(`${text}\n${list.join("\n")}`, limits.textUnitsMax);
}

/** The extras of something that may have them, and nothing else. */
export function extrasOf({ media, choices }: Extras): Extras {
  return {
    ...(media === undefined ? {} : { media }),
    ...(choices === undefined ? {} : { choices }),
  };
}
