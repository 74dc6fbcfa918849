/** Who is known by the access list, and who may give commands. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { parseConfig } from "../../../src/domain/config/index.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import type { GrantScope, KnownPeople } from "../../../src/machines/access/access-entries.ts";
import { admit } from "../../../src/machines/access/admission.ts";
import { type Access, direct, group, judge, message } from "../../support/machines/admission.ts";
import { property } from "../../support/property.ts";

describe("people on the access list", () => {
  const scopes = ["owner", "member", "paired", "direct", "group"] as const;
  const person = { channel: "telegram", account: "default", id: "7" };
  const known = (scope: GrantScope): KnownPeople => ({
    has: (asked, one) => asked === scope && JSON.stringify(one) === JSON.stringify(person),
  });
  const judged = (scope: GrantScope, access: Access, given: Partial<InboundInput>) =>
    admit({ type: "message", message: message(given) }, parseConfig({ access }), {
      local: false,
      known: known(scope),
    });
  /** Those who are heard, and those of them who may give commands. */
  const heard = (access: Access, chat: InboundInput["chat"], more: Partial<InboundInput> = {}) => {
    const given = { chat, author: { id: "7" }, ...more };
    const passing = scopes.filter((scope) => judged(scope, access, given).decision === null);
    const obeyed = passing.filter((one) => judged(one, access, given).authority.commandAuthorized);
    return [passing, obeyed];
  };

  test.each([
    ["disabled", [], []],
    ["open", [...scopes], ["owner", "member", "direct"]],
    ["allowlist", ["owner", "member", "direct"], ["owner", "member", "direct"]],
    ["pairing", ["owner", "member", "paired", "direct"], ["owner", "member", "paired", "direct"]],
  ] as const)("in direct chats that are %s", (dmPolicy, passing, obeyed) => {
    expect(heard({ dmPolicy }, direct("7"))).toEqual([passing, obeyed]);
    // Somebody else, or the same id with another account, is not that person.
    const strangers = dmPolicy === "open" ? [...scopes] : [];
    expect(heard({ dmPolicy }, direct("8"), { author: { id: "8" } })).toEqual([strangers, []]);
    expect(heard({ dmPolicy }, direct("7"), { account: "work" })).toEqual([strangers, []]);
  });

  const rooms = { "telegram:-1": {} };
  const own = { "telegram:-1": { allowFrom: ["telegram:1"] } };
  test.each([
    ["disabled", { groupPolicy: "disabled", groups: rooms }, [], []],
    ["not listed", { groupPolicy: "allowlist" }, ["group"], ["group"]],
    ["listed", { groups: rooms }, [...scopes], ["owner", "member", "group"]],
    [
      "listed beside a list of people",
      { groups: rooms, groupAllowFrom: ["telegram:1"] },
      ["group"],
      ["group"],
    ],
    ["open", { groupPolicy: "open" }, [...scopes], ["owner", "member", "group"]],
    ["with a list of their own", { groupPolicy: "open", groups: own }, [], []],
  ] as [string, Access, GrantScope[], GrantScope[]][])(
    "in groups that are %s",
    (_, access, passing, obeyed) => expect(heard(access, group)).toEqual([passing, obeyed]),
  );

  test("only a stranger in a direct chat where people pair may ask to be let in", () => {
    const pairs = (access: Access, given: Partial<InboundInput>) => judge(access, given).pairs;
    const stranger = { chat: direct("7"), author: { id: "7" } };
    expect(pairs({ dmPolicy: "pairing" }, stranger)).toBe(true);
    for (const dmPolicy of ["allowlist", "disabled", "open"] as const)
      expect(pairs({ dmPolicy }, stranger), dmPolicy).toBeUndefined();
    expect(pairs({ dmPolicy: "pairing" }, {})).toBeUndefined();
    expect(judged("paired", { dmPolicy: "pairing" }, stranger).pairs).toBeUndefined();
  });

  test("why somebody is heard is said", () => {
    const why = (scope: GrantScope, access: Access, given: Partial<InboundInput>) =>
      judged(scope, access, given).explanation;
    const stranger = { chat: direct("7"), author: { id: "7" } };
    const there = { author: { id: "7" } };
    const list = "an owner put the sender on the list of";
    expect(why("direct", {}, stranger)).toBe(`${list} direct chats`);
    expect(why("group", {}, there)).toBe(`${list} groups`);
    expect(why("member", {}, stranger)).toBe("the sender is a member");
    expect(why("owner", {}, stranger)).toBe("the sender is an owner");
    expect(why("paired", {}, stranger)).toBe("the sender was approved by a code");
    expect(why("group", { dmPolicy: "open" }, stranger)).toBe("direct chats are open");
    expect(why("owner", { dmPolicy: "disabled" }, stranger)).toBe("direct chats are switched off");
    expect(why("group", { dmPolicy: "pairing" }, stranger)).toContain(
      "with `earshot pair`, or add",
    );
    expect(why("group", { dmPolicy: "allowlist" }, stranger)).not.toContain("earshot pair");
    expect(why("direct", { allowFrom: ["telegram:7"] }, stranger)).toBe(
      "the sender is on allowFrom",
    );
    expect(why("direct", { groups: rooms }, there)).toBe("the group is listed in groups");
    expect(why("direct", { groupPolicy: "open" }, there)).toBe("groups are open");
    expect(why("direct", { groupPolicy: "disabled" }, there)).toBe("groups are switched off");
    expect(why("direct", { groups: own }, there)).toBe(
      "the sender is not on this group's allowFrom",
    );
    expect(why("direct", { groups: own }, { author: { id: "1" } })).toBe(
      "the sender is on this group's allowFrom",
    );
    const listed = { groups: rooms, groupAllowFrom: ["telegram:1"] };
    expect(why("direct", listed, there)).toContain("the sender is not on groupAllowFrom");
    expect(why("direct", listed, { author: { id: "1" } })).toBe("the sender is on groupAllowFrom");
  });
});

