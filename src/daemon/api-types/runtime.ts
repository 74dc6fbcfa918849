/**
 * What the API shows of the runtime, as the pages know it.
 */
export type { HostStatus, Why } from "../../actors/protocol/runtime.ts";
