/**
 * The table of log events
 * =======================
 * Every event name of the log (`msg` of a line), with its level and meaning. Names are stable:
 * dashboards and alerts may rely on them. A test compares the table with the sources, and
 * docs/reference/logs.md is generated from it.
 */

export interface LogEvent {
  readonly name: string;
  readonly level: string;
  readonly means: string;
}

const events = (
  level: string,
  ...rows: readonly (readonly [name: string, means: string])[]
): LogEvent[] => rows.map(([name, means]) => ({ name, level, means }));

/** By level, the everyday ones first. */
export const logTable: readonly LogEvent[] = [
  ...events(
    "info",
    ["daemon.ready", "It listens and takes messages."],
    ["daemon.stopped", "Everything is put away."],
    ["decision", "A message was decided: key, rule, author, message id."],
    ["dropped", "A message will never reach the agent, and why."],
    ["message.denied", "Somebody who may not speak did; told once in a while, not once a message."],
    ["access.asked", "Somebody unknown asked for access and got a code."],
    ["access.claimed", "A claim code let somebody in."],
    ["permission.asked", "A turn asks an owner for permission."],
    ["permission.answered", "An owner answered."],
    ["agent.auto", "No agent is configured; this one was found."],
    ["config.changed", "A changed config is in force."],
    ["config.said", "What was set from a room was read."],
    ["connection.connecting", "An account connects."],
    ["connection.live", "An account is connected."],
    ["connection.resuming", "An account takes up a broken connection."],
    ["connection.stopped", "An account was stopped."],
    ["host.ready", "A worker host answers."],
    ["recovery.events", "Events of the time before this start are applied."],
    ["store.working", "The store works again."],
    ["sessions.working", "Session files can be written again."],
    ["telegram.menu", "The menu of commands was set."],
    ["tls.renewed", "A new certificate is in use."],
  ),
  ...events("info, or warn where it failed", [
    "turn",
    "A turn reached its outcome: key, number, outcome, reason.",
  ]),
  ...events("debug, or warn where it was not sent", [
    "send",
    "A part of an answer came to its end: sent, in-doubt, expired, dead.",
  ]),
  ...events(
    "warn",
    ["agent.close-failed", "An agent did not close."],
    ["agent.failed", "An agent failed, hung or was cancelled: code and message."],
    ["approve.nobody", "Simulations: an approval for which nobody has asked."],
    ["ask.failed", "What a tool of a turn asked for could not be looked up."],
    ["command.after", "What follows on a command failed."],
    ["command.plugin-failed", "A plugin's command failed."],
    ["command.plugin-late", "A plugin's command took too long."],
    ["config.needs-restart", "A section changed that counts from the next start."],
    ["config.warning", "The config is valid and probably not what is meant."],
    ["connection.backing-off", "An account waits before it connects again."],
    ["event.retried", "An event in quarantine is tried again, as somebody has asked."],
    ["events.reader-dropped", "A reader of the event stream was too slow."],
    ["health.reader-dropped", "A Health page was too slow."],
    ["heartbeat.unread", "The file of a heartbeat could not be read."],
    ["hook.failed", "A plugin's hook failed."],
    ["hook.late", "A plugin's hook took too long."],
    ["hook.refused", "A request to a platform's hook was refused."],
    ["hook.skipped", "A plugin's hook is not called for a while."],
    ["host.lost", "A worker host ended; another takes its place."],
    ["host.refused", "A worker host said what has no form we know, or is not its to say."],
    ["inspect.reader-dropped", "An inspector was too slow."],
    ["isolation.close-failed", "The thread of an isolated turn did not close."],
    ["media.failed", "A file could not be read or described."],
    ["media.sweep", "Old files could not be removed."],
    ["media.unfetched", "A file was not fetched in time."],
    ["operator.nothing", "Simulations: an operator's order to a session of no agent."],
    ["outbox.stopped", "A part stays where it is until the next start."],
    ["permission.untold", "An owner could not be asked."],
    ["pool.destroy-failed", "The pool of threads did not end."],
    ["pool.error", "The pool of threads failed and is made anew."],
    ["room.reader-dropped", "A Room page was too slow."],
    ["room.unreadable", "A room could not be read for its page."],
    ["rooms.reader-dropped", "A Rooms page was too slow."],
    ["send.defer", "A send is tried again later."],
    ["send.doubt", "It is unknown whether a send took effect."],
    ["send.refuse", "A platform refused a send for good."],
    ["sessions.compaction", "A session could not be summed up."],
    ["sessions.index", "A list of sessions could not be written."],
    ["sessions.policy", "Whether a session is over could not be told."],
    ["sessions.repair", "Session files could not be mended."],
    ["skill.left-out", "A skill is not used, and why."],
    ["speech.failed", "An answer could not be said aloud."],
    ["speech.left-out", "An answer is not said aloud as too many wait."],
    ["sweep.failed", "Records could not be written behind; tried again."],
    ["sweep.skipped", "One conversation's record could not be written behind."],
    ["telegram.intake-closed", "Updates wait as nothing can be taken."],
    ["telegram.menu-failed", "The menu of commands was not set."],
    ["telegram.update-unreadable", "An update has no form we know."],
    ["telegram.webhook-failing", "Telegram says that it cannot reach the webhook."],
    ["telegram.webhook-moved", "Another program had set the webhook; ours is set again."],
    ["telegram.webhook-removed", "A webhook was removed as the account polls."],
    ["turn.isolated", "A turn that may have ended its host runs in a thread of its own."],
    ["turn.isolated-lost", "That thread ended."],
    ["turn.steer", "A running agent could not be told what came in."],
    ["webchat.unswept", "Old files of the webchat could not be removed."],
  ),
  ...events(
    "error",
    ["api.failed", "A request failed for a reason of ours."],
    ["channel.unknown", "The config names a channel that is not there."],
    ["command.failed", "A command failed for a reason of ours."],
    ["config.refused", "A changed config is not valid; the last good one stays."],
    ["config.said-left-out", "What was set from a room is not valid and is left out."],
    ["connection.broken", "The machine of an account failed."],
    ["connection.crashed", "A gateway failed; it is started again."],
    [
      "connection.halted",
      "An account is given up until its config changes or somebody has it tried again.",
    ],
    ["connection.stop-late", "A gateway did not stop in time."],
    ["deadline.failed", "A deadline could not be journalled; tried again."],
    ["event.quarantined", "An event was set aside as it broke its conversation."],
    ["event.rejected", "A conversation could not apply an event."],
    ["event.unreadable", "A row of the journal has no form we know."],
    ["events.listener-failed", "A listener to runtime events failed and was taken off."],
    ["health.unreadable", "The state of health could not be read."],
    ["host.broken", "A worker host does not stay up."],
    ["host.call-failed", "A call to a worker host failed."],
    ["host.load-failed", "A conversation could not be read for its host; tried again."],
    ["host.result-not-durable", "What a host decided could not be stored; tried again."],
    ["host.start-failed", "A worker host did not start."],
    ["rooms.frame", "The list of rooms could not be told."],
    ["rooms.unreadable", "The list of rooms could not be read."],
    ["sessions.failing", "Session files cannot be written."],
    ["store.failing", "The store cannot be written: nothing is taken until it can."],
    ["telegram.event-refused", "An update could not be taken and is passed over."],
    ["tls.refused", "A new certificate is not valid; the last good one stays."],
    ["turn.compose", "A turn could not be composed."],
    ["webchat.failed", "A frame of the webchat failed for a reason of ours."],
    ["webchat.read-failed", "What the webchat missed could not be read."],
    ["what-if.failed", "A What-if run failed."],
  ),
  ...events("fatal", [
    "recovery.failed",
    "What was journalled before this start cannot be applied.",
  ]),
  ...events(
    "debug",
    ["draft.unshown", "A growing answer was not shown."],
    ["event.unsaid", "The runtime had something to journal while it stopped."],
    ["heartbeat.skipped", "A heartbeat had no reason to wake the agent."],
    ["inspect.refused", "A frame of an inspector has no form we know."],
    ["inspect.socket-error", "The socket of an inspector failed."],
    ["marks.lost", "Decisions will be made again at the next start."],
    ["membership.failed", "Members of a chat could not be read."],
    ["reaction.failed", "A reaction was not put."],
    ["typing.failed", "A typing sign was not shown."],
    ["webchat.socket-error", "The socket of a webchat failed."],
  ),
];

const intro = `# Log events

<!-- made by \`node scripts/schema.mjs\` -->

Each line of the log is one JSON object: \`time\`, \`level\`, \`msg\` (the name of the event, below) and
its fields. Names are stable. One line a decision and one a turn; the words of a room only with
\`log.showText\`. Secrets are redacted by the name of their field and by their value, wherever they
stand. Where a trace is on, \`decision\`, \`turn\` and \`send\` carry its \`trace_id\`
([observe.md](../operate/observe.md)).

| Event | Level | What it means |
|---|---|---|
`;

/** docs/reference/logs.md as text. */
export function logsPage(): string {
  const rows = logTable.map(({ name, level, means }) => `| \`${name}\` | ${level} | ${means} |`);
  return `${intro}${rows.join("\n")}\n`;
}
