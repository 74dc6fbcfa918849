/**
 * The text and the files of a message
 * ===================================
 * What is no text becomes a line in brackets, so that an agent knows of it.
 */
import { limits } from "../../../domain/limits.ts";
import type { Attachment } from "../../../domain/message.ts";
import { cut, oneLine } from "../../../domain/sanitize.ts";
import { listLabel } from "./choices.ts";
import type { WhatsAppContent } from "./wire.ts";

const media = ["image", "audio", "video", "document", "sticker"] as const;
const attachmentKinds = {
  image: "image",
  audio: "audio",
  video: "video",
  document: "file",
  sticker: "image",
} as const satisfies Record<(typeof media)[number], Attachment["kind"]>;

export interface Content {
  readonly text: string;
  readonly attachments: readonly Attachment[];
  /** The person pressed or chose something instead of writing. */
  readonly isKnown: boolean;
}

export function contentOf(message: WhatsAppContent): Content {
  const attachments = media.flatMap((kind) => {
    const file = message[kind];
    if (file === undefined) return [];
    const { id, mime_type: mime, filename: name } = file;
    return [
      {
        id,
        kind: attachmentKinds[kind],
        ...(mime !== undefined && { mime }),
        ...(name !== undefined && { name }),
      },
    ];
  });
  const caption = media.flatMap((kind) => message[kind]?.caption ?? []).join("\n");
  const lines = [
    message.text?.body,
    caption === "" ? undefined : caption,
    message.button?.text,
    ...interactiveOf(message),
    locationOf(message),
    ...(message.contacts ?? []).map(contactOf),
    ...orderOf(message),
    referralOf(message),
  ].filter((line) => line !== undefined);
  const isKnown = lines.length > 0 || attachments.length > 0;
  const text = isKnown ? lines.join("\n") : unknownOf(message.type);
  return { text: cut(text, limits.textUnitsMax), attachments, isKnown };
}

const shown = (text: string) => oneLine(text, 500);

function interactiveOf({ interactive }: WhatsAppContent): (string | undefined)[] {
  if (interactive === undefined) return [];
  const { button_reply, list_reply, nfm_reply } = interactive;
  return [
    button_reply?.title,
    list_reply === undefined ? undefined : listLabel(list_reply),
    nfm_reply === undefined ? undefined : `[form: ${shown(nfm_reply.response_json ?? "")}]`,
  ];
}

function locationOf({ location }: WhatsAppContent): string | undefined {
  if (location === undefined) return undefined;
  const { latitude, longitude, name, address } = location;
  const named = [name, address].flatMap((part) => (part ? [shown(part)] : []));
  return `[location: ${[...named, `${latitude}, ${longitude}`].join(", ")}]`;
}

function contactOf({ name, phones }: NonNullable<WhatsAppContent["contacts"]>[number]): string {
  const numbers = (phones ?? []).flatMap(({ phone }) => phone ?? []);
  const parts = [name?.formatted_name ?? "unnamed", ...numbers];
  return `[contact: ${parts.map(shown).join(", ")}]`;
}

function orderOf({ order }: WhatsAppContent): (string | undefined)[] {
  if (order === undefined) return [];
  const items = (order.product_items ?? []).map(
    ({ product_retailer_id, quantity }) => `${quantity ?? 1} × ${shown(product_retailer_id)}`,
  );
  return [order.text === "" ? undefined : order.text, `[order: ${items.join(", ")}]`];
}

function referralOf({ referral }: WhatsAppContent): string | undefined {
  if (referral === undefined) return undefined;
  return `[came from an advertisement: ${shown(referral.headline ?? referral.source_url ?? "")}]`;
}

function unknownOf(type: string): string {
  if (type === "request_welcome") return "[opened the chat]";
  return type === "unsupported" || type === "unknown"
    ? "[a message that WhatsApp does not pass on to businesses]"
    : `[a message of the kind ${shown(type)}]`;
}
