/**
 * The judge of a room
 * ===================
 * Who is asked about lines that no rule of the ladder decided, how often, and how sure an answer
 * has to be. What runs it is an agent driver, whose options stand beside these. A more specific
 * level replaces a judge as a whole: parts of two programs do not make one.
 */
import { z } from "zod";
import { count } from "./section.ts";

/** Drivers that may judge. */
export const judgeKinds = ["model", "command", "module", "webhook"] as const;

const own = {
  minConfidence: z
    .number()
    .min(0)
    .max(1)
    .default(0.7)
    .describe("An answer that is less sure leaves its line observed. 0 to 1. Default: 0.7."),
  perMinuteMax: count(0, 10_000)
    .default(6)
    .describe("Questions within a minute, over all rooms of an agent. Default: 6."),
  perDayMax: count(0, 1_000_000)
    .default(500)
    .describe("Questions of one day (UTC), over all rooms of an agent. Default: 500."),
  timeoutMs: count(100, 60_000)
    .default(10_000)
    .describe("An answer that takes longer does not count. In milliseconds. Default: 10000."),
};

const ownNames = Object.keys(own) as (keyof typeof own)[];

export const judge = z
  .looseObject({
    kind: z.enum(judgeKinds).describe("The agent driver that runs it; its options stand beside."),
    ...own,
  })
  .nullable()
  .describe(
    "Decides messages that no rule decided by asking a model, a program, a module or a web " +
      "service. null: off.",
  );

export type JudgeConfig = NonNullable<z.output<typeof judge>>;
export type JudgeSettings = Pick<JudgeConfig, keyof typeof own> & {
  readonly driver: Readonly<Record<string, unknown>> & { readonly kind: string };
};

/** A judge's own settings, and its driver with the driver's options. */
export function judgeSettings(config: JudgeConfig): JudgeSettings {
  const { minConfidence, perMinuteMax, perDayMax, timeoutMs, ...driver } = config;
  return { minConfidence, perMinuteMax, perDayMax, timeoutMs, driver };
}

/** The same judge with other options of its driver. */
export function withDriver(config: JudgeConfig, driver: Readonly<Record<string, unknown>>) {
  const kept = Object.fromEntries(ownNames.map((name) => [name, config[name]]));
  return { ...driver, ...kept, kind: config.kind } as JudgeConfig;
}
