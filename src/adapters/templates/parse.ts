import { goQuote } from './go-quote.ts';
import { characterValue, numberValue, unquote, type Literal } from './literals.ts';
import {
  nodeText,
  type Branches,
  type Command,
  type Operand,
  type Pipeline,
  type Statement,
} from './nodes.ts';
import { TemplateError } from './template-error.ts';
import { tokenise, type Token, type TokenType } from './tokenise.ts';

/** Every template of one source by its name; the source's own is among them. */
export type Templates = ReadonlyMap<string, readonly Statement[]>;

export interface Grammar {
  readonly name: string;
  readonly functions: ReadonlySet<string>;
  /** Words that stand for the data's field of that name although no dot or `$.` is written before them. */
  readonly bareNames?: ReadonlySet<string>;
}

/** Blocks and parentheses within each other, both counted; Go itself stops at 10,000. */
const nestingMax = 250;

/** Reads a source; throws a TemplateError with Go's text and line where Go would refuse it. */
export function parse(source: string, grammar: Grammar): Templates {
  const templates = new Map<string, readonly Statement[]>();
  const stream: Stream = { tokens: tokenise(source), next: 0, seen: 0, depth: 0 };
  new Parser(grammar, stream, templates).root();
  return templates;
}

/** Shared by the parsers of one source: a `define` within it has its own variables but continues the same tokens. */
interface Stream {
  readonly tokens: readonly Token[];
  next: number;
  /** The furthest token looked at; errors name its line. */
  seen: number;
  depth: number;
}

type End = 'end' | 'else';
type Control = 'if' | 'with' | 'range';

const operandTypes: ReadonlySet<TokenType> = new Set<TokenType>([
  'bool',
  'character',
  'dot',
  'field',
  'identifier',
  'number',
  'nil',
  'raw-string',
  'string',
  'variable',
  'left-paren',
]);

class Parser {
  readonly #grammar: Grammar;
  readonly #stream: Stream;
  readonly #templates: Map<string, readonly Statement[]>;
  #variables = ['$'];
  #ranges = 0;
  #actionLine = 0;

  constructor(grammar: Grammar, stream: Stream, templates: Map<string, readonly Statement[]>) {
    this.#grammar = grammar;
    this.#stream = stream;
    this.#templates = templates;
  }

  root(): void {
    const body: Statement[] = [];
    while (this.#peek().type !== 'eof') {
      if (this.#startsDefinition()) {
        this.#nested().#definition();
        continue;
      }
      const statement = this.#statement();
      if (statement === 'end' || statement === 'else') this.#fail(`unexpected {{${statement}}}`);
      if (statement) body.push(statement);
    }
    this.#add(this.#grammar.name, body);
  }

  /** Takes `{{define`, if that is what comes next. */
  #startsDefinition(): boolean {
    if (this.#peek().type !== 'left-delimiter') return false;
    const before = this.#stream.next;
    this.#take();
    const word = this.#takeWord();
    if (word.type === 'keyword' && word.text === 'define') return true;
    this.#stream.next = before;
    return false;
  }

