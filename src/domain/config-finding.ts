/**
 * What a check has to say about a valid config: the place, what is wrong there and what to do about
 * it. Every command and the log print a finding with the same text.
 */
export interface ConfigFinding {
  /** Path in the config, for example `channels.telegram.accounts.work`. */
  readonly at: string;
  readonly wrong: string;
  readonly fix: string;
}

/** A finding as one line. */
export const findingText = ({ at, wrong, fix }: ConfigFinding): string => `${at}: ${wrong}: ${fix}`;
