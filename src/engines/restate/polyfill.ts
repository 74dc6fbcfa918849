/**
 * `Promise.withResolvers`, which Restate's SDK calls and Node 20 lacks. Only what starts the engine calls this,
 * before it loads the SDK: a daemon of one process runs without it.
 */
interface Resolvers<Value> {
  readonly promise: Promise<Value>;
  readonly resolve: (value: Value | PromiseLike<Value>) => void;
  readonly reject: (reason?: unknown) => void;
}

/** Adds it where it is missing. */
export function provideResolvers(): void {
  const known = Promise as PromiseConstructor & { withResolvers?: <Value>() => Resolvers<Value> };
  known.withResolvers ??= <Value>(): Resolvers<Value> => {
    const made: { resolve?: Resolvers<Value>["resolve"]; reject?: Resolvers<Value>["reject"] } = {};
    const promise = new Promise<Value>((resolve, reject) => {
      Object.assign(made, { resolve, reject });
    });
    // A promise calls its executor before its constructor returns.
    return { promise, ...(made as Required<typeof made>) };
  };
}
