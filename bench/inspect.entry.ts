/** What a host steps conversations with, as inspect.bench.ts bundles it: once whole, once without. */
export { createConversation } from "../src/actors/conversation.ts";
export { createHostCore } from "../src/actors/host-core.ts";
export { settingsFor } from "../src/actors/host-settings.ts";
