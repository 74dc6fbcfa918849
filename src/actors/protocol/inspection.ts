/**
 * Who looks into conversations, as the rest of the runtime sees it.
 */
import type { InspectOrder } from "../../domain/ports/index.ts";

export interface InspectionReaders {
  begin(order: InspectOrder): void;
  stop(reader: number): void;
}
