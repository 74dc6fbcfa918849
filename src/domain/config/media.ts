/**
 * `media`: attachments
 * ====================
 * Metadata until needed. A converter turns one kind into text (or text into speech); without one a
 * placeholder with name, type and size is shown. `pass` hands the file to a model that takes it.
 */
import { z } from "zod";
import { count, label, positiveMs, section } from "./section.ts";

const converter = z.union([z.literal("pass"), z.looseObject({ kind: label })]).nullable();

export const media = section(
  {
    /** Fetching stops here. */
    maxBytes: count(1, 1_073_741_824),
    timeoutMs: positiveMs,
    audio: converter,
    image: converter,
    video: converter,
    links: converter,
    speech: converter,
  },
  {
    maxBytes: 20_971_520,
    timeoutMs: 30_000,
    audio: null,
    image: "pass",
    video: null,
    links: null,
    speech: null,
  },
);
