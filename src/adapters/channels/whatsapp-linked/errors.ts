/**
 * Why a connection ended and why something was not sent, with the disposition that the gateway and the
 * outbox act on. Codes: DisconnectReason of the library (lib/Types/index.d.ts), and the error attributes
 * of WhatsApp's acknowledgements (lib/Utils/decode-wa-message.js).
 */
import { EarshotError } from "../../../domain/errors.ts";

const command = "earshot channels link whatsapp-linked";

/** WhatsApp asks to connect again; it is no failure. */
export const restartCode = 515;

export const loggedOutCode = 401;

const ends: Readonly<Record<number, string>> = {
  401: `WhatsApp has logged this device out. Link it again: ${command}`,
  403: "WhatsApp has blocked this number. Open WhatsApp on the phone: it says for how long and why",
  405: "WhatsApp does not accept this version of the library any more. Install a newer baileys",
  411: `the account cannot have linked devices as it is. Update WhatsApp on the phone, then: ${command}`,
  440:
    "another program took this device's place: it has the same keys. End it, or give one of them a link " +
    `of its own: ${command}. Then: earshot channels retry whatsapp-linked`,
};

/** @returns an error that halts the account, or one that means to try again. */
export function endError(code: number | null): EarshotError {
  const why = code === null ? undefined : ends[code];
  return why === undefined
    ? new EarshotError(
        "EAR_CHANNEL_UNAVAILABLE",
        `Cannot stay connected to WhatsApp: the connection ended${code === null ? "" : ` (${code})`}`,
      )
    : new EarshotError("EAR_CHANNEL_AUTH", `Cannot connect to WhatsApp: ${why}`);
}

export const notLinked = (): EarshotError =>
  new EarshotError(
    "EAR_CHANNEL_UNAVAILABLE",
    `Cannot connect to WhatsApp: this account is not linked yet. Run: ${command}`,
  );

export const otherNumber = (linked: string, wanted: string): EarshotError =>
  new EarshotError(
    "EAR_CHANNEL_AUTH",
    `Cannot connect to WhatsApp: it is linked to +${linked}, and the config says +${wanted}. Correct ` +
      `the number in the config, or link the other one: ${command}`,
  );

/** WhatsApp took a message and said no. */
export function refusal(code: string): EarshotError {
  const why: Readonly<Record<string, string>> = {
    463: "the account may start no new chats at present. Write to this person from the phone first",
    479: "the message has a form that WhatsApp does not take",
  };
  return new EarshotError(
    code === "429" ? "EAR_CHANNEL_RATE" : "EAR_CHANNEL_REJECTED",
    `Cannot send a message at WhatsApp: it was refused (${code.replace(/\W/g, "").slice(0, 16)})` +
      `${why[code] === undefined ? "" : `: ${why[code]}`}`,
    code === "429" ? { retryAfterMs: 60_000 } : {},
  );
}
