import type { ContentfulStatusCode } from 'hono/utils/http-status';

/** A request that is not served, with what its sender is told. Each dialect writes it in its own form. */
export class Refusal extends Error {
  override readonly name = 'Refusal';
  readonly status: ContentfulStatusCode;

  constructor(status: ContentfulStatusCode, message: string) {
    super(message);
    this.status = status;
  }
}
