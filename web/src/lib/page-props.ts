/** Properties that the frame gives to every page. */
import type { Link } from "./connection-state.ts";

export interface PageProps {
  readonly token: string;
  /**
   * The page's own connection, shown by the badge in the bar. `refused` replaces the page by the
   * words about tokens.
   */
  readonly onLink: (link: Link) => void;
  /** Opens the list of keys. */
  readonly onHelp: () => void;
}
