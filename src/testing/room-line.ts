/**
 * One thing that happens in a room
 * ================================
 */
import type { z } from "zod";
import type { LineKind, lineSchemas } from "../domain/scenario/scenario.ts";

/** One line of a scenario, as it may be written: defaults left out. */
export type RoomLine = {
  [Kind in LineKind]: z.input<(typeof lineSchemas)[Kind]>;
}[LineKind];
