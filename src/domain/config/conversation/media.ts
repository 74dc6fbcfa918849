/**
 * `media`: attachments
 * ====================
 * Metadata until needed. A converter turns one kind into text (or text into speech); without one a
 * placeholder with name, type and size is shown. `pass` hands a picture to a model that takes it.
 *
 * A more specific place replaces a converter whole: half of one program and half of another would
 * be neither.
 */
import { z } from "zod";
import { count, label, positiveMs, section, text } from "./section.ts";

/** Stands in the arguments of a program for the file it works on. */
export const filePlaceholder = "{file}";

const argument = z
  .string()
  .max(65_536)
  .refine((given) => given === filePlaceholder || !given.includes(filePlaceholder), {
    message: `"${filePlaceholder}" must be an argument of its own`,
  });

/** A program on this machine. It is started without a shell. */
const programFields = {
  command: z
    .string()
    .min(1)
    .max(4_096)
    .regex(
      /^(?:[^/\\]+|\/.*|[A-Za-z]:[/\\].*)$/u,
      "the name of a program on the PATH, or a full path",
    )
    .describe("On the PATH, or an absolute path."),
  args: z
    .array(argument)
    .max(256)
    .refine((args) => args.includes(filePlaceholder), {
      message: `one of them must be "${filePlaceholder}", which stands for the file`,
    })
    .describe("Fixed; `{file}` stands for the file."),
  env: z
    .array(z.string().regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/u, "the name of a variable"))
    .max(100)
    .default([])
    .describe("Environment variables it may see besides PATH, HOME, LANG and TZ."),
};
/** Reads the file and prints what it is in words. */
const command = z.strictObject({ kind: z.literal("command"), ...programFields });

const endpoint = {
  kind: z.literal("model"),
  baseUrl: z
    .url({ protocol: /^https?$/u })
    .describe("Of an OpenAI-compatible server, for example http://127.0.0.1:8080/v1."),
  model: label.describe("Its name there."),
  apiKey: z.string().min(1).optional().describe("Its key, better as the name of a variable."),
  prompt: text.optional().describe("What is asked of the model besides the file."),
};
const audioModel = z.strictObject({
  ...endpoint,
  language: label
    .optional()
    .describe("Spoken language, for example `en`; left out: the model tells."),
});
const imageModel = z.strictObject(endpoint);
const videoModel = z.strictObject({
  ...endpoint,
  frame: z
    .strictObject(programFields)
    .describe(
      "Prints one frame of the file as a picture, as `ffmpeg` does with `-f image2pipe -`.",
    ),
});

const links = z.strictObject({
  kind: z.literal("extract"),
  countMax: count(1, 10).default(3).describe("Links of one message that are looked at."),
  extractChars: count(0, 10_000).default(800).describe("Of the text that is shown of each."),
});
const speech = z.strictObject({
  kind: z.literal("command"),
  ...programFields,
  mime: label.default("audio/ogg").describe("Of the file it writes."),
});

const byKind = <
  Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  ...options: Options
) => z.discriminatedUnion("kind", options);

export const media = section(
  {
    maxBytes: count(1, 1_073_741_824).describe("Fetching stops here."),
    timeoutMs: positiveMs.describe("For fetching, and again for converting."),
    storeBytesMax: count(1_048_576, Number.MAX_SAFE_INTEGER).describe(
      "Fetched files are kept up to this size in all; the oldest go first.",
    ),
    audio: byKind(audioModel, command).nullable().describe("Turns speech into words."),
    image: z
      .union([z.literal("pass"), byKind(imageModel, command)])
      .nullable()
      .describe("`pass`: the agent sees pictures itself; else what puts them into words."),
    video: byKind(videoModel, command).nullable().describe("Puts a video into words."),
    links: byKind(links)
      .nullable()
      .describe("Title and beginning of the pages that a message links to."),
    speech: byKind(speech)
      .nullable()
      .describe(
        "Says answers aloud. The text comes on its standard input, `{file}` is where it writes.",
      ),
  },
  {
    maxBytes: 20_971_520,
    timeoutMs: 30_000,
    storeBytesMax: 1_073_741_824,
    audio: null,
    image: "pass",
    video: null,
    links: null,
    speech: null,
  },
);

/** What the config says about media, for one conversation. */
export type MediaSettings = z.output<typeof media.whole>;
/** A program that reads or writes a media file. */
export type MediaProgram = Pick<z.output<typeof command>, "command" | "args" | "env">;
export type ImageConverter = Exclude<NonNullable<MediaSettings["image"]>, "pass">;
export type SpeechConverter = NonNullable<MediaSettings["speech"]>;
