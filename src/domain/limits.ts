/**
 * Limits
 * ======
 * Every bound in one place, unit and `Max` last. A queue, buffer, map or stream without a line here
 * does not exist. At the cap the documented policy applies (refuse, drop oldest, summarise) and is
 * counted. Lengths of text are UTF-16 units, times are ms, sizes are bytes.
 */
export const limits = {
  /** Platform ids are short; a longer one is an attack on keys and indexes. */
  idUnitsMax: 512,
  /** Display names, titles, file names as accepted from outside. */
  labelUnitsMax: 4_096,
  /** The part of a label that is ever shown to an agent or a person. */
  labelShownUnitsMax: 64,
  /** Traces that are open at the same time: messages to be answered, and turns. */
  tracesOpenMax: 10_000,
  /** The largest message text accepted (platforms allow 4,096 to 40,000). */
  textUnitsMax: 100_000,
  /** The part of a text that alias and peer-name matching looks at. */
  matchUnitsMax: 16_384,
  mentionsCountMax: 1_000,
  attachmentsCountMax: 100,
  rolesCountMax: 1_000,
  historyCountMax: 200,

  /** HTTP body of a request. */
  bodyBytesMax: 1_048_576,
  /** One request's headers, and then its body, must have arrived after this. */
  bodyMsMax: 10_000,
  inboundArrayCountMax: 1_000,
  /** Body of a request to a hook while nothing but the body can prove who posts it. */
  hookUnprovenBytesMax: 65_536,
  /** All bodies of hooks that are arriving; over it the oldest is let go. */
  hookBodiesBytesMax: 33_554_432,
  /** Verified requests of one hook that are recognised when they come again. */
  hookReplaysMax: 10_000,
  /** Verified requests of one hook a second, over a few seconds. */
  hookPerSecondMax: 100,
  /** How old or early a signed request may be at most, whatever is configured. */
  hookWindowMsMax: 900_000,

  participantsCountMax: 50,
  peerBotsCountMax: 50,
  creditsCountMax: 200,
  ownMessagesCountMax: 64,
  spokenRoutesCountMax: 64,
  inboxFlushesMax: 1_000,
  batchMessagesCountMax: 200,
  /** Lines of a session's transcript that a turn is given; more are summarised first. */
  transcriptLinesMax: 2_000,
  /** UTF-16 units of transcripts that are kept in memory, over all sessions. */
  transcriptUnitsCachedMax: 33_554_432,
  /** Session files whose end is known, so that they need not be read before a line is added. */
  sessionFilesKnownMax: 10_000,

  /** One group commit: a few ms of writing for one fsync. */
  commitRowsMax: 1_024,
  /** Events that a conversation which is put away leaves to its journal tail without a record. */
  evictedTailEventsMax: 32,
  /** Conversations with such a tail; while there are more, those put away leave a record. */
  tailedConversationsMax: 100_000,
  /** One message across threads. */
  hostBatchEventsMax: 128,
  /** The record of one conversation. */
  recordUnitsMax: 4_194_304,
  /** Messages of one incarnation of a host that have no form we know; then it is ended. */
  hostRefusalsMax: 100,
  /** Conversations of one host that somebody who looks into all of them is shown. */
  inspectActorsMax: 64,
  /** Who looks into conversations at the same time. */
  inspectReadersMax: 16,
  /** One event or one state as an inspector is shown it; a larger one is only said to be so. */
  inspectUnitsMax: 65_536,
  /** Frames about inspected conversations that a host tells at once. */
  inspectFramesMax: 1_024,
  /** What waits for one inspector; who is further behind is let go. */
  inspectUnsentBytesMax: 16_777_216,
  /** Tickets that open one inspection each, and how long they are good. */
  inspectTicketsMax: 64,
  inspectTicketMs: 60_000,
  /** Credit window a host: less than this does not last until the main thread looks again. */
  hostBatchesInFlightMax: 16,
  /** Events that wait for their hosts; while there are more, the intake waits too. */
  backlogEventsMax: 16_384,
  /** Admitted but not yet committed; beyond it ingress answers 503. */
  ingressPendingMax: 10_000,

  /** Everything an agent may say in one turn. */
  agentBytesMax: 1_048_576,
  agentEventsMax: 100_000,
  blocksPerTurnMax: 64,
  /** A room that interrupts more often than this waits until so much time has passed. */
  interruptMsMin: 1_000,
  /** Tries of one turn whose host is lost before it said anything. */
  turnAttemptsMax: 3,
  /** Threads for turns that may have killed their host; one turn each. */
  isolatedTurnsMax: 4,
  /** Such turns that are remembered. */
  suspectTurnsMax: 1_000,
  /** One event of an agent's stream. */
  agentEventUnitsMax: 262_144,

  /** Conversations in the list of rooms; others are found by a search. */
  roomsListedMax: 10_000,
  /** Rooms whose member read is remembered. */
  membershipRoomsMax: 10_000,
  /** Messages of the platform that one block may become. */
  sendPartsMax: 16,
  /** Sends of several parts that are between two parts. */
  unfinishedSendsMax: 1_000,
  /** One answer of a platform's API. */
  platformAnswerBytesMax: 16_777_216,
  /** One file fetched from a platform. */
  platformFileBytesMax: 20_971_520,
  /** Files fetched or converted at the same time, in the daemon and for one conversation. */
  mediaJobsMax: 4,
  mediaJobsPerConversationMax: 2,
  /** Files that wait for that; what comes on top is shown as a placeholder. */
  mediaJobsWaitingMax: 256,
  /** Readings kept in memory; older ones lie beside their files. */
  mediaReadingsMax: 200,
  /** Files and pages of one turn that are read without being asked for. */
  mediaPerTurnMax: 16,
  /** Words of one file, as kept and as an agent is told them when it asks. */
  mediaTextUnitsMax: 16_000,
  /** Words of one file that stand in a prompt without being asked for. */
  mediaShownUnitsMax: 4_000,
  /** One picture for a model: what every provider takes, in bytes and in points a side. */
  imageBytesMax: 3_750_000,
  imagePointsMax: 8_000,
  /** Pictures of one turn for an agent that takes them, and the bytes of all of them. */
  turnImagesMax: 8,
  turnImagesBytesMax: 16_777_216,
  /** Files that pages give to the webchat: at the same time, with one message. */
  uploadsAtOnceMax: 8,
  uploadsPerMessageMax: 16,
  /** Those that were sent with no message yet: so many, and so old; then the oldest go. */
  uploadsUnsentMax: 100,
  uploadUnsentMsMax: 21_600_000,
  /** One that comes more slowly, after its first `bodyMsMax`, is cut. */
  uploadBytesPerSecondMin: 32_768,
  /** Of a page that a message links to. */
  linkBytesMax: 1_048_576,
  /** What a turn may ask the main thread for. */
  asksPerTurnMax: 200,
  askMsMax: 90_000,
  /** Permissions that one turn's agent waits for at the same time; more are refused. */
  permitsPerTurnMax: 20,
  attachmentsListedMax: 50,
  /** The newest journal rows, of all conversations, that a look into the past goes through. */
  searchRowsMax: 20_000,
  searchHitsMax: 20,
  searchQueryUnitsMax: 200,
  /** Heartbeats of one conversation are at least so far apart. */
  heartbeatMsMin: 1_000,
  /** The file that says what an agent looks after when nobody has written. */
  heartbeatBytesMax: 65_536,
  /** What one skill tells its agent, and how many skills an agent has. */
  skillUnitsMax: 16_000,
  skillsPerAgentMax: 100,
  /** One call of a plugin's command, and what it may answer. */
  commandMsMax: 10_000,
  commandAnswerUnitsMax: 12_000,
  /** One call of a plugin's hook. */
  hookMsMax: 2_000,
  /** Calls of one plugin's hooks that have not ended; while there are more, it is told no more. */
  hookCallsMax: 1_000,
  pluginsMax: 100,
  /** What the webhook channel keeps of what it sent. */
  webhookKeptMax: 1_000,
  /** What the terminal keeps for the next console. */
  terminalUnshownMax: 100,

  sendMsMax: 20_000,
  /** A send that is refused for now is tried until it is too old; so many tries end it anyway. */
  sendAttemptsMax: 2_000,
  /** Messages that are edited in place while an answer grows, at the same time. */
  draftsMax: 10_000,
  /** Shortest time between two such edits in one room. */
  draftEditMsMin: 1_000,
  /** Pause after such an edit failed, where the platform names none. */
  draftBackoffMs: 5_000,
  /** Calls to one account at the same time. */
  sendsPerAccountMax: 8,
  /** A reaction that could not be put for so long is not put any more. */
  reactionAgeMsMax: 60_000,
  /** One that could not be taken off is tried for so long: it says that somebody is answered. */
  unreactionAgeMsMax: 86_400_000,
  /** Strangers of one account that wait to be approved; while so many do, others hear nothing. */
  pairingsPendingMax: 3,
  /** A pairing code is good for so long. */
  pairingMsMax: 3_600_000,
  /** Claim codes that nobody has used yet. */
  claimsOpenMax: 100,
  claimMsDefault: 86_400_000,
  claimMsMax: 2_592_000_000,
  /** Wrong codes of one account; after so many none is looked at for a while. */
  codeGuessesMax: 5,
  codeLockMs: 900_000,
  /** Lines of the access book. */
  accessRowsMax: 100_000,
  hostRestartMsMax: 2_000,
  poisonStrikesMax: 3,
  /** More restarts than this within the period mark the pool broken. */
  restartIntensityMax: 10,
  restartPeriodMs: 30_000,
  drainMsMax: 10_000,
  abortMsMax: 1_000,
} as const;
