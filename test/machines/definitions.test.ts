/**
 * The machines as an editor of statecharts reads them: from JSON alone, with everything named that
 * they do or ask, and words on every state.
 */
import { describe, expect, test } from "vitest";
import { createMachine } from "xstate";
import { statelyDefinition } from "../../src/adapters/inspectors/stately.ts";
import { connectionMachine } from "../../src/machines/connection.machine.ts";
import { conversationMachine } from "../../src/machines/conversation.machine.ts";
import { deliveryMachine } from "../../src/machines/delivery.machine.ts";
import { hostMachine } from "../../src/machines/host.machine.ts";

interface State {
  readonly description?: string;
  readonly states?: Readonly<Record<string, State>>;
  readonly [field: string]: unknown;
}
interface Machine {
  readonly config: object;
  readonly implementations: {
    readonly actions: object;
    readonly guards: object;
  };
}

const machines = [conversationMachine, connectionMachine, deliveryMachine, hostMachine].map(
  (machine) => [machine.id, machine as unknown as Machine] as const,
);
const idsOf = (machine: object) =>
  [...(machine as { idMap: ReadonlyMap<string, unknown> }).idMap.keys()].sort();

/** Names of actions or guards in a definition, wherever they are. */
function namesOf(node: unknown, fields: readonly string[]): string[] {
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([field, value]) => {
    if (field === "params") return [];
    // A state may be called what a field is called.
    if (field === "states") return Object.values(value).flatMap((one) => namesOf(one, fields));
    if (!fields.includes(field)) return namesOf(value, fields);
    return [value].flat().map((one) => {
      if (typeof one === "string") return one;
      const { type } = one as { readonly type?: unknown };
      return typeof type === "string" ? type : `nameless: ${JSON.stringify(one)}`;
    });
  });
}

function statesOf(state: State, path: string): readonly (readonly [string, State])[] {
  const inner = Object.entries(state.states ?? {});
  return [
    [path, state],
    ...inner.flatMap(([name, one]) => statesOf(one, path === "" ? name : `${path}.${name}`)),
  ];
}

function functionsIn(node: unknown, path: string): string[] {
  if (typeof node === "function") return [path];
  if (typeof node !== "object" || node === null) return [];
  return Object.entries(node).flatMap(([name, one]) => functionsIn(one, `${path}.${name}`));
}

describe.each(machines)("the definition of %s", (id, machine) => {
  const definition = JSON.parse(statelyDefinition(machine.config)) as State;

  test("makes a machine of the same states again, from JSON alone", () => {
    const again = createMachine(definition as Parameters<typeof createMachine>[0]);
    expect(again.id).toBe(id);
    expect(idsOf(again)).toEqual(idsOf(machine));
    expect(idsOf(again).length).toBeGreaterThan(3);
    expect([...again.events].sort()).toEqual(
      [...(machine as unknown as typeof again).events].sort(),
    );
  });

  test("leaves out no function but the one that makes the first context", () => {
    expect(functionsIn(machine.config, "").filter((path) => path !== ".context")).toEqual([]);
  });

  test("names every action and guard, and each name is one that there is", () => {
    const { actions, guards } = machine.implementations;
    const acting = namesOf(definition, ["actions", "entry", "exit"]);
    const asking = namesOf(definition, ["guard"]);
    expect(acting.filter((name) => !Object.hasOwn(actions, name))).toEqual([]);
    expect(asking.filter((name) => !Object.hasOwn(guards, name))).toEqual([]);
  });

  test("has a word on every state", () => {
    const mute = statesOf(definition, "").filter(([, { description = "" }]) => description === "");
    expect(mute.map(([path]) => path)).toEqual([]);
  });
});
