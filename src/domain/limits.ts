/**
 * Every bound of the program, named with its unit and `Max`. Every queue, buffer, map and stream
 * has a limit here. At the limit the documented policy applies (refuse, drop the oldest, summarise)
 * and is counted. Text lengths are UTF-16 units, times are ms, sizes are bytes.
 */
export const limits = {
  /** Platform ids are short; a longer one attacks keys and indexes. */
  idUnitsMax: 512,
  /** Display names, titles, file names as accepted from outside. */
  labelUnitsMax: 4_096,
  /** The part of a label that agents and people see. */
  labelShownUnitsMax: 64,
  /** Traces open at the same time: unanswered messages and running turns. */
  tracesOpenMax: 10_000,
  /** The largest message text accepted (platforms allow 4,096 to 40,000). */
  textUnitsMax: 100_000,
  /** The part of a text that alias and peer-name matching looks at. */
  matchUnitsMax: 16_384,
  mentionsCountMax: 1_000,
  /** Emoji of one reaction event, and the length of one: some platforms name their own. */
  reactionEmojiCountMax: 32,
  emojiUnitsMax: 64,
  attachmentsCountMax: 100,
  /** Sent messages of an account whose topics it remembers. */
  sentTopicsMax: 10_000,
  /** Business accounts whose rights an account remembers; of others Telegram is asked again. */
  businessAccountsMax: 256,
  /** Messages of a business chat in one report of deletions. */
  businessDeletionsMax: 1_000,
  /** Groups of an account that became supergroups; the oldest is then a new room. */
  migratedGroupsMax: 256,
  /** People of an account who changed their number; the oldest is then a new room. */
  movedPeopleMax: 256,
  /** Chats of an account whose newest message is known, for read marks. */
  lastHeardMax: 10_000,
  /** Parts of messages of an account that are held until the last one is there, and what waits. */
  heldEventsMax: 256,
  /** Parts of merged messages of an account that are recognised when they are repeated. */
  mergedPartsMax: 100,
  /** People whose nick an IRC account remembers, and members of one IRC room. */
  ircNicksMax: 200,
  ircMembersMax: 20_000,
  /** Names of people and of conversations that a Slack account keeps; threads whose replies it looks for. */
  slackNamesMax: 10_000,
  slackThreadsMax: 200,
  /** Slack conversations that got another id; further ones are new rooms. */
  slackMovedMax: 256,
  /** Direct chats that a Discord account looks for missed messages in; names of people and channels kept. */
  discordDirectsMax: 200,
  discordNamesMax: 50_000,
  /** Missed messages of one Discord channel that are fetched. */
  discordMissedMax: 2_000,
  /** Occupants of one XMPP room. */
  xmppOccupantsMax: 20_000,
  /** Rooms, names and newest events of a Matrix account that it knows about. */
  matrixRoomsMax: 10_000,
  matrixNamesMax: 50_000,
  matrixEventsMax: 10_000,
  /** Delivered messages of a linked WhatsApp device that are recognised when they come again, sent ones that a
   * device may ask for, messages and reactions whose author it remembers, and groups whose names it knows. */
  linkedReceivedMax: 500,
  linkedSentMax: 1_000,
  linkedHeardMax: 10_000,
  linkedRecentMax: 1_000,
  /** Files of a linked WhatsApp device whose keys it keeps. */
  linkedFilesMax: 5_000,
  linkedGroupsMax: 1_000,
  /** Rooms of one IRC account, and lines that come before it knows where it stopped listening. */
  ircRoomsMax: 200,
  ircEarlyLinesMax: 20_000,
  /** Events of an account that wait for the intake; then its connection is read no further. */
  waitingEventsMax: 500,
  rolesCountMax: 1_000,
  /** An account that was halted on this node waits for its turn again when another one has been connected for so long. */
  haltedAgainMs: 60_000,
  /** One that fails so often in a row gives the connection to another node, and wants it again after so long. */
  leaseFailuresMax: 5,
  leasePassedOnMs: 5_000,
  /** Reports of an account about what it could not recover: how many, how long, rooms of one. */
  gapsKeptMax: 20,
  gapKeptMsMax: 259_200_000,
  gapRoomsMax: 200,
  /** Agents to play, and bots, of a labelled room. */
  labelledAgentsMax: 1_000,
  historyCountMax: 200,

  /** HTTP body of a request. */
  bodyBytesMax: 1_048_576,
  /** Time for one request's headers to arrive, and again for its body. */
  bodyMsMax: 10_000,
  inboundArrayCountMax: 1_000,
  /** Body of a hook request whose sender is only proven by the body. */
  hookUnprovenBytesMax: 65_536,
  /** The same, where the platform announces larger requests, and text that a hook repeats to it. */
  hookLargeBytesMax: 3_145_728,
  hookChallengeUnitsMax: 1_024,
  /** All hook bodies in flight together; above it the oldest is dropped. */
  hookBodiesBytesMax: 33_554_432,
  /** Verified requests of one hook remembered to recognise repeats. */
  hookReplaysMax: 10_000,
  /** Verified requests of one hook per second, averaged over a few seconds. */
  hookPerSecondMax: 100,
  /** How far a signed request's time may differ from now, whatever is configured. */
  hookWindowMsMax: 900_000,

  participantsCountMax: 50,
  peerBotsCountMax: 50,
  creditsCountMax: 200,
  /** Words of an answer, as hashes, that the floor remembers. */
  floorWordsMax: 16,
  ownMessagesCountMax: 64,
  /** Messages of a conversation that a reply by id alone may refer to. */
  heardMessagesCountMax: 32,
  /** Reactions that wait for the next turn; edits of messages that turns have read, likewise. */
  notesCountMax: 20,
  /** Messages that turns have read, and whose edits are noticed. */
  readMessagesCountMax: 32,
  spokenRoutesCountMax: 64,
  inboxFlushesMax: 1_000,
  batchMessagesCountMax: 200,
  /** Transcript lines given to a turn; more are summarised first. */
  transcriptLinesMax: 2_000,
  /** The request to write down what lasts, as configured. */
  memoryFlushUnitsMax: 4_096,
  /** Bytes of memory for lines of transcripts, over all sessions; as many again for what agents see of them. */
  transcriptBytesCachedMax: 33_554_432,
  /** Conversations of one host whose agent answers with another model than it was asked for. */
  fallbacksKnownMax: 1_000,
  /** Turns whose input is kept for `earshot prompt`, and the UTF-16 units of all of them. */
  promptsKeptMax: 200,
  promptUnitsKeptMax: 8_388_608,
  /** Session files whose last line is remembered, so appending needs no read. */
  sessionFilesKnownMax: 10_000,

  /** One group commit: a few ms of writing for one fsync. */
  commitRowsMax: 1_024,
  /** Events of a passivated conversation that may stay in its journal tail without a snapshot. */
  evictedTailEventsMax: 32,
  /** Conversations with such a tail; above it, passivation writes a snapshot. */
  tailedConversationsMax: 100_000,
  /** One message across threads. */
  hostBatchEventsMax: 128,
  /** The snapshot of one conversation. */
  recordUnitsMax: 4_194_304,
  /** Malformed messages from one host process before it is terminated. */
  hostRefusalsMax: 100,
  /** Conversations of one host shown to an inspector that follows all of them. */
  inspectActorsMax: 64,
  /** Inspectors connected at the same time. */
  inspectReadersMax: 16,
  /** One event or state sent to an inspector; a larger one is only named. */
  inspectUnitsMax: 65_536,
  /** Inspector frames a host sends at once. */
  inspectFramesMax: 1_024,
  /** Unsent bytes of one inspector; a slower one is disconnected. */
  inspectUnsentBytesMax: 16_777_216,
  /** One-time inspection tickets, and how long they are valid. */
  inspectTicketsMax: 64,
  inspectTicketMs: 60_000,
  /**
   * Batches a host may have in flight; fewer would leave it idle until the main thread runs again.
   */
  hostBatchesInFlightMax: 16,
  /** Events queued for their hosts; above it the intake waits as well. */
  backlogEventsMax: 16_384,
  /** Admitted but not yet committed events; above it ingress answers 503. */
  ingressPendingMax: 10_000,

  /** Bytes an agent may send in one turn. */
  agentBytesMax: 1_048_576,
  agentEventsMax: 100_000,
  blocksPerTurnMax: 64,
  /** Shortest time between two interruptions of turns in one room. */
  interruptMsMin: 1_000,
  /** Attempts of one turn whose host dies before the agent said anything. */
  turnAttemptsMax: 3,
  /** Threads for turns suspected of killing their host; one turn each. */
  isolatedTurnsMax: 4,
  /** Suspect turns remembered. */
  suspectTurnsMax: 1_000,
  /** One event of an agent's stream. */
  agentEventUnitsMax: 262_144,

  /** Conversations in the room list; others are found by search. */
  roomsListedMax: 10_000,
  /** Longest time that the first message of a room waits for the platform. */
  firstReadMsMax: 10_000,
  /** Rooms whose membership is cached. */
  membershipRoomsMax: 10_000,
  /** Caption of a file and question of choices that an agent sends; options, and one of them. */
  captionUnitsMax: 1_000,
  /** A whole answer as a file: at most as much as an agent may send, in bytes. */
  answerFileUnitsMax: 250_000,
  questionUnitsMax: 1_000,
  choicesCountMax: 10,
  choiceUnitsMax: 64,
  /** How long copies of files that agents send are kept. */
  outgoingMsMax: 604_800_000,
  /** How long a tool call waits for the platform's answer to what it sends. */
  deliveryWaitMsMax: 20_000,
  /** Platform messages one block may be split into. */
  sendPartsMax: 16,
  /** Sent messages whose text is known when somebody reacts to them, and how much of it. */
  sentTextsMax: 1_000,
  sentTextUnitsMax: 1_000,
  /** Multi-part sends in progress. */
  unfinishedSendsMax: 1_000,
  /** One response of a platform's API. */
  platformAnswerBytesMax: 16_777_216,
  /** One file fetched from a platform. */
  platformFileBytesMax: 20_971_520,
  /** Files fetched or converted at the same time, in the daemon and for one conversation. */
  mediaJobsMax: 4,
  mediaJobsPerConversationMax: 2,
  /** Files waiting for that; further files are shown as placeholders. */
  mediaJobsWaitingMax: 256,
  /** Readings cached in memory; older ones are stored beside their files. */
  mediaReadingsMax: 200,
  /** Files and pages of one turn that are read without the agent asking. */
  mediaPerTurnMax: 16,
  /** Text of one file as stored and as returned to an agent that asks. */
  mediaTextUnitsMax: 16_000,
  /** Text of one file put into a prompt without the agent asking. */
  mediaShownUnitsMax: 4_000,
  /** One image for a model, within what every provider takes: bytes, and pixels per side. */
  imageBytesMax: 3_750_000,
  imagePointsMax: 8_000,
  /** Images of one turn, and their total bytes. */
  turnImagesMax: 8,
  turnImagesBytesMax: 16_777_216,
  /** Webchat uploads: at the same time, and per message. */
  uploadsAtOnceMax: 8,
  uploadsPerMessageMax: 16,
  /** Uploads not yet sent with a message: count and age; above it the oldest go. */
  uploadsUnsentMax: 100,
  uploadUnsentMsMax: 21_600_000,
  /** Slower uploads are cut after their first `bodyMsMax`. */
  uploadBytesPerSecondMin: 32_768,
  /** A page that a message links to. */
  linkBytesMax: 1_048_576,
  /** Requests of one turn to the main thread, and the time for one. */
  asksPerTurnMax: 200,
  askMsMax: 90_000,
  /** Permissions that one turn's agent awaits at the same time; more are refused. */
  permitsPerTurnMax: 20,
  attachmentsListedMax: 50,
  /** The newest journal rows, of all conversations, that a search reads. */
  searchRowsMax: 20_000,
  searchHitsMax: 20,
  searchQueryUnitsMax: 200,
  /** Shortest interval between heartbeats of one conversation. */
  heartbeatMsMin: 1_000,
  /** UTF-16 units of a text or a prompt from outside a room. */
  sendUnitsMax: 100_000,
  /** Entries of the schedule. */
  schedulesMax: 500,
  /** UTF-16 units of a text or a prompt of the schedule. */
  scheduleUnitsMax: 4_000,
  /** Entries that the agent of one conversation may have there. */
  schedulesOwnMax: 20,
  /** An agent's own entries are due at most this often. */
  scheduleAgentMsMin: 900_000,
  /** What was due longer ago is not said any more. */
  scheduleLateMsMax: 3_600_000,
  /** Prompts that wait for their turns in one conversation; more are dropped. */
  promptsOwedMax: 100,
  /** The file with an agent's heartbeat instructions. */
  heartbeatBytesMax: 65_536,
  /** The prompt of one skill, and the skills of one agent. */
  skillUnitsMax: 16_000,
  skillsPerAgentMax: 100,
  /** One call of a plugin's command, and the length of its answer. */
  commandMsMax: 10_000,
  commandAnswerUnitsMax: 12_000,
  /** A command line of an owner, and what is shown of its output. */
  bashMsMax: 60_000,
  bashOutputBytesMax: 8_192,
  /** Side questions (`/btw`) that agents answer at a time. */
  sideQuestionsCountMax: 4,
  /** Questions to judges that are open at a time; more count as over budget. */
  judgeQuestionsOpenMax: 16,
  /** Agents whose judges' days are kept. */
  judgedAgentsMax: 1_000,
  /** One call of a plugin's hook. */
  hookMsMax: 2_000,
  /** Pending hook calls of one plugin; above it, its hooks are not called. */
  hookCallsMax: 1_000,
  pluginsMax: 100,
  /** Sent messages the webhook channel remembers. */
  webhookKeptMax: 1_000,
  /** Messages the terminal keeps for the next console. */
  terminalUnshownMax: 100,
  /** The newest messages by which a terminal recognises one that it has shown. */
  terminalKnownMax: 2_000,

  sendMsMax: 20_000,
  /** A refused send is retried until it is too old, and at most this often. */
  sendAttemptsMax: 2_000,
  /** Steps of a delivery, between two of its stored states, that an inspector is shown one by one. */
  deliveryStepsMax: 16,
  /** Messages being edited in place while an answer grows. */
  draftsMax: 10_000,
  /** Conversations whose last message is remembered for the pause before the next one. */
  pacedConversationsMax: 10_000,
  /** Shortest time between two such edits in one room. */
  draftEditMsMin: 1_000,
  /** Pause after a failed edit, where the platform names none. */
  draftBackoffMs: 5_000,
  /** Calls to one account at the same time. */
  sendsPerAccountMax: 8,
  /** Messages with a reaction of ours of which it is known which conversations have put it. */
  heldReactionsMax: 10_000,
  /** A reaction that could not be added within this time is dropped. */
  reactionAgeMsMax: 60_000,
  /**
   * Removing a reaction is retried this long: a stale one claims that someone is being answered.
   */
  unreactionAgeMsMax: 86_400_000,
  /** Pairing requests pending per account; while it is full, other strangers get no answer. */
  pairingsPendingMax: 3,
  /** Validity of a pairing code. */
  pairingMsMax: 3_600_000,
  /** Unused claim codes. */
  claimsOpenMax: 100,
  claimMsDefault: 86_400_000,
  claimMsMax: 2_592_000_000,
  /** Wrong codes of one account before codes are ignored for `codeLockMs`. */
  codeGuessesMax: 5,
  codeLockMs: 900_000,
  /** Rows of the access store. */
  accessRowsMax: 100_000,
  /** Messages of a recording, or of labelled rooms, that the What-if page takes. */
  whatIfMessagesMax: 50_000,
  /** Bytes of a recording that is uploaded to it. */
  whatIfBytesMax: 33_554_432,
  hostRestartMsMax: 2_000,
  poisonDeathsMax: 3,
  /** More restarts than this within the period mark the pool broken. */
  restartIntensityMax: 10,
  restartPeriodMs: 30_000,
  drainMsMax: 10_000,
  abortMsMax: 1_000,
} as const;

const one = () => 1;

/**
 * Options for an LRU cache of at most this many entries, which takes memory as it fills. With `max`, lru-cache
 * allocates all entries when it is made: 0.7 ms and 240 kB for 10,000, which most accounts and rooms never need.
 */
export const atMost = (entries: number) => ({ maxSize: entries, sizeCalculation: one });
