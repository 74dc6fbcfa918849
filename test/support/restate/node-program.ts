/**
 * A node in a process of its own, to be killed: `node-program.ts <port> [<hang on message id>]`. Prints a
 * line when it listens, and one for each message whose step is performed. The performance of the message to
 * hang on never ends.
 */
import { openTestNode } from "./node.ts";

const [, , port, hangOn] = process.argv;
const print = (line: object) => process.stdout.write(`${JSON.stringify(line)}\n`);

await openTestNode({
  port: Number(port),
  perform: async ({ key, steps }) => {
    const seqs = steps.map(({ seq }) => seq);
    print({ performed: { key, seqs } });
    if (hangOn !== undefined && seqs.includes(Number(hangOn))) await new Promise(() => undefined);
  },
});
print({ listening: Number(port) });
