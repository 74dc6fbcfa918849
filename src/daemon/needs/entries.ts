/** The entries of each source: what happened, what it means, what may be done about it. */
import type { ConnectionStatus } from "../../actors/channels/account-connection.ts";
import { givenUp } from "../../actors/outbox/types.ts";
import type { RuntimeStatus } from "../../actors/protocol/runtime.ts";
import type { EarshotConfig } from "../../domain/config/index.ts";
import type { ChatOverride, LayerName, OutboxRow } from "../../domain/ports/index.ts";
import { redactSecrets } from "../../domain/redact-secrets.ts";
import { oneLine, plainText } from "../../domain/sanitize.ts";
import { causeText, type FailingAgent, type FailureKind } from "../../domain/stream.ts";
import type { Pairing } from "../../machines/access/access-entries.ts";
import type { EngineStatus } from "../api-types/engine.ts";
import type { Need, NeedAct } from "../api-types/needs.ts";
import type { RefusedConfig } from "../config/config-source.ts";
import type { Refusal } from "./refusals.ts";

const textShownUnitsMax = 160;
/** Longer than other texts, because the cause is at the end of the error. */
const causeShownUnitsMax = 320;
const nameShownUnitsMax = 64;
/** Fewer may be a passing fault of a provider. */
const failedTurnsMin = 3;

type NameOf = (name: string) => string;

const act = (action: string, label: string): NeedAct => ({
  action,
  label,
  question: null,
  back: null,
});
const asks = (action: string, label: string, question: string, back = "Keep"): NeedAct => ({
  action,
  label,
  question,
  back,
});

/** With a capital letter and a full stop. */
function sentence(text: string): string {
  const whole = text.trim();
  const first = whole.slice(0, 1).toUpperCase() + whole.slice(1);
  return first === "" || /[.!?…]$/u.test(first) ? first : `${first}.`;
}

const shown = (name: string) => oneLine(name, nameShownUnitsMax);
const errorOf = (text: string | null) => (text === null ? "" : `${sentence(text)} `);
const momentOf = (at: number) => `${new Date(at).toISOString().slice(0, 16).replace("T", " ")} UTC`;
const times = (count: number) => (count === 1 ? "once" : `${count} times`);
const messages = (count: number) => (count === 1 ? "1 message" : `${count} messages`);

export function daemonNeeds({ problem }: RuntimeStatus): Need[] {
  if (problem === null) return [];
  const title = "earshot has a problem";
  return [{ kind: "daemon", id: "daemon", title, meaning: sentence(problem), acts: [], problem }];
}

/** They end by themselves. */
export function engineNeeds(engine: EngineStatus | null, titleOf: NameOf): Need[] {
  return (engine?.problems ?? []).map(({ what, key, title, since, says }) => ({
    kind: "daemon",
    id: key === null ? `engine:${what}` : `engine:${what}:${key}`,
    title: key === null ? title : `${title}: ${shown(titleOf(key))}`,
    meaning: `${sentence(says)} Since ${momentOf(since)}.`,
    acts: [],
    problem: says,
  }));
}

export function configNeeds(refused: RefusedConfig | null, secrets: readonly string[]): Need[] {
  if (refused === null) return [];
  const { path, since, line } = refused;
  const error = oneLine(
    redactSecrets(refused.error, secrets).replaceAll(/\n\s*/gu, "; "),
    causeShownUnitsMax,
  );
  const excerpt = refused.excerpt.map((one) => ({
    ...one,
    text: redactSecrets(one.text, secrets),
  }));
  return [
    {
      kind: "config",
      id: "config",
      title: "The config file was refused",
      meaning:
        `${sentence(error)} The last valid config stays in use. Fix the file; it is read again ` +
        "when you save it.",
      acts: [],
      path,
      error,
      since,
      line,
      excerpt,
    },
  ];
}

export function connectionNeeds(connections: readonly ConnectionStatus[], nameOf: NameOf): Need[] {
  return connections
    .filter(({ state }) => state === "halted")
    .map(({ channel, account, since, ...connection }): Need => {
      const name = nameOf(channel);
      const detail =
        connection.detail === null ? null : oneLine(connection.detail, textShownUnitsMax);
      return {
        kind: "connection",
        id: ["connection", channel, account].join(":"),
        title: `${account === "default" ? name : `${name}, account ${account},`} is disconnected`,
        meaning:
          `${errorOf(detail)}No messages received since ${momentOf(since)}. Fix its config and ` +
          "it reconnects by itself, or try again without a change.",
        acts: [act("retry", "Try again")],
        channel,
        account,
        since,
        name,
        detail,
      };
    });
}

