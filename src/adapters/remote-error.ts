import type { RemoteError as RemoteErrorPort } from '../activities/ports.ts';

/** A call of something far away that has no answer. The message is the contract's and holds no header and no query. */
export class RemoteError extends Error implements RemoteErrorPort {
  override readonly name = 'RemoteError';
  readonly kind: RemoteErrorPort['kind'];
  /** False only where the request certainly never reached the far side. */
  readonly sent: boolean;
  readonly status?: number;
  readonly retryAfterMs?: number;

  constructor(
    kind: RemoteErrorPort['kind'],
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
