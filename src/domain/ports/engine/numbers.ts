/**
 * Numbers of rows, where several nodes keep conversations
 * =======================================================
 * A conversation's events and transcript lines are numbered by the node on which it is active. No two rows of one
 * table have the same number, whichever conversation they are of, so that a node can put the rows of all of them
 * into one database. They grow with time, and always within a conversation, and are far apart.
 */
export interface Numbers {
  /** Greater than each that this node has given. */
  next(): number;
}