/** Rooms that a text names. */
const roomsNamedMax = 5;

export function gapNeeds(connections: readonly ConnectionStatus[], nameOf: NameOf): Need[] {
  return connections.flatMap(({ channel, account, gaps }) =>
    gaps
      .filter(({ lost }) => lost === "messages")
      .map(({ id, from, to, rooms }): Need => {
        const name = nameOf(channel);
        const others = rooms.length - roomsNamedMax;
        const named = rooms.slice(0, roomsNamedMax).map(shown).join(", ");
        const where =
          rooms.length === 0 ? "its rooms" : named + (others > 0 ? ` and ${others} more` : "");
        return {
          kind: "gap",
          id,
          title: `${account === "default" ? name : `${name}, account ${account},`} was disconnected, and messages may be lost`,
          meaning:
            `Messages in ${where} from ${momentOf(from)} to ${momentOf(to)} were not received, ` +
            "and the platform does not deliver them later. Their authors may have to send them again.",
          acts: [act("seen", "Seen")],
          channel,
          account,
          name,
          from,
          to,
          rooms,
        };
      }),
  );
}

/** What a person does about a failing agent, by the kind of its failure. */
const remedies: Readonly<Record<FailureKind, string>> = {
  auth: "Check its API key and the permissions of the key.",
  "not-found": "Check its address and the name of its model or program.",
  "rate-limit": "Wait, or raise the limit at the provider.",
  timeout: "Check that it responds, or raise turn.idleMs.",
  refused: "Check its address, and that it is running.",
  invalid: "Check which requests it accepts and what it returns.",
  server: "The server failed. Wait, or ask its operator.",
  crashed: "Check its program.",
};

export function agentNeeds(
  failing: readonly FailingAgent[],
  { agents }: EarshotConfig,
  canTry: (agentId: string) => boolean,
): Need[] {
  return failing
    .filter(({ turns }) => turns >= failedTurnsMin)
    .map((one): Need => {
      const { agentId, turns, key, turnId, at } = one;
      const name = agents.list.find(({ id }) => id === agentId)?.name ?? agentId;
      return {
        kind: "agent",
        id: `agent:${agentId}`,
        title: `${shown(name)} fails: ${turns} turns in a row`,
        meaning:
          `${sentence(oneLine(causeText(one), causeShownUnitsMax))} ${remedies[one.kind]} ` +
          "This clears when a turn succeeds.",
        acts: canTry(agentId) ? [act("retry", "Try again")] : [],
        agentId,
        turns,
        key,
        turnId,
        at,
        cause: one.kind,
      };
    });
}

export function refusalNeeds(refusals: ReadonlyMap<string, Refusal>, nameOf: NameOf): Need[] {
  return [...refusals].map(([id, { what, message, count, since, at }]): Need => {
    const { channel, account, chat, author } = message;
    const direct = chat.kind === "direct";
    const room = shown(chat.title ?? chat.id);
    const name = what === "group" ? null : shown(author.name);
    const where = nameOf(channel);
    const heard = `${messages(count)} since ${momentOf(since)}.`;
    const text =
      what === "group"
        ? {
            title: `Group not allowed yet: ${room}`,
            meaning:
              `${where} ${shown(chat.id)}: ${heard} The agent ignores this group. Allow ` +
              "adds it to access.groups in the config file.",
            label: "Allow this group",
          }
        : {
            title: `${name} is not allowed yet`,
            meaning:
              `${where} ${shown(author.id)}${direct ? "" : ` in ${room}`}: ${heard} The ` +
              "agent ignores them. Allow adds them to the access list.",
            label: "Allow this person",
          };
    return {
      kind: "refused",
      id,
      title: text.title,
      meaning: text.meaning,
      acts: [act("allow", text.label), act("ignore", "Ignore")],
      what,
      direct,
      channel,
      account,
      room,
      name,
      count,
      since,
      at,
      chat: chat.id,
      person: what === "group" ? null : author.id,
    };
  });
}