describe("authority", () => {
  const dm = (id: string) => ({ chat: direct(id), author: { id } });

  test("the author on a local channel is the operator", () => {
    const { decision, authority } = admit(
      { type: "message", message: message({ channel: "terminal", chat: direct("x") }) },
      parseConfig({ access: { dmPolicy: "disabled" } }),
      { local: true },
    );
    expect([decision, authority]).toEqual([null, { owner: true, commandAuthorized: true }]);
  });

  test("A18: being heard is not being obeyed", () => {
    expect(judge({ dmPolicy: "open", groupPolicy: "open" }).authority.commandAuthorized).toBe(
      false,
    );
    expect(judge({ dmPolicy: "open" }, dm("7")).authority.commandAuthorized).toBe(false);
  });

  test("the place's list gives commands unless commands have a list of their own", () => {
    const access: Access = { dmPolicy: "allowlist", allowFrom: ["telegram:7", "telegram:8"] };
    const may = (id: string, allowFrom?: Record<string, string[]>) =>
      judge(access, dm(id), allowFrom === undefined ? {} : { commands: { allowFrom } }).authority
        .commandAuthorized;
    expect([may("7"), may("8")]).toEqual([true, true]);
    expect([may("7", { telegram: ["8"] }), may("8", { telegram: ["8"] })]).toEqual([false, true]);
    expect([may("7", { "*": ["telegram:8"] }), may("8", { "*": ["telegram:8"] })]).toEqual([
      false,
      true,
    ]);
    expect(may("7", { telegram: [], "*": ["telegram:7"] })).toBe(false);
  });

  test("an owner is named by channel and id, and may write directly", () => {
    const commands = { ownerAllowFrom: ["telegram:7"], allowFrom: { telegram: [] } };
    expect(judge({}, dm("7"), { commands })).toMatchObject({
      decision: null,
      authority: { owner: true, commandAuthorized: true },
    });
    expect(judge({}, { ...dm("7"), channel: "slack" }, { commands }).decision).toBe("denied");
    expect(judge({}, { author: { id: "7" } }, { commands }).decision).toBe("denied");
  });

  test("where a channel is for owners' commands only, nobody else gives any", () => {
    const commands = { ownerAllowFrom: ["telegram:7"], allowFrom: { "*": ["telegram:8"] } };
    const config = { commands, channels: { telegram: { enforceOwner: true } } };
    const access: Access = { allowFrom: ["telegram:8"] };
    expect(judge(access, dm("8"), config)).toMatchObject({
      decision: null,
      authority: { owner: false, commandAuthorized: false },
    });
    expect(judge(access, dm("7"), config).authority).toEqual({
      owner: true,
      commandAuthorized: true,
    });
    expect(judge(access, dm("8"), { commands }).authority.commandAuthorized).toBe(true);
  });

  test("the denied never have authority", () => {
    const commands = { ownerAllowFrom: ["telegram:7"] };
    expect(judge({ dmPolicy: "disabled" }, dm("7"), { commands })).toMatchObject({
      decision: "denied",
      authority: { owner: false, commandAuthorized: false },
    });
  });

  property([fc.string(), fc.string({ minLength: 1 })])(
    "what a message says changes nothing about who may say it",
    (text, name) => {
      const access: Access = { groups: { "telegram:-1": { allowFrom: ["u1"] } } };
      for (const id of ["u1", "u2"])
        expect(judge(access, { text, author: { id, name, username: name } })).toEqual(
          judge(access, { author: { id } }),
        );
    },
  );
});
