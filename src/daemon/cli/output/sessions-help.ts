/** The text of `earshot sessions --help`, command by command. */
import type { HelpText } from "./help-text.ts";

const key = "agent:main:telegram:group:-100123";
/** For examples that are long already. */
const mainKey = "agent:main:main";
const keys =
  "The key of a session names its agent and chat; `earshot sessions` lists the keys. A conversation " +
  "has a session once it was answered; a reset archives it and starts a new one with the same key.";

export const all: HelpText = {
  about: keys,
  examples: [
    "earshot sessions",
    [`earshot sessions show ${key}`, "settings, usage and the last messages"],
    `earshot sessions export ${key} > talk.jsonl`,
    `earshot sessions set ${key} --thinking high`,
    `earshot sessions reset ${key}`,
  ],
  exits: "0 done, 1 unknown session, 2 bad use or no daemon runs.",
};
export const list: HelpText = {
  about: keys,
  examples: [
    "earshot sessions",
    "earshot sessions list --agent main --all",
    "earshot sessions --json | jq -r '.[].key'",
  ],
  exits: "0 listed, 2 no daemon runs.",
};
export const show: HelpText = {
  examples: [`earshot sessions show ${key}`, `earshot sessions show ${key} --json`],
  exits: "0 shown, 1 unknown session, 2 bad use or no daemon runs.",
};
export const exported: HelpText = {
  about:
    "Prints one JSON object a line, as in the session's file; docs/guide/sessions.md explains the fields.",
  examples: [
    `earshot sessions export ${mainKey} | jq -r .text`,
    `earshot sessions export ${key} --out talk.jsonl`,
  ],
  exits: "0 exported, 1 unknown session, 2 bad use or no daemon runs.",
};
export const set: HelpText = {
  about:
    "Takes effect with the next turn (--queue, --send and --activation: immediately) and survives a " +
    "reset. `default` restores the config's value.",
  examples: [
    `earshot sessions set ${mainKey} --model default --thinking low`,
    [`earshot sessions set ${key} --send deny`, "listen and answer, but send nothing"],
    [
      `earshot sessions set ${mainKey} --exec "security=allowlist ask=on-miss"`,
      "what an ACP agent may do; /approve answers its questions",
    ],
  ],
  exits: "0 set, 2 bad use or no daemon runs.",
};
export const reset: HelpText = {
  about: "Nothing is deleted: the old transcript stays, and `list --all` shows it.",
  examples: [`earshot sessions reset ${key}`],
  exits: "0 done, 1 unknown session, 2 bad use or no daemon runs.",
};
