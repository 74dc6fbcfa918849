/** Access lists and entries to the letter: which list counts where, and under which name a fact is kept. */
import { describe, expect, test } from "vitest";
import { type EarshotConfigInput, parseConfig } from "../../../src/domain/config/index.ts";
import {
  type AccessEntry,
  type AccessState,
  entriesOf,
  expiredEntries,
  grantName,
  guessesName,
  isOver,
  nameOfEntry,
  noKnownPeople,
  removeEntry,
  setEntry,
} from "../../../src/machines/access/access-entries.ts";
import {
  accessOf,
  listedRoom,
  names,
  peopleOf,
} from "../../../src/machines/access/access-rules.ts";

const rulesOf = (given: EarshotConfigInput, channel = "irc", account = "work") =>
  accessOf(parseConfig(given), channel, account);

describe("a list", () => {
  test("is ids with their channel; under a channel it may be left out", () => {
    expect([...peopleOf(["irc:1", "sms:1"], null)]).toEqual(["irc:1", "sms:1"]);
    expect([...peopleOf(["1", "irc:2", "sms:3"], "irc")]).toEqual(["irc:1", "irc:2", "irc:sms:3"]);
    const list = ["1"];
    expect(peopleOf(list, "irc")).toBe(peopleOf(list, "irc"));
  });

  test("names exactly its people", () => {
    const people = new Set(["irc:1", "irc:undefined"]);
    expect(names(people, "irc", "1")).toBe(true);
    expect(names(people, "irc", "2")).toBe(false);
    expect(names(people, "sms", "1")).toBe(false);
    expect(names(people, "irc", undefined)).toBe(false);
    expect(names(new Set(), "irc", "1")).toBe(false);
  });
});

describe("the rules of an account", () => {
  const general = {
    dmPolicy: "allowlist",
    groupPolicy: "open",
    allowFrom: ["irc:general"],
    groupAllowFrom: ["irc:all"],
    groups: { "irc:g": { enabled: true }, "sms:h": { enabled: true } },
  } as const;
  const own = (name: string) => ({
    dmPolicy: "open" as const,
    groupPolicy: "disabled" as const,
    allowFrom: [name],
    groupAllowFrom: [`${name}s`],
    groups: { [name]: { enabled: false } },
  });
  const access = general as unknown as NonNullable<EarshotConfigInput["access"]>;

  test("are the general ones where nothing nearer is said", () => {
    const { groups, ...rules } = rulesOf({ access });
    expect(rules).toEqual({
      places: { allowFrom: "access.allowFrom", groupPolicy: "access.groupPolicy" },
      dmPolicy: "allowlist",
      groupPolicy: "open",
      allowFrom: new Set(["irc:general"]),
      groupAllowFrom: new Set(["irc:all"]),
    });
    expect([...groups.keys()]).toEqual(["g"]);
  });

  test("are the channel's over those, and the account's over the channel's", () => {
    const channels = { irc: { ...own("channel"), accounts: { work: own("account"), home: {} } } };
    const given = { access, channels } as unknown as EarshotConfigInput;
    const of = (account: string) => {
      const { groups, allowFrom, groupAllowFrom, ...rules } = rulesOf(given, "irc", account);
      return { ...rules, lists: [...allowFrom, ...groupAllowFrom], groups: [...groups.keys()] };
    };
    const policies = { dmPolicy: "open", groupPolicy: "disabled" };
    expect(of("work")).toEqual({
      ...policies,
      places: {
        allowFrom: "channels.irc.accounts.work.allowFrom",
        groupPolicy: "channels.irc.accounts.work.groupPolicy",
      },
      lists: ["irc:account", "irc:accounts"],
      groups: ["g", "account"],
    });
    for (const account of ["home", "unnamed", "constructor"])
      expect(of(account)).toEqual({
        ...policies,
        places: { allowFrom: "channels.irc.allowFrom", groupPolicy: "channels.irc.groupPolicy" },
        lists: ["irc:channel", "irc:channels"],
        groups: ["g", "channel"],
      });
    expect(rulesOf(given, "sms").dmPolicy).toBe("allowlist");
    expect(rulesOf(given, "constructor").groupPolicy).toBe("open");
  });

  test("are compiled once for each config", () => {
    const config = parseConfig({ access });
    expect(accessOf(config, "irc", "work")).toBe(accessOf(config, "irc", "work"));
    expect(accessOf(config, "irc", "work")).not.toBe(accessOf(config, "irc", "home"));
    expect(accessOf(config, "irc", "work")).not.toBe(
      accessOf(parseConfig({ access }), "irc", "work"),
    );
  });

  test("of more accounts than are remembered are the same", () => {
    const config = parseConfig({ access });
    for (let n = 0; n < 1_001; n += 1) accessOf(config, "irc", `a${n}`);
    expect(accessOf(config, "irc", "a999")).toBe(accessOf(config, "irc", "a999"));
    expect(accessOf(config, "irc", "a1000")).not.toBe(accessOf(config, "irc", "a1000"));
    expect(accessOf(config, "irc", "a1000")).toEqual(accessOf(config, "irc", "a0"));
  });
});

