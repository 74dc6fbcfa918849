/**
 * Sections
 * ========
 * A config section is written once, as fields and their defaults, and read in two ways: whole
 * (every default filled in) at the top of the file, and as an override, where each field may be
 * left out and no default is filled in, at an agent, a channel, an account or a conversation. A
 * default inside an override would silently undo what a more general place said.
 */
import { z } from "zod";
import { limits } from "../../limits.ts";

/** A year: longer waits are mistakes of unit. */
const waitMsMax = 31_536_000_000;

/** Duration in ms. */
export const ms = z.number().int().min(0).max(waitMsMax);
/** Duration in ms that may not be zero. */
export const positiveMs = z.number().int().min(1).max(waitMsMax);
/** A number of things. */
export const count = (min: number, max: number) => z.number().int().min(min).max(max);
/** A platform's stable id: opaque, compared byte for byte, always a string. */
export const id = z.string().min(1).max(limits.idUnitsMax);
/** A name made for people, on one line. */
export const label = z.string().min(1).max(limits.labelShownUnitsMax);
/** Text that goes into prompts or messages. */
export const text = z.string().max(limits.textUnitsMax);

/** Longer defaults are not repeated in words. */
const defaultUnitsMax = 60;

type Fields = Readonly<Record<string, z.ZodType>>;
type Defaulted<Shape extends Fields> = { [Name in keyof Shape]: z.ZodDefault<Shape[Name]> };

/** The two readings of a section's fields. */
export interface Section<Shape extends Fields> {
  readonly whole: z.ZodObject<Defaulted<Shape>, z.core.$strict>;
  readonly override: z.ZodObject<
    { [Name in keyof Shape]: z.ZodOptional<Shape[Name]> },
    z.core.$strict
  >;
}

/** Declares fields with their defaults. Unknown keys are refused in both readings. */
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
    const says = value.length <= defaultUnitsMax ? `${help} Default: ${value}.` : help;
    return field.default(defaults[name]).describe(says);
  });
  const override = each((field, _, help) => field.describe(help));
  return {
    whole: z.strictObject(whole as Defaulted<Shape>),
    override: z.strictObject(override).partial() as Section<Shape>["override"],
  };
}

/** What an editor shows of a field: what it is for, and the unit that its name stands for. */
function helpOf(name: string, { description = "" }: z.ZodType): string {
  if (/Ms(Max)?$/u.test(name)) return `${description} In milliseconds.`;
  return /Bytes(Max)?$/u.test(name) ? `${description} In bytes.` : description;
}

/** The value of an own key, or undefined: names from a room must not reach a prototype. */
export function ownValue<Value>(
  record: Readonly<Record<string, Value>>,
  name: string,
): Value | undefined {
  return Object.hasOwn(record, name) ? record[name] : undefined;
}
