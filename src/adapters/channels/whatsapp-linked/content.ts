/**
 * The text and the files of a message
 * ===================================
 * What is no text becomes a line in brackets, so that an agent knows of it.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment } from "../../../domain/message.ts";
import { cut, oneLine } from "../../../domain/sanitize.ts";
import { type StoredFile, storedFileSchema } from "./media.ts";
import type { WireContent, WireContext, WireFile } from "./wire.ts";

export interface Content {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  readonly context: WireContext | undefined;
  /** Where its file is. */
  readonly stored: StoredFile | null;
  /** False: of a kind that is not read. */
  readonly isKnown: boolean;
}

const files = [
  ["imageMessage", "image"],
  ["videoMessage", "video"],
  ["ptvMessage", "video"],
  ["audioMessage", "audio"],
  ["documentMessage", "file"],
  ["stickerMessage", "image"],
] as const satisfies readonly (readonly [keyof WireContent, Attachment["kind"]])[];

/** The file of a message with its kind; undefined: it has none. */
function fileOf(content: WireContent): [WireFile, Attachment["kind"]] | undefined {
  for (const [name, kind] of files) {
    const file = content[name];
    if (file !== undefined) return [file, kind];
  }
  return undefined;
}

/** @param id of the message, under which its file is found */
export function contentOf(id: string, content: WireContent): Content {
  const { extendedTextMessage: extended, locationMessage: place, contactMessage: person } = content;
  const [file, kind] = fileOf(content) ?? [];
  const poll =
    content.pollCreationMessage ?? content.pollCreationMessageV2 ?? content.pollCreationMessageV3;
  const lines = [
    content.conversation || extended?.text || file?.caption,
    place && placeText(place),
    person && `[contact: ${shown(person.displayName ?? "")}]`,
    poll && pollText(poll),
  ].filter((line): line is string => line !== undefined && line !== "");
  const attachments: Attachment[] =
    file === undefined || kind === undefined ? [] : [attachmentOf(id, file, kind)];
  const stored = file === undefined ? null : storedOf(content, file);
  const isKnown = lines.length > 0 || attachments.length > 0;
  const text = isKnown ? lines.join("\n") : "[a message of a kind that earshot does not read]";
  const context =
    extended?.contextInfo ??
    file?.contextInfo ??
    place?.contextInfo ??
    person?.contextInfo ??
    poll?.contextInfo;
  return { text: cut(text, limits.textUnitsMax), attachments, context, stored, isKnown };
}

const shown = (text: string) => oneLine(text, 500);

function storedOf(content: WireContent, { mediaKey, directPath }: WireFile): StoredFile | null {
  const names = {
    image: content.imageMessage,
    audio: content.audioMessage,
    document: content.documentMessage,
    sticker: content.stickerMessage,
  } as const;
  const [kind = "video"] = Object.entries(names).find(([, file]) => file !== undefined) ?? [];
  const key = mediaKey === undefined ? "" : Buffer.from(mediaKey).toString("base64");
  return storedFileSchema.safeParse({ kind, key, path: directPath }).data ?? null;
}

function attachmentOf(id: string, file: WireFile, kind: Attachment["kind"]): Attachment {
  const { mimetype: mime, fileName: name, fileLength: bytes } = file;
  return {
    id,
    kind,
    ...(mime !== undefined && { mime }),
    ...(name !== undefined && { name }),
    ...(bytes !== undefined && { bytes }),
  };
}

function placeText(place: NonNullable<WireContent["locationMessage"]>): string {
  const name = place.name === undefined ? "" : ` ${shown(place.name)}`;
  return `[location:${name} ${place.degreesLatitude}, ${place.degreesLongitude}]`;
}

function pollText({ name, options }: NonNullable<WireContent["pollCreationMessage"]>): string {
  const choices = (options ?? []).map(({ optionName }) => shown(optionName ?? ""));
  return [`[poll] ${shown(name ?? "")}`, ...choices.map((choice) => `- ${choice}`)].join("\n");
}
