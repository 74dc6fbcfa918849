/**
 * A web service that judges lines of a room: a question waits until the test has an answer for the
 * text of its last line.
 */
import { createServer, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import type { JudgeQuestion } from "../../../src/domain/judgement.ts";

/** A status: it answers with that and no body. */
type Reply = Readonly<Record<string, unknown>> | number;

export interface JudgeServer {
  readonly url: string;
  /** What was posted, in order. */
  readonly questions: readonly (JudgeQuestion & { readonly headers: NodeJS.Dict<string> })[];
  /** Answers questions about this text, also one that waits. */
  answer(text: string, reply: Reply): void;
  close(): Promise<void>;
}

const textOf = ({ lines }: JudgeQuestion): string => lines.at(-1)?.text ?? "";

export async function startJudgeServer(): Promise<JudgeServer> {
  const questions: JudgeServer["questions"][number][] = [];
  const replies = new Map<string, Reply>();
  const waiting = new Map<string, ServerResponse[]>();
  const send = (response: ServerResponse, reply: Reply) => {
    if (typeof reply === "number") return void response.writeHead(reply).end();
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(reply));
  };
  const server = createServer((request, response) => {
    let body = "";
    request.on("data", (part) => {
      body += String(part);
    });
    request.on("end", () => {
      const { question } = JSON.parse(body) as { question: JudgeQuestion };
      questions.push({ ...question, headers: request.headers as NodeJS.Dict<string> });
      const text = textOf(question);
      const reply = replies.get(text);
      if (reply !== undefined) send(response, reply);
      else waiting.set(text, [...(waiting.get(text) ?? []), response]);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/judge`,
    questions,
    answer(text, reply) {
      replies.set(text, reply);
      for (const response of waiting.get(text) ?? []) send(response, reply);
      waiting.delete(text);
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
