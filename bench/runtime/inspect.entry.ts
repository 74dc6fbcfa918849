/** What a host steps conversations with, as inspect.bench.ts bundles it: once whole, once without. */
export { createConversation } from "../../src/actors/host/conversation-actor.ts";
export { createHostCore } from "../../src/actors/host/conversation-host.ts";
export { settingsFor } from "../../src/actors/host/conversation-settings.ts";