describe("a room that is listed", () => {
  const groups = {
    open: {},
    "irc:own": { allowFrom: ["1", "irc:2"] },
    off: { enabled: false, topics: { t: { allowFrom: ["9"] } } },
    topics: {
      allowFrom: ["1"],
      topics: { off: { enabled: false }, list: { allowFrom: ["3"] }, plain: {} },
    },
  };
  const rules = rulesOf({ channels: { irc: { groups } } } as EarshotConfigInput);
  const of = (chat: string, thread?: string) => {
    const room = listedRoom(rules, chat, thread);
    return room && [room.by, room.enabled, room.allowFrom && [...room.allowFrom]];
  };

  test.each<[string, string | undefined, unknown]>([
    ["unlisted", undefined, undefined],
    ["open", undefined, ["group", true, undefined]],
    ["own", undefined, ["group", true, ["irc:1", "irc:2"]]],
    ["off", undefined, ["group", false, undefined]],
    ["off", "t", ["group", false, undefined]],
    ["topics", undefined, ["group", true, ["irc:1"]]],
    ["topics", "other", ["group", true, ["irc:1"]]],
    ["topics", "plain", ["group", true, ["irc:1"]]],
    ["topics", "off", ["topic", false, undefined]],
    ["topics", "list", ["topic", true, ["irc:3"]]],
  ])("%s, %s", (chat, thread, expected) => expect(of(chat, thread)).toEqual(expected));
});

describe("an entry", () => {
  const person = { channel: "irc", account: "work", id: "7" };
  const grant: AccessEntry = { ...person, kind: "grant", scope: "owner", at: 1, by: "console" };
  const pairing: AccessEntry = {
    ...person,
    kind: "pairing",
    code: "C",
    name: "Ann",
    at: 1,
    expiresAt: 10,
  };
  const claim: AccessEntry = {
    kind: "claim",
    label: "L",
    hash: "H",
    role: "owner",
    at: 1,
    expiresAt: 20,
    by: "console",
  };
  const guesses: AccessEntry = {
    kind: "guesses",
    place: { channel: "irc", account: "work" },
    count: 1,
    until: 30,
  };
  const first: AccessEntry = { kind: "first", at: 1 };

  test.each<[AccessEntry, string]>([
    [grant, '["grant","owner","irc","work","7"]'],
    [pairing, '["pairing","irc","work","7"]'],
    [claim, '["claim","L"]'],
    [guesses, '["guesses","irc","work"]'],
    [{ ...guesses, place: null } as AccessEntry, '["guesses",null,null]'],
    [first, '["first"]'],
  ])("%# has one name", (entry, name) => {
    expect(nameOfEntry(entry)).toBe(name);
    expect(setEntry(entry)).toEqual([name, entry]);
    expect(removeEntry(entry)).toEqual([name, null]);
  });

  test("is named alike by who asks for it", () => {
    expect(grantName(person, "member")).toBe('["grant","member","irc","work","7"]');
    expect(guessesName({ channel: "irc", account: "work" })).toBe(nameOfEntry(guesses));
    expect(noKnownPeople.has("owner", person)).toBe(false);
  });

  test("is over at its moment, if it ever is", () => {
    const overAt = (now: number) =>
      [grant, pairing, claim, guesses, first].map((entry) => isOver(entry, now));
    expect(overAt(9)).toEqual([false, false, false, false, false]);
    expect(overAt(10)).toEqual([false, true, false, false, false]);
    expect(overAt(19)).toEqual([false, true, false, false, false]);
    expect(overAt(20)).toEqual([false, true, true, false, false]);
    expect(overAt(29)).toEqual([false, true, true, false, false]);
    expect(overAt(30)).toEqual([false, true, true, true, false]);
  });

  test("that is over is removed at the next change, and counts no more before", () => {
    const open = new Map([pairing, claim, guesses, first].map((one) => [nameOfEntry(one), one]));
    const state = { grants: new Map([["g", grant]]), open } as unknown as AccessState;
    expect(expiredEntries(state, 9)).toEqual([]);
    expect(expiredEntries(state, 20)).toEqual([removeEntry(pairing), removeEntry(claim)]);
    expect(entriesOf(state, "pairing", 9)).toEqual([pairing]);
    expect(entriesOf(state, "pairing", 10)).toEqual([]);
    expect(entriesOf(state, "claim", 10)).toEqual([claim]);
    expect(entriesOf(state, "grant", 99)).toEqual([grant]);
    expect(entriesOf(state, "first", 99)).toEqual([first]);
  });
});
