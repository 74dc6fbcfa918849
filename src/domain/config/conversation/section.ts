/**
 * A config section is declared once, as fields and defaults, and used in two ways: whole (every
 * default filled in) at the top of the file, and as an override of an agent, channel, account or
 * conversation, where every field is optional and no default is filled in. A default inside an
 * override would silently undo what a more general level set.
 */
import { z } from "zod";
import { limits } from "../../limits.ts";

/** A year; longer waits are unit mistakes. */
const waitMsMax = 31_536_000_000;

/** Duration in ms. */
export const ms = z.number().int().min(0).max(waitMsMax);
/** Duration in ms that may not be zero. */
export const positiveMs = z.number().int().min(1).max(waitMsMax);
/** A number of things. */
export const count = (min: number, max: number) => z.number().int().min(min).max(max);
/** A platform's stable id: opaque, compared byte for byte, always a string. */
export const id = z.string().min(1).max(limits.idUnitsMax);
/** A display name, on one line. */
export const label = z.string().min(1).max(limits.labelShownUnitsMax);
/** Text that goes into prompts or messages. */
export const text = z.string().max(limits.textUnitsMax);

/** Longer defaults are not printed in descriptions. */
const defaultUnitsMax = 60;

type Fields = Readonly<Record<string, z.ZodType>>;
type Defaulted<Shape extends Fields> = { [Name in keyof Shape]: z.ZodDefault<Shape[Name]> };

/** The two schemas of a section. */
export interface Section<Shape extends Fields> {
  readonly whole: z.ZodObject<Defaulted<Shape>, z.core.$strict>;
  readonly override: z.ZodObject<
    { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> },
    z.core.$strict
  >;
}

/** Declares fields with their defaults. Both schemas refuse unknown keys. */
export function section<Shape extends Fields>(
  fields: Shape,
  defaults: { readonly [Name in keyof Shape]: z.output<Shape[Name]> },
): Section<Shape> {
  const each = (read: (field: z.ZodType, name: string, help: string) => z.ZodType) =>
    Object.fromEntries(
      Object.entries(fields).map(([name, field]) => [name, read(field, name, helpOf(name, field))]),
    );
  const whole = each((field, name, help) => {
    const value = JSON.stringify(defaults[name]);
    const withDefault = value.length <= defaultUnitsMax ? `${help} Default: ${value}.` : help;
    return field.default(defaults[name]).describe(withDefault);
  });
  const override = each((field, _, help) => field.describe(help));
  return {
    whole: z.strictObject(whole as Defaulted<Shape>),
    override: z.strictObject(override).partial() as Section<Shape>["override"],
  };
}

/** A field's description for editors, with the unit its name implies. */
function helpOf(name: string, { description = "" }: z.ZodType): string {
  if (/Ms(Max)?$/u.test(name)) return `${description} In milliseconds.`;
  return /Bytes(Max)?$/u.test(name) ? `${description} In bytes.` : description;
}

/** The value of an own key, or undefined: names from a room must not reach the prototype. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
