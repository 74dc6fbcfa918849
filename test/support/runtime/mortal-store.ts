/**
 * A store whose process can die
 * =============================
 * From the moment of death nothing more is written, whatever the dying runtime still wants; what
 * was committed before is there for the next one.
 */
import { createMemoryStore, type MemoryStore } from "../../../src/adapters/stores/memory.ts";
import type { Store } from "../../../src/domain/ports/index.ts";
import type { World } from "./world.ts";

export interface MortalStore {
  readonly store: Store;
  readonly memory: MemoryStore;
  /** Ends the world's process as kill -9 would, and starts another on what it left. */
  kill(world: World): Promise<void>;
}

export function createMortalStore(): MortalStore {
  const memory = createMemoryStore();
  let alive = true;
  const store = Object.create(memory, {
    commit: {
      value: (writes: Parameters<Store["commit"]>[0]) =>
        alive ? memory.commit(writes) : Promise.resolve(writes.map(() => 0)),
    },
    close: { value: () => Promise.resolve() },
  }) as Store;
  return {
    store,
    memory,
    async kill(world) {
      alive = false;
      const told = world.lines.length;
      await world.runtime.stop();
      world.lines.splice(told);
      alive = true;
      await world.start();
    },
  };
}
