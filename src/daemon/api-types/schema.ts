/**
 * Parts of API schemas
 * ====================
 * The schemas of this folder describe the answers of the API. They are the source of the types that
 * daemon and pages share, and of the OpenAPI document.
 */
import { z } from "zod";

export const millis = z.number();
export const count = z.number().int();
export const text = z.string();

/** Author, person or account, named for people. */
export const personSchema = z.object({ id: text, name: text, isBot: z.boolean() });

/** A value all of whose parts are read-only. */
export type DeepReadonly<Value> = Value extends object
  ? { readonly [Key in keyof Value]: DeepReadonly<Value[Key]> }
  : Value;
/** The read-only type that a schema describes. */
export type Shape<Schema extends z.ZodType> = DeepReadonly<z.output<Schema>>;
