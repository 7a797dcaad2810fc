import { TemplateError, TemplateOutputTooLargeError } from './template-error.ts';

/** One unit of work is one node visited or this many characters handled. */
const charactersPerStep = 64;

/** What one rendering may cost, whatever the template loops over or doubles. */
export class Budget {
  readonly #stepsMax: number;
  #steps = 0;

  constructor(stepsMax: number) {
    this.#stepsMax = stepsMax;
  }

  spend(characters = 0): void {
    this.#steps += 1 + characters / charactersPerStep;
    if (this.#steps <= this.#stepsMax) return;
    throw new TemplateError(
      'execute',
      `the template takes more than ${this.#stepsMax} steps; let it loop over less`,
    );
  }
}

/** Text that grows up to a bound in UTF-8 bytes. */
export class Output {
  readonly #bytesMax: number;
  #bytes = 0;
  text = '';

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  write(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#bytesMax) throw new TemplateOutputTooLargeError(this.#bytesMax);
    this.text += text;
  }
}
