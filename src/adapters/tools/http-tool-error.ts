import type { HttpToolError as HttpToolErrorPort } from '../../activities/ports.ts';

/** A call of an HTTP tool that has no answer. The message is the contract's (4.8) and holds no header and no query. */
export class HttpToolError extends Error implements HttpToolErrorPort {
  override readonly name = 'HttpToolError';
  readonly kind: HttpToolErrorPort['kind'];
  /** False only where the request certainly never reached the tool. */
  readonly sent: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;

  constructor(
    kind: HttpToolErrorPort['kind'],
    message: string,
    facts: { readonly sent: boolean; readonly status?: number; readonly retryAfterMs?: number | undefined },
  ) {
    super(message);
    this.kind = kind;
    this.sent = facts.sent;
    if (facts.status !== undefined) this.status = facts.status;
    if (facts.retryAfterMs !== undefined) this.retryAfterMs = facts.retryAfterMs;
  }
}
