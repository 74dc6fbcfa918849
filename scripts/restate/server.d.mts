/** A server that is ready. */
export interface StartedServer {
  readonly ingress: string;
  readonly admin: string;
  readonly pid: number;
  readonly data: string;
  readonly log: string;
  readonly ended: Promise<{ readonly code: number | null; readonly by: NodeJS.Signals | null }>;
}

export declare function startServer(
  binary: string,
  options: {
    readonly ingressPort: number;
    readonly adminPort: number;
    readonly data: string;
    readonly signal: AbortSignal;
    readonly own?: Readonly<Record<string, string>>;
  },
): Promise<StartedServer>;
