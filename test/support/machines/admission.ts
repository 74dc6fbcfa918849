/** A message that is judged under a config: whether it is admitted, and what is said of it. */
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { admit } from "../../../src/machines/access/admission.ts";

export type Access = NonNullable<EarshotConfigInput["access"]>;
export const remote = { local: false };
export const place = { channel: "telegram", account: "default", thread: null };
export const group = { id: "-1", kind: "group" as const };
export const direct = (id: string) => ({ id, kind: "direct" as const });
export const message = (given: Partial<InboundInput> = {}): Inbound =>
  inboundSchema.parse({ ...place, chat: group, id: "m", author: { id: "u1" }, ...given });
export const judge = (
  access: Access,
  given: Partial<InboundInput> = {},
  more: EarshotConfigInput = {},
) => admit({ type: "message", message: message(given) }, parseConfig({ access, ...more }), remote);
export const admitted = (
  access: Access,
  given: Partial<InboundInput> = {},
  more: EarshotConfigInput = {},
) => judge(access, given, more).decision === null;
