/**
 * Readers of conversations, as the rest of the runtime sees them.
 */
import type { InspectRequest } from "../../domain/ports/index.ts";

export interface InspectionReaders {
  begin(order: InspectRequest): void;
  stop(reader: number): void;
}
