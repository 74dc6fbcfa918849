/**
 * A business phone number at WhatsApp's Cloud API. docs/channels/whatsapp.md describes how to get one.
 * This file assembles the parts, one file each (wire format, normalising, the gateway, the hook, sending,
 * files, choices, errors).
 */
import { EarshotError } from "../../../domain/errors.ts";
import { type ChannelAccount, defineChannel } from "../../../domain/ports/index.ts";
import { openWhatsAppApi } from "./api.ts";
import { type WhatsAppAccountConfig, whatsappFacts } from "./config.ts";
import { WhatsAppGateway, whoAmI } from "./gateway.ts";
import { createWhatsAppHook } from "./hook.ts";
import { fetchFile } from "./media.ts";
import { createWhatsAppOutbound } from "./outbound.ts";
import { WhatsAppPeople } from "./people.ts";

export const whatsappChannel = defineChannel<WhatsAppAccountConfig>({
  ...whatsappFacts,
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
