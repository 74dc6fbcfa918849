/**
 * Files of a line
 * ===============
 * A plain picture is a thumbnail that opens larger; any other file is a chip with its name, kind
 * and size that saves it, and audio can be played. Space is reserved, so that nothing moves when a
 * picture loads. A file that is no longer stored says so and does nothing.
 */
import { useEffect, useRef, useState } from "preact/hooks";
import { type AttachedFile, fileFacts, fileName, isDrawn } from "../lib/file-facts.ts";
import { download, NotNow, pictureOf, whenBack } from "../lib/pictures.ts";
import { playSound } from "../lib/sounds.ts";
import { FileWords } from "../ui/file-label.tsx";
import { Icon } from "../ui/icons.tsx";

/** Points a side: twice what the style gives them, for fine screens. */
const thumbSide = 480;
const wholeSide = 2_048;

interface FilesProps {
  readonly files: readonly AttachedFile[];
  readonly token: string;
  /** Of the person who looks: at the right. */
  readonly mine?: boolean;
}

export function Files({ files, token, mine = false }: FilesProps) {
  if (files.length === 0) return null;
  const classes = ["files", ...(mine ? ["mine"] : []), ...(files.length > 1 ? ["many"] : [])];
  return (
    <ul class={classes.join(" ")} aria-label="Files">
      {files.map((file, index) => (
        <li key={file.id ?? index}>
          {isDrawn(file) ? (
            <Thumb file={file} id={file.id as string} token={token} />
          ) : (
            <FileChip file={file} token={token} />
          )}
          {file.kind === "audio" && file.id !== undefined && (
            <Play id={file.id} name={fileName(file)} token={token} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** Whether a call never reached the daemon: that is a TypeError. */
const isAway = (error: unknown): boolean => error instanceof TypeError;

/** Why a file that is kept cannot be had. */
const awayFacts = {
  "out of reach": "earshot is not responding",
  "not now": "cannot be read from another node now",
} as const;

/** A file by its name; pressed, it is saved. */
function FileChip({ file, token }: { readonly file: AttachedFile; readonly token: string }) {
  const [state, setState] = useState<"kept" | "gone" | keyof typeof awayFacts>("kept");
  const { id } = file;
  const name = fileName(file);
  const gone = state === "gone";
  if (id === undefined || gone)
    return (
      <span class="file-chip" role={gone ? "status" : undefined}>
        <FileWords file={file} {...(gone ? { facts: "no longer stored" } : {})} />
      </span>
    );
  return (
    <button
      type="button"
      class="file-chip"
      title="Save"
      onClick={() =>
        download(token, id, name).then(
          () => setState("kept"),
          (error) =>
            setState(isAway(error) ? "out of reach" : error instanceof NotNow ? "not now" : "gone"),
        )
      }
    >
      <span class="sr">Save</span>{" "}
      <FileWords file={file} {...(state === "kept" ? {} : { facts: awayFacts[state] })} />
      <Icon name="save" size={14} />
    </button>
  );
}

interface PlayProps {
  readonly id: string;
  readonly name: string;
  readonly token: string;
}

/** Plays a sound, or stops it. One that this browser does not know can still be saved. */
function Play({ id, name, token }: PlayProps) {
  const [state, setState] = useState<"quiet" | "playing" | "unknown">("quiet");
  const stop = useRef(new AbortController());
  useEffect(() => () => stop.current.abort(), []);
  const press = () => {
    if (state === "playing") return stop.current.abort();
    stop.current = new AbortController();
    setState("playing");
    playSound(token, id, stop.current).then(
      () => setState("quiet"),
      () => setState("unknown"),
    );
  };
  if (state === "unknown")
    return (
      <span class="small muted" role="status">
        Cannot be played here
      </span>
    );
  const word = state === "playing" ? "Stop" : "Play";
  return (
    <button type="button" class="btn small" aria-label={`${word} ${name}`} onClick={press}>
      {word}
    </button>
  );
}

interface ThumbProps {
  readonly file: AttachedFile;
  readonly id: string;
  readonly token: string;
}

function Thumb({ file, id, token }: ThumbProps) {
  const place = useRef<HTMLButtonElement>(null);
  const [open, setOpen] = useState(false);
  const { address, failure } = usePicture(place, token, id);
  const name = fileName(file);
  if (failure !== null) return <FileChip file={file} token={token} />;
  return (
    <>
      <button
        type="button"
        class="thumb"
        ref={place}
        aria-label={`Show ${name}, ${fileFacts(file)}`}
        onClick={() => setOpen(true)}
      >
        {address !== null && <img src={address} alt={name} />}
      </button>
      {open && (
        <Whole
          file={file}
          id={id}
          token={token}
          onClose={() => {
            setOpen(false);
            place.current?.focus();
          }}
        />
      )}
    </>
  );
}

/** The thumbnail, asked for when its place comes near what is seen. */
function usePicture(place: { readonly current: Element | null }, token: string, id: string) {
  const [address, setAddress] = useState<string | null>(null);
  const [failure, setFailure] = useState<"no daemon" | "no picture" | null>(null);
  useEffect(() => {
    if (failure === "no daemon") return whenBack(() => setFailure(null));
    const { current } = place;
    if (current === null || address !== null || failure !== null) return;
    let left = false;
    const look = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        look.disconnect();
        pictureOf(token, id, thumbSide).then(
          (copy) => left || setAddress(copy),
          (error) => left || setFailure(isAway(error) ? "no daemon" : "no picture"),
        );
      },
      // The margin applies to the scrolled element, not to what is around it.
      { root: current.closest(".scroll"), rootMargin: "400px" },
    );
    look.observe(current);
    return () => {
      left = true;
      look.disconnect();
    };
  }, [token, id, failure]);
  return { address, failure };
}

function Whole({ file, id, token, onClose }: ThumbProps & { readonly onClose: () => void }) {
  const dialog = useRef<HTMLDialogElement>(null);
  const [address, setAddress] = useState<string | null>(null);
  const [note, setNote] = useState<string | null>(null);
  const name = fileName(file);
  const gone = (error: unknown) =>
    setNote(
      error instanceof NotNow
        ? "It cannot be read now: try again later."
        : "It is no longer stored.",
    );
  useEffect(() => {
    dialog.current?.showModal();
    pictureOf(token, id, wholeSide).then(setAddress, gone);
  }, []);
  return (
    <dialog class="picture" ref={dialog} aria-label={name} onClose={onClose}>
      <div class="picture-head">
        <bdi class="cut">{name}</bdi>
        <span class="small muted">{note ?? fileFacts(file)}</span>
        <span class="end">
          <button
            type="button"
            class="btn small"
            onClick={() => download(token, id, name).catch(gone)}
          >
            Save
          </button>
          <button type="button" class="btn small" onClick={() => dialog.current?.close()}>
            Close
          </button>
        </span>
      </div>
      {address !== null && <img src={address} alt={name} />}
    </dialog>
  );
}
