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

/** By level, the most frequent ones first. */
export const logTable: readonly LogEvent[] = [
  ...events(
    "info",
    ["daemon.ready", "It listens and takes messages."],
    ["daemon.stopping", "A signal came: it lets turns and sends finish. The next one ends it."],
    ["daemon.stopped", "It has closed everything."],
    ["matrix.joined", "The bot entered a room, by invitation or after an upgrade: room."],
    ["decision", "A message was decided: key, rule, author, message id."],
    ["dropped", "A message will never reach the agent, and why."],
    [
      "message.denied",
      "A message was refused because its author may not speak; logged at a limited rate.",
    ],
    [
      "message.redelivered",
      "A platform delivered a message again, and the copy was dropped: the first at once, the copies of " +
        "the minute after it at its end, for each account.",
    ],
    ["slack.event-ignored", "Slack sends a kind of event that says nothing here, once: kind."],
    ["access.asked", "A stranger asked for access and got a code."],
    ["access.claimed", "A claim code gave somebody access."],
    [
      "reply-tag.ignored",
      "An agent wanted to reply to a message that was not heard in its room lately.",
    ],
    ["permission.asked", "A turn asked an owner for permission."],
    ["permission.answered", "An owner answered."],
    ["agent.auto", "No agent is configured; this one was found."],
    ["command.bash", "A command line of an owner has ended: code and time, not the line."],
    ["agent.fallback-over", "A model answers again, after a fallback did."],
    ["config.changed", "A changed config is in force."],
    ["config.overridden", "A setting was changed from a chat."],
    ["connection.connecting", "An account connects."],
    ["connection.live", "An account is connected."],
    ["connection.resuming", "An account resumes a broken connection."],
    ["connection.stopped", "An account was stopped."],
    [
      "connection.elsewhere",
      "Another node has the connection of an account, or none has it yet: detail.",
    ],
    ["lease.held", "This node runs the connection of an account from now on: account, epoch."],
    [
      "shared.working",
      "What other nodes change of who may speak, or of the schedule, is read again: object.",
    ],
    ["lease.working", "Leases of connections can be renewed again."],
    ["engine.registered", "Restate knows everything that this version serves again: uri."],
    ["engine.reachable", "Restate answers again: version."],
    ["mirror.working", "What other nodes have stored is read again."],
    ["feed.working", "Other nodes are told again what this one stores."],
    ["outlet.working", "Calls of other nodes can be taken again: channel, account."],
    ["host.ready", "A worker host is ready."],
    ["recovery.events", "Events from before this start were applied."],
    ["search.ready", "The search index has caught up with the journal."],
    ["store.working", "The store works again."],
    ["sessions.working", "Session files can be written again."],
    [
      "telegram.business-connection",
      "The bot was connected to a business account, or its rights there changed.",
    ],
    ["whatsapp.number-changed", "A person has another number; the conversation goes with it."],
    ["discord.menu", "The menu of commands was set: commands."],
    ["telegram.menu", "The menu of commands was set."],
    ["tls.renewed", "A new certificate is in use."],
  ),
  ...events("info, or warn where it failed", [
    "turn",
    "A turn reached its outcome: key, number, outcome, reason.",
  ]),
  ...events("debug, or warn where it was not sent", [
    "send",
    "A part of an answer was sent, or is in doubt, expired or dead.",
  ]),
  ...events(
    "warn",
    ["search.failed", "The search index cannot be used: the reason. It is tried again after 30 s."],
    ["agent.close-failed", "An agent did not close."],
    ["agent.fallback", "A model did not answer, and a fallback of the config does: both and why."],
    ["agent.failed", "An agent failed, hung or was cancelled: code and message."],
    ["agent.media-refused", "A file or choices of an agent's event could not be sent: the reason."],
    ["approve.nobody", "Simulations: an approval without a question."],
    ["judge.failed", "A judge could not be asked because of a fault of the runtime."],
    ["turn.lookup-failed", "A tool of a turn could not look something up."],
    ["command.after", "A follow-up action of a command failed."],
    ["command.plugin-failed", "A plugin's command failed."],
    ["command.plugin-late", "A plugin's command took too long."],
    ["bridge.intake-closed", "Updates of a bot wait because the intake accepts nothing."],
    ["config.needs-restart", "A changed section takes effect at the next start."],
    ["config.warning", "The config is valid, but probably not what is meant."],
    ["connection.backing-off", "An account waits before it connects again."],
    [
      "engine.said",
      "What Restate's SDK has to say of a call, such as why one is made again: target, message.",
    ],
    [
      "engine.older-nodes",
      "A node of an older version has registered the address, and Restate does not know what is new; it is registered again until it does: uri, missing.",
    ],
    [
      "engine.rest",
      "An active conversation could not be stored to rest, and is tried again: key, error.",
    ],
    [
      "engine.failing-call",
      "A conversation cannot go on, as its call at Restate fails again and again: key, failures, since, why.",
    ],
    ["engine.unasked", "Restate cannot be asked which calls fail, and is asked again: error."],
    [
      "engine.end",
      "A conversation that another node has now could not be ended cleanly: key, error.",
    ],
    [
      "engine.unwoken",
      "A conversation could not be made active for its heartbeats, and Restate is asked again: key, error.",
    ],
    [
      "engine.undelivered",
      "Events did not reach an active conversation; Restate makes the call again: key, error.",
    ],
    ["order.failed", "What an operator ordered of a conversation was refused: key, error."],
    [
      "shared.unreachable",
      "What other nodes change of who may speak, of the schedule, or of what accounts could not recover, cannot be read, once until it can be again: object, error.",
    ],
    [
      "shared.unstored",
      "What an account could not recover cannot be given to the other nodes, once until it can be; it is tried again: object, error.",
    ],
    [
      "shared.unreadable",
      "What another node reports is not understood, and is not shown: object, id, error.",
    ],
    [
      "mirror.unreachable",
      "What other nodes have stored cannot be read, once until it can be again: error.",
    ],
    [
      "mirror.unfetched",
      "A conversation could not be read whole, and is asked for again: key, error.",
    ],
    [
      "mirror.not-inspected",
      "A conversation of another node is shown to inspectors no more until it changes again: error.",
    ],
    [
      "mirror.unreported",
      "Changes of other nodes are in the copy, but lists and pages were not told: error.",
    ],
    [
      "feed.unreachable",
      "Other nodes cannot be told what this one stores, once until they can be again: error.",
    ],
    ["lease.lost", "This node ends the connection of an account: account, reason."],
    ["engine.unanswered", "A question of another node could not be answered: error."],
    [
      "engine.unreachable",
      "Restate does not answer at one of its addresses, once until it does again: error.",
    ],
    ["lease.unreachable", "Leases cannot be renewed, once until they can be again: error."],
    [
      "outlet.unreachable",
      "Calls of other nodes cannot be taken, once until they can be again: channel, account, error.",
    ],
    ["event.retried", "An event in quarantine is tried again on request."],
    ["events.reader-dropped", "A reader of the event stream was too slow."],
    ["health.reader-dropped", "A Health page was too slow."],
    ["heartbeat.unread", "A heartbeat's file could not be read."],
    ["schedule.skipped", "An entry of the schedule was due too long ago: name, due time."],
    ["history.failed", "The history of a room could not be read or stored."],
    [
      "files.unknown",
      "Restate does not say whether a part of an answer has a file: error. It is asked again later.",
    ],
    ["hook.failed", "A plugin's hook failed."],
    ["hook.late", "A plugin's hook took too long."],
    ["hook.refused", "A request to a channel's hook was refused."],
    ["hook.skipped", "A plugin's hook is not called for a while."],
    ["host.lost", "A worker host ended; another one replaces it."],
    ["host.refused", "A worker host sent an invalid message, or one that it may not send."],
    ["inspect.reader-dropped", "An inspector was too slow."],
    ["isolation.close-failed", "The thread of an isolated turn did not close."],
    ["media.failed", "A file could not be read or described."],
    ["media.sweep", "Old files could not be removed."],
    ["media.unsendable", "A file that an agent wanted to send could not be read."],
    ["media.unfetched", "A file could not be fetched in time."],
    ["operator.nothing", "Simulations: an operator's command for a session without an agent."],
    ["outbox.stopped", "A part of an answer stays in the outbox until the next start."],
    ["permission.untold", "An owner could not be asked."],
    ["pool.destroy-failed", "The thread pool did not close."],
    ["pool.error", "The thread pool failed and is created again."],
    ["room.reader-dropped", "A Room page was too slow."],
    ["process.warning", "A warning of Node."],
    ["room.unreadable", "A room could not be read for its page."],
    ["rooms.reader-dropped", "A Rooms page was too slow."],
    ["send.defer", "A send is tried again later."],
    ["send.doubt", "It is unknown whether a message was sent."],
    ["send.refuse", "A platform refused a message permanently."],
    ["sessions.compaction", "A session could not be compacted."],
    ["sessions.memory-flush", "An agent could not write down what lasts before a summary."],
    ["sessions.index", "An index of sessions could not be written."],
    ["sessions.policy", "It could not be determined whether a session is over."],
    ["sessions.repair", "Session files could not be repaired."],
    ["skill.left-out", "A skill is not used, with the reason."],
    ["speech.failed", "An answer could not be sent as speech."],
    ["speech.left-out", "An answer is not sent as speech because too many wait."],
    ["sweep.failed", "Snapshots could not be written; tried again."],
    ["sweep.skipped", "A conversation's snapshot could not be written."],
    ["telegram.group-migrated", "A group became a supergroup; it keeps its id here."],
    ["telegram.intake-closed", "Updates wait because the intake accepts nothing."],
    ["slack.history-unread", "What was said meanwhile cannot be read back: rooms, why."],
    ["slack.chat-moved", "A conversation got another id; the room goes with it: from, to."],
    ["slack.event-unreadable", "Slack sent something of an unknown form, which is skipped: at."],
    ["slack.intake-closed", "Messages wait because the intake accepts nothing."],
    ["slack.intake-full", "Too much waits: it connects again and reads it from the history."],
    ["slack.name-unknown", "Slack did not say a name, logged once a method: method, why."],
    ["discord.event-unreadable", "Discord sent something of an unknown form, skipped: kind."],
    ["discord.lookup-failed", "A chat could not be looked up; it is asked again: error."],
    ["discord.press-unanswered", "Discord took no answer to a pressed button; the press counts."],
    ["discord.menu-failed", "The menu of commands was not set: error."],
    ["discord.gateway-error", "The gateway's connection had an error; it connects again: error."],
    ["discord.session-lost", "The session cannot be resumed; what was missed is fetched: awayMs."],
    [
      "connection.gap",
      "A time of which an account recovered not everything: what is lost, rooms, from, to, seconds. " +
        "Of lost messages; of edits it is an info.",
    ],
    [
      "signal.event-unreadable",
      "signal-cli sent an event of an unknown form, which is skipped: at.",
    ],
    ["imessage.intake-closed", "Messages wait because the intake accepts nothing."],
    ["imessage.row-unreadable", "imsg or BlueBubbles reported a row of an unknown form: at."],
    ["signal.intake-closed", "Messages wait because the intake accepts nothing."],
    ["signal.message-unreadable", "signal-cli could not decrypt or read a message: why."],
    ["signal.partly-sent", "Some members of a group did not get a message: people, of, why."],
    ["irc.intake-closed", "Messages wait because the intake accepts nothing."],
    ["irc.join-refused", "The server did not let the bot into a room: room, why."],
    ["irc.kicked", "The bot was removed from a room; it comes back: room, why."],
    ["irc.line-unreadable", "The server sent a line that is no line of IRC."],
    ["irc.login-unconfirmed", "NickServ has not confirmed the login."],
    ["whatsapp.body-unreadable", "Meta posted what is no JSON, which is skipped: error."],
    ["whatsapp.other-number", "Meta posted for another number of the app: phoneNumberId."],
    ["whatsapp.unreadable", "Meta posted something of an unknown form, which is skipped: what."],
    [
      "whatsapp-linked.intake-closed",
      "Messages wait in the account's own store because the intake accepts nothing: error.",
    ],
    [
      "whatsapp-linked.unreadable",
      "A message could not be decrypted (what: cipher) or has an unknown form (what: content).",
    ],
    ["matrix.encrypted", "Something was said in an encrypted room, and cannot be read: room."],
    [
      "matrix.event-unreadable",
      "The homeserver sent an event that has not the form of one: field.",
    ],
    ["matrix.history-unread", "A room could not be read back: room, why."],
    [
      "matrix.message-unread",
      "The homeserver fails each time over a message that another one refers to, which stays unknown: room, why.",
    ],
    ["matrix.join-refused", "The homeserver did not let the bot into a room: room, why."],
    ["xmpp.intake-closed", "Messages wait because the intake accepts nothing."],
    ["xmpp.join-refused", "A room did not let the bot in: room, why."],
    ["xmpp.room-lost", "The bot was removed from a room; it comes back: room, why."],
    ["xmpp.stanza-unreadable", "The server sent a stanza that has not the form of one."],
    ["telegram.menu-failed", "The menu of commands was not set."],
    ["telegram.press-unanswered", "Telegram took no answer to a pressed button; the press counts."],
    ["telegram.update-ignored", "Updates of a kind that says nothing here, once for each kind."],
    ["telegram.update-unreadable", "An update has an unknown form."],
    ["telegram.webhook-failing", "Telegram says that it cannot reach the webhook."],
    ["telegram.webhook-moved", "Another program had changed the webhook; it was set again."],
    ["telegram.webhook-removed", "A webhook was removed because the account polls."],
    ["turn.isolated", "A turn that may have ended its host runs in a thread of its own."],
    ["turn.isolated-lost", "That thread ended."],
    [
      "store.unanswered",
      "A commit failed after its rows were written; it counts as made: rows, error.",
    ],
    ["turn.steer", "A running agent could not be given new messages."],
    ["webchat.unswept", "Old files of the webchat could not be removed."],
  ),
  ...events(
    "error",
    ["schedule.failed", "An entry of the schedule could not be said: name, error."],
    ["plugin.rejected", "A plugin left a rejected promise unhandled. The daemon goes on."],
    ["api.failed", "A request failed because of an internal error."],
    ["channel.unknown", "The config names an unknown channel."],
    ["command.failed", "A command failed because of an internal error."],
    ["config.refused", "A changed config is not valid; the last good one stays."],
    ["config.overrides-ignored", "What was set from a room is not valid and is left out."],
    ["connection.broken", "The state machine of an account failed."],
    ["outlet.ended", "Calls of other nodes are taken no more: channel, account, error."],
    ["connection.crashed", "A channel account failed; it is started again."],
    [
      "connection.halted",
      "An account stopped trying until its config changes or somebody retries it.",
    ],
    ["connection.stop-late", "A channel account did not stop in time."],
    ["deadline.failed", "A deadline could not be journalled; tried again."],
    ["event.quarantined", "An event was quarantined because it broke its conversation."],
    ["event.rejected", "A conversation could not apply an event."],
    ["event.unreadable", "A row of the journal has an unknown form."],
    ["events.listener-failed", "A listener to runtime events failed and was removed."],
    ["health.unreadable", "The health could not be read."],
    ["host.broken", "A worker host fails repeatedly."],
    ["host.call-failed", "A call to a worker host failed."],
    ["host.load-failed", "A conversation could not be loaded for its host; tried again."],
    ["host.result-not-durable", "A host's results could not be stored; tried again."],
    ["host.start-failed", "A worker host did not start."],
    ["rooms.frame", "The list of rooms could not be sent."],
    ["rooms.unreadable", "The list of rooms could not be read."],
    ["sessions.failing", "Session files cannot be written."],
    [
      "mirror.failing",
      "The copy of all conversations cannot be written; what it lacks is asked for again: error.",
    ],
    ["store.failing", "The store cannot be written; no message is accepted until it can."],
    ["whatsapp.account-error", "Meta reports a problem of the account: code."],
    ["whatsapp.delivery-failed", "A message that was taken was not delivered: message, codes."],
    ["whatsapp.event-refused", "A message could not be accepted, and is skipped: error."],
    ["discord.cursor-unreadable", "The stored cursor has an unknown form; it is not used."],
    ["slack.event-refused", "A message could not be accepted and is skipped."],
    [
      "slack.cursor-unreadable",
      "The stored cursor has an unknown form; it is as if there were none.",
    ],
    ["imessage.event-refused", "A message could not be accepted and is skipped."],
    ["signal.event-refused", "A message could not be accepted and is skipped."],
    [
      "signal.cursor-unreadable",
      "The stored cursor has an unknown form; it is as if there were none.",
    ],
    ["bridge.update-refused", "An update of a bot could not be accepted and is skipped."],
    ["irc.event-refused", "A message could not be accepted and is skipped."],
    ["whatsapp-linked.event-refused", "A message could not be accepted, and is skipped: error."],
    ["matrix.event-refused", "A message could not be accepted and is skipped."],
    [
      "matrix.cursor-unreadable",
      "The stored position is not readable; the account begins with what is new.",
    ],
    [
      "matrix.position-refused",
      "The homeserver does not know the stored position; what was said since is lost: why.",
    ],
    ["xmpp.event-refused", "A message could not be accepted and is skipped."],
    [
      "xmpp.cursor-unreadable",
      "The stored position is not readable; the account begins with what is new.",
    ],
    [
      "irc.cursor-unreadable",
      "The stored cursor has an unknown form; it is as if there were none.",
    ],
    ["telegram.event-refused", "An update could not be accepted and is skipped."],
    [
      "telegram.held-unreadable",
      "Parts of messages in the stored cursor are unreadable; they are lost.",
    ],
    ["tls.refused", "A new certificate is not valid; the last good one stays."],
    ["turn.compose", "A turn could not be composed."],
    ["webchat.failed", "A frame of the webchat failed because of an internal error."],
    ["terminal.read-failed", "What was sent to a terminal could not be read from the copy: error."],
    ["webchat.read-failed", "Messages that a webchat page missed could not be read."],
    ["what-if.failed", "A What-if run failed."],
  ),
  ...events(
    "fatal",
    ["daemon.crashed", "An error that nothing handled ended it: error and stack."],
    ["daemon.failed", "It cannot start, or cannot stop: code and message."],
    ["recovery.failed", "Events from before this start cannot be applied."],
  ),
  ...events(
    "debug",
    [
      "files.unerased",
      "A file that was deleted here could not be deleted in Restate, where its time ends it: error.",
    ],
    [
      "engine.unregistered",
      "It could not be looked whether Restate knows everything that this version serves: error.",
    ],
    [
      "mirror.unreadable",
      "An event of another node is in a form that this version does not know: seq, error.",
    ],
    [
      "outlet.asked-again",
      "A node that has a connection was not reached: channel, account, error.",
    ],
    [
      "outlet.failed",
      "A call for another node failed, as its caller knows: channel, account, error.",
    ],
    ["draft.unshown", "The draft of an answer was not shown."],
    ["event.unsaid", "An event was discarded because the runtime is stopping."],
    ["heartbeat.skipped", "A heartbeat had no reason to wake the agent."],
    ["inspect.refused", "A frame of an inspector has an unknown form."],
    ["inspect.socket-error", "The socket of an inspector failed."],
    ["marks.lost", "Some decisions will be made again at the next start."],
    ["membership.failed", "Members of a chat could not be read."],
    ["reaction.failed", "A reaction was not added."],
    ["typing.failed", "A typing indicator was not shown."],
    ["webchat.socket-error", "The socket of a webchat failed."],
    ["whatsapp-linked.group-unknown", "The name of a group could not be read: why."],
  ),
];

const intro = `# Log events

<!-- made by \`node scripts/schema.mjs\` -->

Each line of the log is one JSON object: \`time\`, \`level\`, \`msg\` (the name of the event, below) and
its fields. Names are stable. There is one line for each decision and each turn. Texts of rooms are logged
only with \`log.showText\`. Secrets are redacted everywhere, by the name of their field and by their
value. With tracing, \`decision\`, \`turn\` and \`send\` carry a \`trace_id\`
([observe.md](../operate/observe.md)).

| Event | Level | What it means |
|---|---|---|
`;

/** docs/reference/logs.md as text. */
export function logsPage(): string {
  const rows = logTable.map(({ name, level, means }) => `| \`${name}\` | ${level} | ${means} |`);
  return `${intro}${rows.join("\n")}\n`;
}