  #definition(): void {
    const context = 'define clause';
    const name = this.#templateName(context);
    this.#expect('right-delimiter', context);
    this.#add(name, this.#bodyOf(context));
  }

  /** Statements up to `{{end}}`, which nothing else may replace. */
  #bodyOf(context: string): Statement[] {
    const { body, end } = this.#list();
    if (end !== 'end') this.#fail(`unexpected {{${end}}} in ${context}`);
    return body;
  }

  /** A template of white space never replaces one that says something. */
  #add(name: string, body: readonly Statement[]): void {
    const known = this.#templates.get(name);
    if (!known || isBlank(known)) this.#templates.set(name, body);
    else if (!isBlank(body)) this.#fail(`template: multiple definition of template ${goQuote(name)}`);
  }

  #nested(): Parser {
    return new Parser(this.#grammar, this.#stream, this.#templates);
  }

  #list(): { body: Statement[]; end: End } {
    return this.#deeper(() => {
      const body: Statement[] = [];
      while (this.#peekWord().type !== 'eof') {
        const statement = this.#statement();
        if (statement === 'end' || statement === 'else') return { body, end: statement };
        body.push(statement);
      }
      return this.#fail('unexpected EOF');
    });
  }

  #statement(): Statement | End {
    const token = this.#takeWord();
    if (token.type === 'text') return { kind: 'text', at: token.at, text: token.text };
    if (token.type !== 'left-delimiter') return this.#unexpected(token, 'input');

    this.#actionLine = token.line;
    const statement = this.#action();
    this.#actionLine = 0;
    return statement;
  }

  #action(): Statement | End {
    const token = this.#peekWord();
    if (token.type !== 'keyword') {
      return { kind: 'action', at: token.at, pipeline: this.#pipeline('command', 'right-delimiter') };
    }
    switch (token.text) {
      case 'if':
      case 'with':
      case 'range':
        this.#take();
        return { kind: token.text, at: token.at, ...this.#control(token.text) };
      case 'else':
        this.#take();
        return this.#else();
      case 'end':
        this.#take();
        this.#expect('right-delimiter', 'end');
        return 'end';
      case 'break':
      case 'continue':
        this.#take();
        return this.#leaveRange(token.text, token.at);
      case 'template':
        this.#take();
        return this.#template();
      case 'block':
        this.#take();
        return this.#block();
      default:
        return this.#unexpected(token, 'command');
    }
  }

  /** `{{else if` and `{{else with` leave their second word to whoever asked for the else. */
  #else(): 'else' {
    const next = this.#peekWord();
    const goesOn = next.type === 'keyword' && (next.text === 'if' || next.text === 'with');
    if (!goesOn) this.#expect('right-delimiter', 'else');
    return 'else';
  }

  #control(kind: Control): Branches {
    const outside = this.#variables.length;
    const pipeline = this.#pipeline(kind, 'right-delimiter');

    if (kind === 'range') this.#ranges += 1;
    const { body, end } = this.#list();
    if (kind === 'range') this.#ranges -= 1;

    const otherwise = end === 'else' ? this.#otherwise(kind) : undefined;
    this.#variables.length = outside;
    return { pipeline, body, ...(otherwise && { otherwise }) };
  }

  #otherwise(kind: Control): Statement[] {
    const next = this.#peek();
    if (next.type === 'keyword' && next.text === kind && kind !== 'range') {
      this.#take();
      return this.#deeper(() => [{ kind, at: next.at, ...this.#control(kind) }]);
    }
    const { body, end } = this.#list();
    if (end !== 'end') this.#fail(`expected end; found {{${end}}}`);
    return body;
  }

  #leaveRange(kind: 'break' | 'continue', at: number): Statement {
    const token = this.#takeWord();
    if (token.type !== 'right-delimiter') this.#unexpected(token, `{{${kind}}}`);
    if (this.#ranges === 0) this.#fail(`{{${kind}}} outside {{range}}`);
    return { kind, at };
  }

  #template(): Statement {
    const context = 'template clause';
    const { at } = this.#peekWord();
    const name = this.#templateName(context);
    if (this.#peekWord().type === 'right-delimiter') {
      this.#takeWord();
      return { kind: 'template', at, name };
    }
    return { kind: 'template', at, name, pipeline: this.#pipeline(context, 'right-delimiter') };
  }

  #block(): Statement {
    const context = 'block clause';
    const { at } = this.#peekWord();
    const name = this.#templateName(context);
    const pipeline = this.#pipeline(context, 'right-delimiter');
    const inner = this.#nested();
    inner.#add(name, inner.#bodyOf(context));
    return { kind: 'template', at, name, pipeline };
  }

  #templateName(context: string): string {
    const token = this.#takeWord();
    if (token.type !== 'string' && token.type !== 'raw-string') return this.#unexpected(token, context);
    return this.#literal(unquote(token.text));
  }

  #pipeline(context: string, end: 'right-delimiter' | 'right-paren'): Pipeline {
    const { at } = this.#peekWord();
    const { variables, assigns } = this.#declarations(context);
    const commands: Command[] = [];
    for (;;) {
      const token = this.#takeWord();
      if (token.type === end) break;
      if (!operandTypes.has(token.type)) this.#unexpected(token, context);
      this.#stream.next -= 1;
      commands.push(this.#command());
    }
    if (commands.length === 0) this.#fail(`missing value for ${context}`);
    const constant = commands.findIndex(({ words: [first] }, stage) => stage > 0 && isConstant(first));
    if (constant > 0) this.#fail(`non executable command in pipeline stage ${constant + 1}`);
    return { kind: 'pipeline', at, variables, assigns, commands };
  }

  #declarations(context: string): { variables: readonly string[]; assigns: boolean } {
    const variables: string[] = [];
    for (;;) {
      const before = this.#stream.next;
      const variable = this.#takeWord();
      const sign = variable.type === 'variable' ? this.#peekWord() : undefined;

      if (variable.type === 'variable' && (sign?.type === 'assign' || sign?.type === 'declare')) {
        this.#takeWord();
        this.#variables.push(variable.text);
        return { variables: [...variables, variable.text], assigns: sign.type === 'assign' };
      }
      if (variable.type !== 'variable' || sign?.type !== 'other' || sign.text !== ',') {
        this.#stream.next = before;
        return { variables, assigns: false };
      }
      this.#takeWord();
      this.#variables.push(variable.text);
      variables.push(variable.text);
      if (context !== 'range' || variables.length > 1) this.#fail(`too many declarations in ${context}`);
      const { type } = this.#peekWord();
      if (type !== 'variable' && type !== 'right-delimiter' && type !== 'right-paren') {
        this.#fail('range can only initialize variables');
      }
    }
  }

  #command(): Command {
    const { at } = this.#peekWord();
    const words: Operand[] = [];
    for (;;) {
      this.#skipSpace();
      const word = this.#operand();
      if (word) words.push(word);

      const token = this.#take();
      if (token.type === 'space') continue;
      if (token.type === 'right-delimiter' || token.type === 'right-paren') this.#stream.next -= 1;
      else if (token.type !== 'pipe') this.#unexpected(token, 'operand');
      break;
    }
    const [first, ...rest] = words;
    if (!first) return this.#fail('empty command');
    return { kind: 'command', at, words: [first, ...rest] };
  }

  /** A term and the fields behind it. Like Go's, fields of a field stand where the second one begins. */
  #operand(): Operand | undefined {
    const term = this.#term();
    if (!term || this.#peek().type !== 'field') return term;

    const { at } = this.#peek();
    const names: string[] = [];
    while (this.#peek().type === 'field') names.push(this.#take().text.slice(1));

    switch (term.kind) {
      case 'field':
        return { kind: 'field', at, names: [...term.names, ...names] };
      case 'variable':
        return { kind: 'variable', at, names: [...term.names, ...names] };
      case 'function':
      case 'pipeline':
      case 'chain':
        return { kind: 'chain', at, of: term, names };
      case 'dot':
      case 'nil':
      case 'bool':
      case 'number':
      case 'string':
        return this.#fail(`unexpected . after term ${goQuote(nodeText(term))}`);
    }
  }

  #term(): Operand | undefined {
    const token = this.#takeWord();
    if (operandTypes.has(token.type)) return this.#termOf(token);
    this.#stream.next -= 1;
    return undefined;
  }

  #termOf(token: Token): Operand {
    const { at, text, type } = token;
    if (type === 'identifier') return this.#word(token);
    if (type === 'dot' || type === 'nil') return { kind: type, at };
    if (type === 'bool') return { kind: 'bool', at, value: text === 'true' };
    if (type === 'field') return { kind: 'field', at, names: [text.slice(1)] };
    if (type === 'variable') {
      if (!this.#variables.includes(text)) this.#fail(`undefined variable ${goQuote(text)}`);
      return { kind: 'variable', at, names: [text] };
    }
    if (type === 'number') return { kind: 'number', at, text, value: this.#literal(numberValue(text)) };
    if (type === 'character') return { kind: 'number', at, text, value: this.#literal(characterValue(text)) };
    if (type === 'left-paren')
      return this.#deeper(() => this.#pipeline('parenthesized pipeline', 'right-paren'));
    return { kind: 'string', at, text, value: this.#literal(unquote(text)) };
  }

  /**
   * A function, else a parameter written without its dot (contract section 9, row 10). That means the parameter
   * wherever it stands, also where `with` or `range` has moved the dot: nobody can mean anything else by it.
   */
  #word({ at, text }: Token): Operand {
    if (this.#grammar.functions.has(text)) return { kind: 'function', at, name: text };
    if (this.#grammar.bareNames?.has(text)) return { kind: 'variable', at, names: ['$', text] };
    return this.#fail(`function ${goQuote(text)} not defined`);
  }

  #literal<T>(literal: Literal<T>): T {
    return 'error' in literal ? this.#fail(literal.error) : literal.value;
  }

  #deeper<T>(read: () => T): T {
    if (this.#stream.depth >= nestingMax) this.#fail('max expression depth exceeded');
    this.#stream.depth += 1;
    const result = read();
    this.#stream.depth -= 1;
    return result;
  }

  #take(): Token {
    const token = this.#peek();
    // The last token (the end, or an error) is never left behind.
    this.#stream.next += 1;
    return token;
  }

  #peek(): Token {
    const { tokens, next } = this.#stream;
    const index = Math.min(next, tokens.length - 1);
    this.#stream.seen = Math.max(this.#stream.seen, index);
    return tokens[index] as Token;
  }

  #skipSpace(): void {
    while (this.#peek().type === 'space') this.#take();
  }

  #takeWord(): Token {
    this.#skipSpace();
    return this.#take();
  }

  #peekWord(): Token {
    this.#skipSpace();
    return this.#peek();
  }

  #expect(type: TokenType, context: string): void {
    const token = this.#takeWord();
    if (token.type !== type) this.#unexpected(token, context);
  }

  #unexpected(token: Token, context: string): never {
    if (token.type !== 'error') return this.#fail(`unexpected ${shown(token)} in ${context}`);
    if (this.#actionLine === 0 || this.#actionLine === token.line) return this.#fail(token.text);
    const action = token.text.endsWith(' action') ? '' : ' in action';
    return this.#fail(`${token.text}${action} started at ${this.#grammar.name}:${this.#actionLine}`);
  }

  #fail(problem: string): never {
    const line = this.#stream.tokens[this.#stream.seen]?.line ?? 1;
    throw new TemplateError('parse', `template: ${this.#grammar.name}:${line}: ${problem}`);
  }
}

const isBlank = (body: readonly Statement[]) =>
  body.every((statement) => statement.kind === 'text' && statement.text.trim() === '');

const isConstant = ({ kind }: Operand) =>
  kind === 'bool' || kind === 'dot' || kind === 'nil' || kind === 'number' || kind === 'string';

function shown({ type, text }: Token): string {
  if (type === 'eof') return 'EOF';
  if (type === 'keyword' || type === 'dot' || type === 'nil') return `<${text}>`;
  const characters = Array.from(text);
  return Buffer.byteLength(text) > 10 ? `${goQuote(characters.slice(0, 10).join(''))}...` : goQuote(text);
}
