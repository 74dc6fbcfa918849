/** Who may speak: each line here is something that must not happen, or the twin that must. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import { findingText } from "../../../src/domain/config-finding.ts";
import type { InboundInput } from "../../../src/domain/message.ts";
import type { ChannelEvent } from "../../../src/domain/ports/index.ts";
import {
  accessWarnings,
  admit,
  admitHistory,
  hearsPlace,
  takesClaims,
} from "../../../src/machines/access/admission.ts";
import {
  type Access,
  admitted,
  direct,
  group,
  judge,
  message,
  place,
  remote,
} from "../../support/machines/admission.ts";
import { property } from "../../support/property.ts";

describe("direct chats", () => {
  const from = (id: string, author: Partial<InboundInput["author"]> = {}) => ({
    chat: direct(id),
    author: { id, ...author },
  });

  test("A11: an unknown sender is denied, with what would admit them", () => {
    for (const dmPolicy of ["pairing", "allowlist"] as const) {
      const { decision, rule, explanation, authority } = judge({ dmPolicy }, from("7"));
      expect([decision, rule]).toEqual(["denied", "dm-policy"]);
      expect(explanation).toContain('"telegram:7" to access.allowFrom');
      expect(authority).toEqual({ owner: false, commandAuthorized: false });
    }
  });

  test("what would admit somebody is said of the list that counts there, and does admit them", () => {
    const lists = { allowFrom: ["1"], groupPolicy: "allowlist" } as const;
    const nested = [
      ["channels.telegram", { ...lists }],
      ["channels.telegram.accounts.default", { accounts: { default: { ...lists } } }],
    ] as const;
    for (const [at, telegram] of nested) {
      const more = { channels: { telegram } } as unknown as EarshotConfigInput;
      expect(judge({}, from("7"), more).explanation).toContain(`"telegram:7" to ${at}.allowFrom`);
      expect(judge({}, {}, more).explanation).toContain(`set ${at}.groupPolicy to "open"`);
      // The general list does not count there.
      expect(admitted({ allowFrom: ["telegram:7"] }, from("7"), more)).toBe(false);
      expect(admitted({ groups: { "telegram:-1": {} } }, {}, more)).toBe(true);
    }
  });

  test("the one who is listed may speak, and everyone where open is spelled", () => {
    const listed = { dmPolicy: "allowlist", allowFrom: ["telegram:7"] } as const;
    expect(admitted(listed as unknown as Access, from("7"))).toBe(true);
    expect(admitted({ dmPolicy: "open" }, from("8"))).toBe(true);
    expect(admitted({ dmPolicy: "disabled", allowFrom: ["telegram:7"] }, from("7"))).toBe(false);
  });

  test("A12: a name, a username or what looks like one grants nothing", () => {
    const access: Access = { dmPolicy: "allowlist", allowFrom: ["telegram:owner"] };
    for (const name of ["owner", "telegram:owner", "оwner", "own\u200ber", "\u202eowner"])
      expect(admitted(access, from("7", { name, username: name }))).toBe(false);
  });

  property([fc.string({ minLength: 1 }), fc.string({ minLength: 1 })])(
    "A13: only the very same id on the very same channel is that person",
    (listed, id) => {
      fc.pre(listed !== "*" && listed !== id);
      const access: Access = { dmPolicy: "allowlist", allowFrom: [`telegram:${listed}`] };
      expect(admitted(access, from(id))).toBe(false);
      expect(admitted(access, from(listed))).toBe(true);
      expect(admitted(access, { ...from(listed), channel: "slack" })).toBe(false);
    },
  );

  test("A13: look-alike ids are other people", () => {
    const access: Access = { dmPolicy: "allowlist", allowFrom: ["telegram:123"] };
    for (const id of ["0123", " 123", "123\n", "-123", "1230", "telegram:123", "123.0", "１２３"])
      expect(admitted(access, from(id))).toBe(false);
    expect(admitted(access, { ...from("telegram:123"), channel: "slack" })).toBe(false);
    const local = { channels: { slack: { allowFrom: ["telegram:123"] } } };
    expect(admitted({ dmPolicy: "allowlist" }, from("123"), local)).toBe(false);
  });

  test("A15: an empty list means nobody", () => {
    expect(admitted({ dmPolicy: "allowlist", allowFrom: [] }, from("7"))).toBe(false);
    expect(admitted({ groupPolicy: "allowlist", groupAllowFrom: [] })).toBe(false);
  });

  test("what a channel says replaces the general list, what its account says replaces both", () => {
    const access: Access = { dmPolicy: "allowlist", allowFrom: ["telegram:1"] };
    const channels = {
      telegram: { allowFrom: ["2"], accounts: { work: { allowFrom: ["telegram:3"] } } },
    };
    const who = (account: string) =>
      ["1", "2", "3"].filter((id) => admitted(access, { ...from(id), account }, { channels }));
    expect(who("default")).toEqual(["2"]);
    expect(who("work")).toEqual(["3"]);
    expect(["1", "2"].filter((id) => admitted(access, { ...from(id), channel: "x" }))).toEqual([]);
  });
});

describe("groups", () => {
  test("a group that is not listed is denied, with what would admit it", () => {
    const { decision, rule, explanation } = judge({});
    expect([decision, rule]).toEqual(["denied", "group-policy"]);
    expect(explanation).toContain('add "telegram:-1": {} to access.groups');
    expect(explanation).toContain('access.groupPolicy to "open"');
  });

  test("a listed group is heard, under access or under its channel", () => {
    expect(admitted({ groups: { "telegram:-1": {} } })).toBe(true);
    for (const id of ["-1", "telegram:-1"])
      expect(admitted({}, {}, { channels: { telegram: { groups: { [id]: {} } } } })).toBe(true);
    expect(admitted({ groups: { "telegram:-1": { enabled: false } }, groupPolicy: "open" })).toBe(
      false,
    );
    expect(admitted({ groups: { "slack:-1": {} } })).toBe(false);
  });

  test("A14: being admitted to direct chats admits nobody to groups, nor the other way round", () => {
    const access: Access = {
      dmPolicy: "allowlist",
      allowFrom: ["telegram:dm"],
      groupAllowFrom: ["telegram:gr"],
      groups: { "telegram:-1": {} },
    };
    expect(admitted(access, { author: { id: "dm" } })).toBe(false);
    expect(admitted(access, { author: { id: "gr" } })).toBe(true);
    expect(admitted(access, { author: { id: "gr" }, chat: direct("gr") })).toBe(false);
    expect(admitted(access, { author: { id: "dm" }, chat: direct("dm") })).toBe(true);
  });

  test("a group's own list is the only one in that group, even where groups are open", () => {
    for (const groupPolicy of ["allowlist", "open"] as const) {
      const access: Access = {
        groupPolicy,
        groupAllowFrom: ["telegram:gr"],
        groups: { "telegram:-1": { allowFrom: ["only"] } },
      };
      expect(admitted(access, { author: { id: "gr" } })).toBe(false);
      expect(admitted(access, { author: { id: "only" } })).toBe(true);
    }
  });

  test("a group named like a field of every object is not listed by that", () => {
    for (const id of ["toString", "valueOf", "hasOwnProperty"])
      expect(admitted({}, { chat: { id, kind: "group" } }, { channels: { telegram: {} } })).toBe(
        false,
      );
  });

  test("a bot, a channel's post and a forwarder pass the same checks as anyone", () => {
    const access: Access = { groups: { "telegram:-1": { allowFrom: ["u1"] } } };
    expect(admitted(access, { author: { id: "b", isBot: true } })).toBe(false);
    expect(admitted(access, { author: { id: "-1" }, explicitOnly: true })).toBe(false);
    expect(admitted(access, { author: { id: "u1", isBot: true } })).toBe(true);
  });

  test("an account that can hear no group is warned about", () => {
    const warned = (telegram: object) =>
      accessWarnings(parseConfig({ channels: { telegram } })).map(findingText);
    expect(warned({ accounts: { default: {} } }).join()).toContain(
      "channels.telegram.accounts.default: it hears no group",
    );
    expect(warned({ accounts: { default: {} }, groups: { "-1": {} } })).toEqual([]);
    expect(warned({ accounts: { default: {} }, groupPolicy: "open" })).toEqual([]);
  });
});

describe("every kind of event", () => {
  const edit = (author?: { id: string; isSelf?: boolean }): ChannelEvent => ({
    type: "edit",
    edit: {
      ...place,
      chat: group,
      id: "m",
      text: "x",
      ...(author === undefined
        ? {}
        : { author: { isBot: false, isSelf: false, ...author, name: author.id } }),
    },
  });
  const listed = parseConfig({ access: { groups: { "telegram:-1": { allowFrom: ["u1"] } } } });

  test("A16: an edit is judged by its author, and denied without one, also where everybody is heard", () => {
    expect(admit(edit({ id: "u1" }), listed, remote).decision).toBeNull();
    expect(admit(edit({ id: "u2" }), listed, remote).decision).toBe("denied");
    expect(admit(edit(), listed, remote).decision).toBe("denied");
    const open = parseConfig({ access: { groupPolicy: "open" } });
    expect(admit(edit({ id: "u2" }), open, remote).decision).toBeNull();
    expect(admit(edit(), open, remote)).toMatchObject({ decision: "denied", rule: "no-author" });
    const lone: ChannelEvent = {
      type: "edit",
      edit: { ...place, chat: direct("7"), id: "m", text: "x" },
    };
    expect(admit(lone, parseConfig({ access: { dmPolicy: "allowlist" } }), remote)).toMatchObject({
      decision: "denied",
      rule: "no-author",
    });
  });

  test("A16: who speaks in a chat's name is heard in rooms, and is nobody in a direct chat", () => {
    const open = parseConfig({ access: { dmPolicy: "open", groupPolicy: "open" } });
    const said = (chat: InboundInput["chat"], isChat: boolean) =>
      admit(
        { type: "message", message: message({ chat, author: { id: "chat:-1", isChat } }) },
        open,
        remote,
      );
    expect(said(group, true).decision).toBeNull();
    expect(said(direct("7"), false).decision).toBeNull();
    expect(said(direct("7"), true)).toMatchObject({ decision: "denied", rule: "no-author" });
  });

  test("our own words are dropped before any list is asked, edits of them too", () => {
    const own = message({ author: { id: "us", isSelf: true } });
    expect(admit({ type: "message", message: own }, listed, remote).decision).toBe("own");
    expect(admit({ type: "message", message: own }, listed, { local: true }).decision).toBe("own");
    expect(admit(edit({ id: "us", isSelf: true }), listed, remote).decision).toBe("own");
  });

  test("of a history only what its authors might have said to us is remembered, and what we said", () => {
    const said = (id: string, isSelf = false) =>
      message({ id: `by-${id}`, author: { id, isSelf } });
    const report = { ...place, chat: group, messages: [said("u1"), said("u2"), said("us", true)] };
    expect(admitHistory(report, listed, remote).map(({ id }) => id)).toEqual(["by-u1", "by-us"]);
  });
});

test("codes are taken, and a place heard, wherever somebody may be heard there", () => {
  const both = (access: Access, at: object = {}) => {
    const config = parseConfig({ access });
    const one = { ...place, chat: group, ...at };
    return [takesClaims(config, one), hearsPlace(config, one)];
  };
  const chat = direct("7");
  for (const dmPolicy of ["pairing", "allowlist", "open"] as const)
    expect(both({ dmPolicy, groupPolicy: "disabled" }, { chat }), dmPolicy).toEqual([true, true]);
  const closed = { dmPolicy: "disabled", groupPolicy: "open" } as const;
  expect(both(closed, { chat })).toEqual([false, false]);
  expect(both(closed)).toEqual([true, true]);
  const rooms = { "telegram:-1": {} };
  expect(both({ groupPolicy: "disabled", groups: rooms })).toEqual([false, false]);
  expect(both({ groupPolicy: "allowlist" })).toEqual([true, false]);
  expect(both({ groupPolicy: "allowlist", groups: rooms })).toEqual([true, true]);
  expect(both({ groupPolicy: "allowlist", groupAllowFrom: ["telegram:7"] })).toEqual([true, true]);
  for (const groupPolicy of ["open", "allowlist"] as const) {
    const off = { groupPolicy, groups: { "telegram:-1": { enabled: false } } };
    expect(both(off), groupPolicy).toEqual([false, false]);
    expect(both({ ...off, groupAllowFrom: ["telegram:7"] })).toEqual([false, false]);
  }
});
