/** The limits of engines that keep conversations outside of the daemon. Times are in ms. */
export const engineLimits = {
  /** Events that one call of an engine carries to a conversation. */
  batchEventsMax: 256,
  /** How long a node waits for such a call; those who offered its events may offer them again. */
  callMsMax: 30_000,
  /** Events that wait on a node for their conversation's call; more are refused. */
  inboxEventsMax: 4_096,
  /** The latest events by which an inbox recognises one that comes again; the journal recognises older ones. */
  seenMax: 256,
  /** Orders that wait for their conversation; more are refused. */
  ordersMax: 256,
  /** How long a caller waits for the outcome of an order, which is carried out all the same. */
  orderMsMax: 120_000,
  /** How often it looks for it at last. */
  orderLookMsMax: 1_000,
  /** A node that holds leases of connections says so this often. */
  leaseBeatMs: 2_000,
  /** It stops using them this long after it sent the last one that was answered. */
  leaseValidMs: 7_000,
  /** Another node that has seen nothing new of it for so long may take them: 3 s are left to disconnect. */
  leaseLapseMs: 10_000,
  leaseCallMsMax: 5_000,
  /** How long a node asks for news of leases before it asks again. */
  leaseWaitMs: 30_000,
  leaseAccountsMax: 1_000,
  /** Of them, those of which other nodes show that a node wants them. */
  leaseWantsShown: 64,
  /** Nodes that are gone and still shown. */
  leaseGoneKept: 8,
  /** How long they are. */
  leaseGoneMs: 86_400_000,
  /** A node looks this often whether the server answers, and waits so long for it. */
  serverLookMs: 2_000,
  serverLookMsMax: 5_000,
  /** How often a node asks for calls that fail, after how many failures, how many it reads, and how many are shown. */
  failingCallsLookMs: 5_000,
  failingCallsMin: 5,
  failingCallsRead: 200,
  failingCallsShown: 20,
  /** A conversation that has stored nothing for so long, while its call fails, is a problem. */
  failingCallMsMax: 15_000,
  /** A copy that has lacked something for so long is a problem. */
  copyBehindMsMax: 30_000,
  /** Calls that wait for the connection of an account; more are refused, and come again. */
  outletCallsMax: 1_000,
  /** Typing and reads of members that wait for it; more are dropped. */
  outletHintsMax: 64,
  /** A call that no node has taken for so long is withdrawn: longer than a lease takes to lapse. */
  outletWaitMs: 13_000,
  /** How long what became of a call is known to somebody who asks for it again. */
  outletKnownMs: 3_600_000,
  /** A node that has an account's connection shows typing for so long after it heard of it last. */
  outletTypingMs: 30_000,
  /** A file that is carried goes in parts of so many UTF-16 units of Base64, and at most so many. */
  outletPartUnitsMax: 1_000_000,
  outletPartsMax: 64,
  /** Bytes of one piece of a file that nodes share, and pieces of one: as much as `media.maxBytes` allows. */
  filePieceBytes: 393_216,
  filePiecesMax: 2_731,
  /** What is said of such a file, and of what it belongs to, UTF-16 units. */
  fileFactsUnitsMax: 4_096,
  /** When pieces of a file are deleted that was never completed. */
  fileUnfinishedMs: 3_600_000,
  /** How long a node waits for what is known of a file, and how soon it asks again after it got no answer. */
  fileLookMsMax: 5_000,
  fileLookAgainMs: 5_000,
  /** A node that cannot reach Restate tries again after so long. */
  outletAgainMs: 250,
  leaseNodesMax: 100,
  /** How often a node looks whether Restate knows all that it serves, and how soon it registers again. */
  registeredLookMs: 30_000,
  registerAgainMs: 5_000,
  /** How long it may take to register: the server tries for half a minute to reach a node that stands still. */
  registerMsMax: 60_000,
  /** How long a caller waits for a decision that another node makes, and when it looks first. */
  decisionMsMax: 9_000,
  decisionLookMs: 30,
  /** How often a node looks for what others have changed of who may speak, while it cannot hear of it. */
  sharedLookMs: 1_000,
  /** The same, while it would. */
  sharedRareLookMs: 30_000,
  /** While it cannot hear, the same for what accounts could not recover, which is for people. */
  gapLookMs: 5_000,
  /** How soon a report of it is stored again that could not be, and how long a node that stops waits for the last. */
  gapAgainMs: 1_000,
  /** The newest such changes; a node that has missed more reads everything again. */
  changesMax: 256,
  /** How often an active conversation is looked at: does it rest? */
  lookMs: 250,
  /** A conversation that has been quiet for this long, and has nothing due within it, is stored and left. */
  restMs: 2_000,
  /** Processes of nodes that can number rows at the same time: places are given in turn. */
  numberPlaces: 1_024,
  /** A place is exchanged for another after this time, long before its turn comes again. */
  numberPlaceMs: 3_600_000,
  /** Between two calls in which a node reports what it has stored to the others. */
  feedMs: 150,
  /** How long a node that stops waits for its last one. */
  feedLastMs: 2_000,
  /** Text of one such call, UTF-16 units; what does not fit goes with the next, or asked for. */
  feedUnitsMax: 500_000,
  /** Lines of the event stream in one; more are left out. */
  feedLinesMax: 256,
  /** Questions to other nodes, and answers, in one; more are lost. */
  feedNotesMax: 64,
  /** Frames for pages of the web chat in one; more are lost. */
  feedFramesMax: 64,
  /** How often the texts of running turns are reported that somebody looks at on another node. */
  feedTextMs: 1_000,
  /** A longer one is not reported, UTF-16 units: those nodes show it when it is stored. */
  feedTextUnitsMax: 100_000,
  /** Conversations that people look at on a node, of which the others know. */
  watchedShown: 32,
  /** How long a node waits for the answers of the others. */
  askMsMax: 3_000,
  /** Text of an answer, UTF-16 units of JSON; a longer one is not given. */
  answerUnitsMax: 100_000,
  /** The newest such calls of all nodes that are kept; one that has missed more compares everything. */
  feedKept: 64,
  /** How long a node asks for news before it asks again. */
  feedWaitMs: 10_000,
  /** Conversations that a node asks for as a whole at a time. */
  fetchesAtOnce: 8,
  /** Revisions of conversations that are read together, and how long that may take. */
  revisionsTogether: 10_000,
  queryMsMax: 60_000,
  /** A node that could not make a conversation active for its heartbeats tries again after so long. */
  wakeAgainMs: 1_000,
  /** Journal rows that are kept together; a change of one stores them all. */
  rowsTogether: 16,
  /** How often Restate makes a call that no node answers, every 5 s at last: 300 years. */
  attemptsMax: 2_000_000_000,
  /** Text of the rows that one call carries to a conversation that was kept elsewhere, UTF-16 units of JSON. */
  fillUnitsMax: 1_000_000,
  /** Conversations that are moved to an engine at a time. */
  fillsAtOnce: 8,
  /** How long a call may be silent before Restate takes its node for stuck: a turn may last. */
  silenceMsMax: 86_400_000,
} as const;
