/**
 * By default an attachment is only described. A converter turns one kind into text (or text into
 * speech); without one, the agent sees a placeholder with name, type and size. `pass` gives images
 * to a model that accepts them.
 *
 * A more specific level replaces a converter as a whole: parts of two programs do not make one.
 */
import { z } from "zod";
import { count, label, positiveMs, section, text } from "./section.ts";

/** Placeholder for the file in a program's arguments. */
export const filePlaceholder = "{file}";

const argument = z
  .string()
  .max(65_536)
  .refine((given) => given === filePlaceholder || !given.includes(filePlaceholder), {
    message: `"${filePlaceholder}" must be an argument of its own`,
  });

/** A program on this machine, started without a shell. */
const programFields = {
  command: z
    .string()
    .min(1)
    .max(4_096)
    .regex(
      /^(?:[^/\\]+|\/.*|[A-Za-z]:[/\\].*)$/u,
      "expected the name of a program on the PATH, or a full path",
    )
    .describe("On the PATH, or an absolute path."),
  args: z
    .array(argument)
    .max(256)
    .refine((args) => args.includes(filePlaceholder), {
      message: `one argument must be "${filePlaceholder}", the placeholder of the file`,
    })
    .describe("Its arguments; `{file}` is replaced by the file's path."),
  env: z
    .array(
      z
        .string()
        .regex(/^[A-Za-z_][A-Za-z0-9_]{0,127}$/u, "expected the name of an environment variable"),
    )
    .max(100)
    .default([])
    .describe("Environment variables passed to it besides PATH, HOME, LANG and TZ."),
};
/** Reads the file and prints its content as text. */
const command = z.strictObject({ kind: z.literal("command"), ...programFields });

const endpoint = {
  kind: z.literal("model"),
  baseUrl: z
    .url({ protocol: /^https?$/u })
    .describe("URL of an OpenAI-compatible server, for example http://127.0.0.1:8080/v1."),
  model: label.describe("The model's name there."),
  apiKey: z
    .string()
    .min(1)
    .optional()
    .describe("The server's key, preferably from an environment variable."),
  prompt: text.optional().describe("The instruction sent to the model with the file."),
};
const audioModel = z.strictObject({
  ...endpoint,
  language: label
    .optional()
    .describe("Spoken language, for example `en`. Left out: the model detects it."),
});
const imageModel = z.strictObject(endpoint);
const videoModel = z.strictObject({
  ...endpoint,
  frame: z
    .strictObject(programFields)
    .describe("Prints one frame of the file as an image, as `ffmpeg` does with `-f image2pipe -`."),
});

const links = z.strictObject({
  kind: z.literal("extract"),
  countMax: count(1, 10).default(3).describe("Links of one message that are read."),
  extractChars: count(0, 10_000).default(800).describe("Characters shown of each page."),
});
const speech = z.strictObject({
  kind: z.literal("command"),
  ...programFields,
  mime: label.default("audio/ogg").describe("Type of the file it writes."),
});

const byKind = <
  Options extends readonly [z.core.$ZodTypeDiscriminable, ...z.core.$ZodTypeDiscriminable[]],
>(
  ...options: Options
) => z.discriminatedUnion("kind", options);

export const media = section(
  {
    maxBytes: count(1, 1_073_741_824).describe("Largest file that is downloaded."),
    timeoutMs: positiveMs.describe("Time limit for downloading a file, and for converting it."),
    storeBytesMax: count(1_048_576, Number.MAX_SAFE_INTEGER).describe(
      "Total size of the file cache. The oldest files are deleted first.",
    ),
    audio: byKind(audioModel, command).nullable().describe("Transcribes speech."),
    image: z
      .union([z.literal("pass"), byKind(imageModel, command)])
      .nullable()
      .describe(
        "`pass` gives images to the agent as they are; anything else describes them in text.",
      ),
    video: byKind(videoModel, command).nullable().describe("Describes a video."),
    links: byKind(links).nullable().describe("Adds the title and beginning of linked pages."),
    speech: byKind(speech)
      .nullable()
      .describe("Speaks answers. The program gets the text on stdin and writes audio to `{file}`."),
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

export type MediaSettings = z.output<typeof media.whole>;
/** A program that reads or writes a media file. */
export type MediaProgram = Pick<z.output<typeof command>, "command" | "args" | "env">;
export type ImageConverter = Exclude<NonNullable<MediaSettings["image"]>, "pass">;
export type SpeechConverter = NonNullable<MediaSettings["speech"]>;
