/** A file as text: icon, name, kind and size. */
import { type AttachedFile, fileFacts, fileName } from "../lib/file-facts.ts";
import { Icon } from "./icons.tsx";

interface FileWordsProps {
  readonly file: AttachedFile;
  /** Instead of kind and size. */
  readonly facts?: string;
}

export function FileWords({ file, facts = fileFacts(file) }: FileWordsProps) {
  return (
    <>
      <Icon name={file.kind} size={16} />
      <span class="file-words">
        <bdi class="cut">{fileName(file)}</bdi> <span class="small muted">{facts}</span>
      </span>
    </>
  );
}
