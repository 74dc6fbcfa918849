/** Configs of twelve agents with their bindings, and messages that are routed by them. */
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";
import { type Inbound, type InboundInput, inboundSchema } from "../../../src/domain/message.ts";
import { routingWarnings } from "../../../src/machines/routing/routing.ts";

export type Binding = NonNullable<EarshotConfigInput["bindings"]>[number];

/** What is warned of, as it is shown. */
export const warningsOf = (config: Parameters<typeof routingWarnings>[0]) =>
  routingWarnings(config).map(findingText);

const agents = { list: Array.from({ length: 12 }, (_, n) => ({ id: `a${n}` })) };
export const config = (given: EarshotConfigInput = {}) => parseConfig({ agents, ...given });
export const message = (given: Partial<InboundInput> = {}): Inbound =>
  inboundSchema.parse({
    channel: "telegram",
    chat: { id: "-1", kind: "group" },
    id: "m1",
    author: { id: "u1" },
    text: "hi",
    ...given,
  });
export const bind = (match: Binding["match"], n: number): Binding => ({ match, agentId: `a${n}` });
