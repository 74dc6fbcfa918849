/**
 * Who looks into conversations, as the rest of the runtime sees it.
 */
import type { InspectRequest } from "../../domain/ports/index.ts";

export interface InspectionReaders {
  begin(order: InspectRequest): void;
  stop(reader: number): void;
}
