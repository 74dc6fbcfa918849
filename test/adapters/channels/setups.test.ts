/**
 * What each channel says of setting it up fits its own config: no question leads to a key that there
 * is not, and no secret to a place where the config would show it.
 */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { platformChannels } from "../../../src/adapters/channels/index.ts";
import { isSecretName } from "../../../src/domain/config/parse/secrets.ts";

interface Schema {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
}

/** The schemas that a path leads to, through each kind of account. */
function at(schema: Schema, [step, ...rest]: readonly string[]): readonly Schema[] {
  if (step === undefined) return [schema];
  const own = schema.properties?.[step];
  const others = [...(schema.anyOf ?? []), ...(schema.oneOf ?? [])];
  const here = own === undefined ? [] : at(own, rest);
  return [...here, ...others.flatMap((one) => at(one, [step, ...rest]))];
}

const described = platformChannels.flatMap((channel) =>
  channel.setup === undefined ? [] : [{ id: channel.id, channel, setup: channel.setup }],
);

describe.each(described)("setting up $id", ({ channel, setup }) => {
  const schema = z.toJSONSchema(channel.accountSchema, {
    io: "input",
    unrepresentable: "any",
  }) as Schema;

  test("asks only for what an account has", () => {
    expect(setup.steps.length).toBeGreaterThan(0);
    for (const { name } of setup.fields)
      expect([name, at(schema, name.split(".")).length > 0]).toEqual([name, true]);
  });

  test("keeps each secret, and nothing else, out of the file", () => {
    for (const { name, secret } of setup.fields) {
      expect([name, isSecretName(name)]).toEqual([name, secret !== null]);
      if (secret !== null) expect(secret).toMatch(/^[A-Z][A-Z0-9_]*$/u);
    }
    const variables = setup.fields.flatMap(({ secret }) => secret ?? []);
    expect(new Set(variables).size).toBe(variables.length);
  });

  test("asks under conditions that can be met, for what an account must have", () => {
    for (const { when } of setup.fields) {
      if (when === undefined) continue;
      const asked = setup.fields.find(({ name }) => name === when.field);
      expect(asked?.options ?? ["true", "false"]).toContain(when.is);
    }
    for (const name of schema.required ?? [])
      expect(setup.fields.map((field) => field.name.split(".")[0])).toContain(name);
  });
});

test("variables of secrets are different from channel to channel", () => {
  const all = described.flatMap(({ setup }) => setup.fields.flatMap(({ secret }) => secret ?? []));
  expect(new Set(all).size).toBe(all.length);
});