export function pairingNeeds(pairings: readonly Pairing[], nameOf: NameOf): Need[] {
  return pairings.map(({ channel, account, id, name, code, at, expiresAt }): Need => {
    const who = shown(name) || shown(id);
    return {
      kind: "pairing",
      id: ["pairing", channel, account, id].join(":"),
      title: `${who} requests access`,
      meaning:
        `${nameOf(channel)} ${shown(id)}, code ${code}, requested ${momentOf(at)}; the code expires at ` +
        `${momentOf(expiresAt)}. Compare the code with the person first.`,
      acts: [act("approve", "Approve"), act("decline", "Decline")],
      channel,
      account,
      name: who,
      code,
      expiresAt,
      person: id,
      since: at,
    };
  });
}

export function overrideNeeds(
  hiding: readonly (ChatOverride & { readonly layer: LayerName })[],
): Need[] {
  return hiding.map(({ path, by, layer }): Need => {
    const command = layer === "set" ? "/config set" : "/debug set";
    return {
      kind: "override",
      id: `override:${layer}:${path}`,
      title: `A value in the config file has no effect: ${shown(path)}`,
      meaning: `${shown(by)} set another value with ${command}, which overrides the one in the file.`,
      acts: [asks("remove", "Remove the override", "Use the value in the file?", "Keep it")],
      path,
      by,
      layer,
    };
  });
}

/** A failed reaction needs no attention, nor does a delivery that was given up on request. */
export function deliveryNeeds(rows: readonly OutboxRow[], titleOf: NameOf): Need[] {
  return rows.flatMap((row): Need[] => {
    const { id, key, kind, state, createdAt: at, body } = row;
    if (kind === "react" || kind === "unreact" || row.error?.startsWith(givenUp)) return [];
    if (state !== "in-doubt" && state !== "dead") return [];
    const whole = (JSON.parse(body) as { text?: string }).text ?? "";
    const text = oneLine(plainText(whole), textShownUnitsMax);
    const error = row.error === null ? null : oneLine(row.error, textShownUnitsMax);
    const room = titleOf(key);
    return [
      {
        kind: "delivery",
        title:
          state === "in-doubt"
            ? "One delivery may or may not have arrived"
            : "One delivery was not sent",
        meaning: `To ${room}, ${momentOf(at)}. ${errorOf(error)}“${text}”`,
        acts: [act("resend", "Resend"), asks("drop", "Drop", "Drop it? It will not be sent.")],
        id,
        state,
        key,
        room,
        at,
        text,
        error,
      },
    ];
  });
}

export function quarantineNeeds({ quarantined }: RuntimeStatus, titleOf: NameOf): Need[] {
  return quarantined.map(({ key, seq, at, tries, ...event }): Need => {
    const room = titleOf(key);
    const error = oneLine(event.error, causeShownUnitsMax);
    const again = tries > 0 ? ` Retried ${times(tries)}, failed each time.` : "";
    return {
      kind: "quarantine",
      id: `quarantine:${seq}`,
      title: tries === 0 ? "One event is in quarantine" : "One event is in quarantine again",
      meaning: `${room} continues without it; the journal keeps it. ${sentence(error)}${again}`,
      acts: [
        asks(
          "retry",
          "Try again",
          "Try it again? It is processed as if it had just arrived.",
          "Not now",
        ),
        asks("drop", "Drop", "Drop it? It will not be processed."),
      ],
      key,
      seq,
      at,
      tries,
      room,
      error,
    };
  });
}

export function scheduleNeeds({ unsaid }: RuntimeStatus): Need[] {
  return unsaid.map(({ name, origin, due, ...entry }): Need => {
    const why = oneLine(entry.why, causeShownUnitsMax);
    const called =
      origin === "agent" ? `${name.slice(name.indexOf(" ") + 1)} (by the agent)` : name;
    const remove = asks("remove", "Remove", "Remove this entry?", "Keep it");
    return {
      kind: "schedule",
      id: `schedule:${name}`,
      title: "A scheduled message was not sent",
      meaning: `${called}, ${momentOf(due)}. ${sentence(why)}`,
      acts: [act("pause", "Pause"), ...(origin === "config" ? [] : [remove])],
      name,
      origin,
      due,
      why,
    };
  });
}
