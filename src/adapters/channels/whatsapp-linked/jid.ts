/**
 * Addresses
 * =========
 * Of a person, by number or by an id without one, or of a group.
 */

export const numberServer = "s.whatsapp.net";
export const groupServer = "g.us";
export const lidServer = "lid";

export interface Jid {
  /** Without the device. */
  readonly user: string;
  readonly server: string;
}

/** An address of WhatsApp's, without the device: `15550109999:7@s.whatsapp.net`. */
export function jidOf(address: string): Jid {
  const [before = "", server = ""] = address.split("@");
  return { user: before.split(/[:_]/)[0] ?? "", server };
}
