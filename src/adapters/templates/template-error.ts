/** A template that cannot be read (`parse`) or cannot be rendered with this data (`execute`); the message is Go's own. */
export class TemplateError extends Error {
  override readonly name: string = 'TemplateError';
  readonly phase: 'parse' | 'execute';

  constructor(phase: 'parse' | 'execute', message: string) {
    super(message);
    this.phase = phase;
  }
}

/** The template works but makes more text than allowed. */
export class TemplateOutputTooLargeError extends TemplateError {
  override readonly name = 'TemplateOutputTooLargeError';

  constructor(bytesMax: number) {
    super('execute', `the template makes more than ${bytesMax} bytes; let it print less`);
  }
}
