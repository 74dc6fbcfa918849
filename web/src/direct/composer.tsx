/**
 * The composer of the direct chat
 * ===============================
 * A line to the agent. One that begins with a slash opens a small list of the daemon's commands: arrows
 * choose, Tab or Enter takes the chosen one, Escape closes it. Enter without a choice sends the line as
 * it is, so nobody who knows a command is kept from saying it.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { limits } from "../../../src/domain/limits.ts";
import { shownName, shownText } from "../parts/harmless.ts";
import { completed, type Offer, offersFor } from "./commands.ts";

export interface DirectComposerProps {
  readonly agentName: string;
  /** The daemon's commands; rejects where it cannot be asked. */
  readonly commands: () => Promise<readonly Offer[]>;
  readonly onSay: (text: string) => void;
}

const listId = "commands";
const optionId = ({ name }: Offer) => `command-${name.replaceAll(":", "-")}`;

/** The daemon's commands, fetched when a slash is first typed. */
function useCommands(text: string, fetchAll: DirectComposerProps["commands"]): readonly Offer[] {
  const [all, setAll] = useState<readonly Offer[]>([]);
  const asking = useRef(false);
  const wanted = text.startsWith("/");
  useEffect(() => {
    if (!wanted || asking.current || all.length > 0) return;
    asking.current = true;
    // Without the list the line is typed as ever; it is asked for again at the next slash.
    fetchAll()
      .then(setAll, () => undefined)
      .finally(() => {
        asking.current = false;
      });
  }, [wanted]);
  return all;
}

export function DirectComposer({ agentName, commands, onSay }: DirectComposerProps) {
  const [text, setText] = useState("");
  /** The offer that arrows have reached; null: none. */
  const [at, setAt] = useState<number | null>(null);
  const [closed, setClosed] = useState(false);
  const box = useRef<HTMLTextAreaElement>(null);
  const all = useCommands(text, commands);
  const offers = closed ? [] : offersFor(text, all);
  const open = offers.length > 0;
  const chosen = at === null ? undefined : offers[at];
  const write = (next: string) => {
    setText(next);
    setAt(null);
    setClosed(false);
  };
  const take = (offer: Offer) => {
    write(completed(offer));
    setClosed(true);
    box.current?.focus();
  };
  const say = () => {
    if (text.trim() === "") return;
    onSay(text);
    write("");
  };
  const move = (by: number) =>
    setAt((now) => {
      const from = now ?? (by > 0 ? -1 : 0);
      return (from + by + offers.length) % offers.length;
    });
  const keys = (event: KeyboardEvent) => {
    if (event.isComposing) return;
    const done = () => event.preventDefault();
    if (open && (event.key === "ArrowDown" || event.key === "ArrowUp")) {
      done();
      move(event.key === "ArrowDown" ? 1 : -1);
    } else if (open && event.key === "Tab" && !event.shiftKey) {
      done();
      take(chosen ?? (offers[0] as Offer));
    } else if (open && event.key === "Enter" && chosen !== undefined) {
      done();
      take(chosen);
    } else if (event.key === "Enter" && !event.shiftKey) {
      done();
      say();
    } else if (event.key === "Escape") {
      if (open) setClosed(true);
      else write("");
    }
  };
  const name = shownName(agentName);
  return (
    <div class="composer">
      <div class="box">
        {open && <Offers offers={offers} chosen={chosen} onTake={take} />}
        <textarea
          rows={1}
          ref={box}
          aria-label={`Message to ${name}`}
          aria-autocomplete="list"
          aria-haspopup="listbox"
          aria-controls={open ? listId : undefined}
          aria-activedescendant={chosen === undefined ? undefined : optionId(chosen)}
          placeholder={`Message ${name}`}
          maxLength={limits.textUnitsMax}
          value={text}
          onInput={(event) => write(event.currentTarget.value)}
          onKeyDown={keys}
        />
        <div class="tools">
          <span class="end">
            <button type="button" class="btn small" onClick={say}>
              Send
            </button>
          </span>
        </div>
      </div>
    </div>
  );
}

interface OffersProps {
  readonly offers: readonly Offer[];
  readonly chosen: Offer | undefined;
  readonly onTake: (offer: Offer) => void;
}

function Offers({ offers, chosen, onTake }: OffersProps) {
  return (
    <div class="offers" id={listId} role="listbox" aria-label="Commands">
      {offers.map((offer) => (
        <div
          key={offer.name}
          id={optionId(offer)}
          class="offer"
          role="option"
          tabIndex={-1}
          aria-selected={offer === chosen}
          // The line keeps the focus.
          onMouseDown={(event) => {
            event.preventDefault();
            onTake(offer);
          }}
        >
          <span class="mono">/{offer.name}</span>
          <span class="cut muted">{shownText(offer.help)}</span>
        </div>
      ))}
    </div>
  );
}
