/**
 * News of what nodes share, with the beats
 * ========================================
 * Each beat of a node says which version it has of each object that all nodes share, so none of them has to ask for it
 * again and again: it reads what another one has newer. A change is said with a beat at once, which ends the others' long
 * poll for leases. It may be lost with a node that dies right behind its change, so each still looks sometimes, and often
 * while it cannot hear of the others: Restate does not answer, or one of them is of a version that says nothing.
 */

/** An object's rows, on this node. */
export interface NewsReader {
  /** Which version is known here. */
  version(): number;
  /** Some node has this version; 0: none that is known. Also called where nothing has changed. */
  heard(version: number): void;
}

/** By the name of the object. */
export type Versions = Readonly<Record<string, number>>;

export interface SharedNews {
  join(object: string, reader: NewsReader): void;
  /** Whether this node would hear of a change. */
  isHearing(): boolean;
  /** To be called when this node knows of a version that it has not heard of: it is said to the others now. */
  changed(): void;
  /** What a beat says. */
  versions(): Versions;
  /** The newest of all nodes; null: not all nodes can be heard. */
  heard(versions: Versions | null): void;
  /** `say` makes a beat. */
  follow(say: () => void): void;
}

/** @param isOnlyNode there is nobody to be heard */
export function createSharedNews(isOnlyNode: boolean): SharedNews {
  const readers = new Map<string, NewsReader>();
  let isHearing = isOnlyNode;
  let say: () => void = () => undefined;
  return {
    join: (object, reader) => void readers.set(object, reader),
    isHearing: () => isHearing,
    changed: () => say(),
    versions: () =>
      Object.fromEntries([...readers].map(([object, reader]) => [object, reader.version()])),
    heard(versions) {
      isHearing = versions !== null;
      for (const [object, reader] of readers) reader.heard(versions?.[object] ?? 0);
    },
    follow(next) {
      say = next;
    },
  };
}
