/**
 * What Meta posts and answers
 * ===========================
 * https://developers.facebook.com/documentation/business-messaging/whatsapp/webhooks/reference/messages
 * Ids and texts are bounded here; unknown keys are dropped. Since usernames exist, a person's number may
 * be missing: then there is only the id that the person has for this business.
 */
import { z } from "zod";
import { limits } from "../../../domain/limits.ts";

const id = z.string().min(1).max(limits.idUnitsMax);
const label = z.string().max(limits.labelUnitsMax);
const text = z.string().max(limits.textUnitsMax);

const mediaSchema = z.object({
  id,
  mime_type: label.optional(),
  caption: text.optional(),
  filename: label.optional(),
  voice: z.boolean().optional(),
});

const errorSchema = z.object({
  code: z.number().int(),
  title: label.optional(),
  message: label.optional(),
  error_data: z.object({ details: label.optional() }).optional(),
});
export type WhatsAppProblem = z.infer<typeof errorSchema>;

const choiceSchema = z.object({ id: id.optional(), title: label, description: label.optional() });

const contentSchema = z.object({
  type: label,
  context: z
    .object({
      id: id.optional(),
      from: id.optional(),
      from_user_id: id.optional(),
      forwarded: z.boolean().optional(),
      frequently_forwarded: z.boolean().optional(),
      referred_product: z.object({ product_retailer_id: label.optional() }).optional(),
    })
    .nullish(),
  text: z.object({ body: text }).optional(),
  image: mediaSchema.optional(),
  audio: mediaSchema.optional(),
  video: mediaSchema.optional(),
  document: mediaSchema.optional(),
  sticker: mediaSchema.optional(),
  location: z
    .object({
      latitude: z.number(),
      longitude: z.number(),
      name: label.optional(),
      address: label.optional(),
    })
    .optional(),
  contacts: z
    .array(
      z.object({
        name: z.object({ formatted_name: label.optional() }).optional(),
        phones: z
          .array(z.object({ phone: label.optional() }))
          .max(50)
          .optional(),
      }),
    )
    .max(256)
    .optional(),
  button: z.object({ text: label }).optional(),
  interactive: z
    .object({
      type: label.optional(),
      button_reply: choiceSchema.optional(),
      list_reply: choiceSchema.optional(),
      nfm_reply: z.object({ name: label.optional(), response_json: text.optional() }).optional(),
    })
    .optional(),
  order: z
    .object({
      text: text.optional(),
      product_items: z
        .array(z.object({ product_retailer_id: label, quantity: z.coerce.number().optional() }))
        .max(100)
        .optional(),
    })
    .optional(),
  referral: z.object({ headline: label.optional(), source_url: label.optional() }).optional(),
});
export type WhatsAppContent = z.infer<typeof contentSchema>;

export const messageSchema = contentSchema.extend({
  id,
  from: id.optional(),
  from_user_id: id.optional(),
  group_id: id.optional(),
  /** Seconds since the epoch. */
  timestamp: z.string().regex(/^\d{1,12}$/),
  reaction: z.object({ message_id: id, emoji: z.string().max(64).nullish() }).optional(),
  system: z
    .object({
      type: label.optional(),
      wa_id: id.optional(),
      /** Up to v11 and in some later payloads. */
      new_wa_id: id.optional(),
      user_id: id.optional(),
      previous_user_id: id.optional(),
    })
    .optional(),
  edit: z.object({ original_message_id: id, message: contentSchema }).optional(),
  revoke: z.object({ original_message_id: id }).optional(),
});
export type WhatsAppMessage = z.infer<typeof messageSchema>;

export const statusSchema = z.object({
  id,
  status: label,
  recipient_id: id.optional(),
  errors: z.array(errorSchema).max(20).optional(),
});

/** The list entries are read one by one, so that a broken one does not hide the others. */
export const valueSchema = z.object({
  metadata: z.object({ phone_number_id: id, display_phone_number: label.optional() }),
  contacts: z
    .array(
      z.object({
        wa_id: id.optional(),
        user_id: id.optional(),
        profile: z.object({ name: label.optional(), username: label.optional() }).optional(),
      }),
    )
    .max(1_000)
    .catch([])
    .optional(),
  messages: z.array(z.unknown()).max(1_000).optional(),
  statuses: z.array(z.unknown()).max(1_000).optional(),
  errors: z.array(errorSchema).max(100).optional(),
});
export type WhatsAppValue = z.infer<typeof valueSchema>;

export const postedSchema = z.object({
  object: z.literal("whatsapp_business_account"),
  entry: z
    .array(
      z.object({
        changes: z.array(z.object({ field: label, value: z.unknown().optional() })).max(1_000),
      }),
    )
    .max(1_000),
});

export const sentSchema = z.object({ messages: z.array(z.object({ id })).min(1) });
export const okSchema = z.object({ success: z.literal(true) });
export const numberSchema = z.object({
  id,
  display_phone_number: label,
  verified_name: label.optional(),
});
export const uploadSchema = z.object({ id });
export const mediaUrlSchema = z.object({ url: z.url().max(limits.labelUnitsMax) });
/** https://developers.facebook.com/documentation/business-messaging/whatsapp/support/error-codes */
export const refusalSchema = z.object({
  error: z.object({
    code: z.number().int(),
    is_transient: z.boolean().optional(),
  }),
});
