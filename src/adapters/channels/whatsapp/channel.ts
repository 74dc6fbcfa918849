/**
 * A business phone number at WhatsApp's Cloud API. docs/channels/whatsapp.md describes how to get one.
 * This file assembles the parts, one file each (wire format, normalising, the gateway, the hook, sending,
 * files, choices, errors).
 */
import type { z } from "zod";
import { EarshotError } from "../../../domain/errors.ts";
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import { whatsappTextLimit } from "../shared/whatsapp-marks.ts";
import { openWhatsAppApi } from "./api.ts";
import { type WhatsAppAccountConfig, whatsappAccountSchema } from "./config.ts";
import { WhatsAppGateway, whoAmI } from "./gateway.ts";
import { createWhatsAppHook } from "./hook.ts";
import { fetchFile } from "./media.ts";
import { createWhatsAppOutbound } from "./outbound.ts";
import { WhatsAppPeople } from "./people.ts";

export const whatsappChannel = defineChannel<WhatsAppAccountConfig>({
  id: "whatsapp",
  meta: { name: "WhatsApp", description: "A WhatsApp number of a business (Cloud API)" },
  capabilities: {
    edits: false,
    deletes: false,
    reactions: true,
    typing: true,
    threads: false,
    membership: false,
    history: false,
    media: true,
    mentions: "text",
    replyAuthor: true,
    botFlag: false,
  },
  textLimit: whatsappTextLimit,
  // It ends after 25 s.
  typingIntervalMs: 20_000,
  accountSchema: whatsappAccountSchema as z.ZodType<WhatsAppAccountConfig>,
  setup: {
    steps: [
      "At https://developers.facebook.com/apps, create a business app and add WhatsApp to it.",
      "Under WhatsApp, API Setup, copy the phone number id. Under App settings, Basic, copy the app secret.",
      "In the Business settings, create a system user, give it the app and the account, and generate a token with whatsapp_business_messaging.",
      "After earshot has started: under WhatsApp, Configuration, enter https://<address>/hooks/whatsapp/<account> and the verify token, and subscribe to messages.",
    ],
    fields: [
      { name: "phoneNumberId", label: "Phone number id", secret: null, isOptional: false },
      {
        name: "accessToken",
        label: "Access token",
        secret: "WHATSAPP_ACCESS_TOKEN",
        isOptional: false,
      },
      { name: "appSecret", label: "App secret", secret: "WHATSAPP_APP_SECRET", isOptional: false },
      {
        name: "verifyToken",
        label: "Verify token",
        secret: "WHATSAPP_VERIFY_TOKEN",
        isOptional: false,
        hint: "any text of yours, entered at Meta as well",
      },
    ],
  },
  local: false,
  chatKind: (id) =>
    /^(\d{5,20}|[A-Z]{2}\.(ENT\.)?\w{1,128})(\/next)?$/.test(id) ? "direct" : null,
  open(context): ChannelAccount {
    const { config, log } = context;
    const api = openWhatsAppApi(config);
    const people = new WhatsAppPeople();
    let gateway: WhatsAppGateway | null = null;
    return {
      start(signal) {
        gateway = new WhatsAppGateway(api, context, people, signal);
        return gateway.run();
      },
      hook: createWhatsAppHook(config, log, async (body) => {
        if (gateway !== null) return gateway.take(body);
        throw new EarshotError(
          "EAR_CHANNEL_UNAVAILABLE",
          "Cannot accept messages: the account has not started. Send them again",
        );
      }),
      outbound: createWhatsAppOutbound(api, config, people),
      downloadMedia: (id, signal) => fetchFile(api, config, id, signal),
      async identify(signal) {
        const { display_phone_number, verified_name } = await whoAmI(
          api,
          config.phoneNumberId,
          signal,
        );
        const name = verified_name ?? display_phone_number;
        return { id: config.phoneNumberId, name: `${name} (${display_phone_number})` };
      },
    };
  },
});
