import type { Budget, Output } from './budget.ts';
import { builtIns, FunctionError, type BuiltIn, type Parameter } from './functions.ts';
import { goQuote } from './go-quote.ts';
import { print } from './go-print.ts';
import { Boxed, boxed, GoMap, GoStruct, isTrue, typeName, unboxed, type GoValue } from './go-values.ts';
import {
  nodeText,
  type Branches,
  type Command,
  type Node,
  type Operand,
  type Pipeline,
  type Statement,
} from './nodes.ts';
import type { Templates } from './parse.ts';
import { TemplateError } from './template-error.ts';

export interface Execution {
  readonly name: string;
  readonly source: string;
  readonly templates: Templates;
  readonly budget: Budget;
  readonly output: Output;
  readonly bytesMax: number;
}

/** Blocks, parentheses and template calls within each other; Go itself stops at 100,000 calls. */
const depthMax = 500;

/** Renders the source's own template over `data` into the output, or throws a TemplateError. */
export function execute(execution: Execution, data: GoValue): void {
  new Executor(execution, execution.name, data, { node: undefined, depth: 0 }).walk(data, execution.name);
}

/** Where the execution is, whichever template it is in. */
interface Place {
  /** What an error is about: Go names the node it looked at last. */
  node: Node | undefined;
  depth: number;
}

type Leave = 'break' | 'continue' | undefined;

/** The last argument, handed over by a pipe; nothing is piped into a pipeline's first command. */
type Piped = { readonly value: GoValue } | undefined;

class Executor {
  readonly #execution: Execution;
  readonly #template: string;
  readonly #place: Place;
  readonly #variables: { readonly name: string; value: GoValue }[];

  constructor(execution: Execution, template: string, data: GoValue, place: Place) {
    this.#execution = execution;
    this.#template = template;
    this.#place = place;
    this.#variables = [{ name: '$', value: data }];
  }

  walk(dot: GoValue, name: string): void {
    this.#list(dot, this.#execution.templates.get(name) ?? []);
  }

  #list(dot: GoValue, statements: readonly Statement[]): Leave {
    return this.#deeper(() => {
      for (const statement of statements) {
        const leave = this.#statement(dot, statement);
        if (leave) return leave;
      }
      return undefined;
    });
  }

  #statement(dot: GoValue, node: Statement): Leave {
    this.#at(node);
    switch (node.kind) {
      case 'text':
        this.#execution.output.write(node.text);
        return undefined;
      case 'action': {
        const value = this.#pipeline(dot, node.pipeline);
        if (node.pipeline.variables.length === 0) {
          print(this.#execution.output, [value === undefined ? '<no value>' : unboxed(value)]);
        }
        return undefined;
      }
      case 'if':
      case 'with':
        return this.#choose(dot, node.kind, node);
      case 'range':
        this.#range(dot, node);
        return undefined;
      case 'template':
        this.#call(dot, node);
        return undefined;
      case 'break':
      case 'continue':
        return node.kind;
    }
  }

  #choose(dot: GoValue, kind: 'if' | 'with', { pipeline, body, otherwise }: Branches): Leave {
    const outside = this.#variables.length;
    const value = this.#pipeline(dot, pipeline);
    const leave = isTrue(value)
      ? this.#list(kind === 'with' ? value : dot, body)
      : this.#list(dot, otherwise ?? []);
    this.#variables.length = outside;
    return leave;
  }

  #range(dot: GoValue, { pipeline, body, otherwise }: Branches): void {
    const outside = this.#variables.length;
    const value = unboxed(this.#pipeline(dot, pipeline));
    const inside = this.#variables.length;

    let isEmpty = true;
    for (const [key, element] of this.#elements(value, pipeline)) {
      isEmpty = false;
      this.#execution.budget.spend();
      this.#setRangeVariables(pipeline, key, element);
      const leave = this.#list(element, body);
      this.#variables.length = inside;
      if (leave === 'break') break;
    }
    if (isEmpty && otherwise) this.#list(dot, otherwise);
    this.#variables.length = outside;
  }

  *#elements(value: GoValue, pipeline: Pipeline): Generator<[GoValue, GoValue]> {
    if (value === undefined) return;
    if (Array.isArray(value)) {
      for (const [index, raw] of (value as readonly unknown[]).entries()) yield [BigInt(index), boxed(raw)];
    } else if (value instanceof GoMap) {
      for (const key of value.keys()) yield [key, value.get(key)];
    } else if (typeof value === 'bigint') {
      if (pipeline.variables.length > 1) {
        this.#fail(`can't use ${value} to iterate over more than one variable`);
      }
      for (let count = 0n; count < value; count += 1n) yield [undefined, count];
    } else {
      // Go prints the value; it may be a Secret's.
      const type = value instanceof Boxed ? 'interface {}' : typeName(value);
      this.#fail(`range can't iterate over a value of type ${type}`);
    }
  }

  /** One variable takes the element; of two, the first takes the index or key. */
  #setRangeVariables({ variables, assigns }: Pipeline, key: GoValue, element: GoValue): void {
    const values = variables.length > 1 ? [key, element] : [element];
    for (const [index, name] of variables.entries()) {
      if (assigns) this.#assign(name, values[index]);
      else this.#topVariable(variables.length - index, values[index]);
    }
  }

  #topVariable(fromEnd: number, value: GoValue): void {
    const variable = this.#variables.at(-fromEnd);
    if (variable) variable.value = value;
  }

  #call(dot: GoValue, node: Extract<Statement, { kind: 'template' }>): void {
    if (!this.#execution.templates.has(node.name)) {
      this.#fail(`template ${goQuote(node.name)} not defined`);
    }
    const data = node.pipeline && this.#pipeline(dot, node.pipeline);
    // A template sees none of its caller's variables.
    new Executor(this.#execution, node.name, data, this.#place).walk(data, node.name);
  }

  #pipeline(dot: GoValue, pipeline: Pipeline): GoValue {
    this.#at(pipeline);
    const value = this.#deeper(() => {
      let piped: Piped;
      for (const command of pipeline.commands) {
        const result = this.#command(dot, command, piped);
        // A nil that comes out of an interface is no value at all.
        piped = { value: unboxed(result) };
      }
      return piped?.value;
    });
    for (const name of pipeline.variables) {
      if (pipeline.assigns) this.#assign(name, value);
      else this.#variables.push({ name, value });
    }
    return value;
  }

  #command(dot: GoValue, command: Command, piped: Piped): GoValue {
    const [first, ...rest] = command.words;
    if (first.kind === 'function') return this.#function(dot, first.name, command, first, rest, piped);

    const hasArguments = rest.length > 0 || piped !== undefined;
    if (first.kind === 'field' || first.kind === 'chain') return this.#operand(dot, first, hasArguments);
    if (first.kind === 'variable' && first.names.length > 1) return this.#operand(dot, first, hasArguments);

    if (first.kind !== 'pipeline') this.#at(first);
    if (hasArguments) this.#fail(`can't give argument to non-function ${nodeText(first)}`);
    if (first.kind === 'nil') this.#fail('nil is not a command');
    return this.#operand(dot, first, false);
  }

  #operand(dot: GoValue, node: Operand, hasArguments: boolean): GoValue {
    if (node.kind !== 'pipeline') this.#at(node);
    switch (node.kind) {
      case 'dot':
        return dot;
      case 'nil':
        return undefined;
      case 'bool':
      case 'number':
      case 'string':
        return node.value;
      case 'field':
        return this.#fields(dot, node.names, hasArguments);
      case 'variable': {
        const [name, ...names] = node.names;
        return this.#fields(this.#variable(name), names, hasArguments);
      }
      case 'chain':
        return this.#fields(this.#argument(dot, 'value', node.of), node.names, hasArguments);
      case 'function':
        return this.#function(dot, node.name, node, node, [], undefined);
      case 'pipeline':
        return this.#pipeline(dot, node);
    }
  }

  #fields(from: GoValue, names: readonly string[], hasArguments: boolean): GoValue {
    return names.reduce(
      (value, name, index) => this.#field(value, name, hasArguments && index === names.length - 1),
      from,
    );
  }

  #field(from: GoValue, name: string, hasArguments: boolean): GoValue {
    if (from === undefined) return undefined;
    const inner = unboxed(from);
    if (inner === undefined) return this.#fail(`nil pointer evaluating interface {}.${name}`);

    if (inner instanceof GoMap) {
      if (hasArguments) this.#fail(`${name} is not a method but has arguments`);
      return inner.has(name) ? inner.get(name) : undefined;
    }
    if (inner instanceof GoStruct && Object.hasOwn(inner.fields, name)) {
      if (hasArguments) this.#fail(`${name} has arguments but cannot be invoked as function`);
      return inner.fields[name];
    }
    const type = from instanceof Boxed ? 'interface {}' : typeName(inner);
    return this.#fail(`can't evaluate field ${name} in type ${type}`);
  }

  #function(
    dot: GoValue,
    name: string,
    call: Command | Operand,
    node: Operand,
    words: readonly Operand[],
    piped: Piped,
  ): GoValue {
    this.#at(node);
    const builtIn = builtIns.get(name);
    if (!builtIn) return this.#fail(`${goQuote(name)} is not a defined function`);
    this.#checkCount(name, builtIn, words.length, piped);

    if (name === 'and' || name === 'or') return this.#firstDeciding(dot, name === 'or', words, piped);

    const typeOf = (index: number) => builtIn.fixed[index] ?? builtIn.rest ?? 'value';
    const values = words.map((word, index) => this.#argument(dot, typeOf(index), word));
    if (piped) values.push(this.#typed(piped.value, typeOf(values.length)));
    return this.#run(name, builtIn, values, call);
  }

  #checkCount(name: string, { fixed, rest }: BuiltIn, words: number, piped: Piped): void {
    const count = words + (piped ? 1 : 0);
    if (rest && count < fixed.length) {
      this.#fail(`wrong number of args for ${name}: want at least ${fixed.length} got ${words}`);
    }
    if (!rest && count !== fixed.length) {
      this.#fail(`wrong number of args for ${name}: want ${fixed.length} got ${count}`);
    }
  }

  /** `or` ends at the first true argument, `and` at the first false one; what is behind it is not evaluated. */
  #firstDeciding(dot: GoValue, decisive: boolean, words: readonly Operand[], piped: Piped): GoValue {
    let value: GoValue;
    for (const word of words) {
      value = this.#argument(dot, 'value', word);
      if (isTrue(value) === decisive) return value;
    }
    return piped ? piped.value : value;
  }

  #run(name: string, builtIn: BuiltIn, values: readonly GoValue[], call: Command | Operand): GoValue {
    const { budget, bytesMax } = this.#execution;
    budget.spend(values.reduce((sum: number, value) => sum + characters(value), 0));
    try {
      const result = builtIn.run(values, bytesMax);
      budget.spend(characters(result));
      return result;
    } catch (error) {
      if (!(error instanceof FunctionError)) throw error;
      this.#at(call);
      return this.#fail(`error calling ${name}: ${error.message}`);
    }
  }

  #argument(dot: GoValue, type: Parameter, node: Operand): GoValue {
    this.#at(node);
    if (node.kind === 'nil') {
      if (type === 'string') this.#fail('cannot assign nil to string');
      return undefined;
    }
    if (node.kind === 'bool' || node.kind === 'number') {
      if (type === 'string') this.#fail(`expected string; found ${nodeText(node)}`);
      return node.value;
    }
    return this.#typed(this.#operand(dot, node, false), type);
  }

  #typed(value: GoValue, type: Parameter): GoValue {
    if (type !== 'string' || typeof unboxed(value) === 'string') return value;
    if (value === undefined) return this.#fail('invalid value; expected string');
    const inner = unboxed(value);
    return this.#fail(
      `wrong type for value; expected string; got ${inner === undefined ? 'interface {}' : typeName(inner)}`,
    );
  }

  #variable(name: string): GoValue {
    const variable = this.#variables.findLast((known) => known.name === name);
    if (!variable) return this.#fail(`undefined variable: ${name}`);
    return variable.value;
  }

  #assign(name: string, value: GoValue): void {
    const variable = this.#variables.findLast((known) => known.name === name);
    if (!variable) return this.#fail(`undefined variable: ${name}`);
    variable.value = value;
  }

  #at(node: Node): void {
    this.#place.node = node;
    this.#execution.budget.spend();
  }

  #deeper<T>(run: () => T): T {
    if (this.#place.depth >= depthMax) this.#fail(`exceeded maximum template depth (${depthMax})`);
    this.#place.depth += 1;
    const result = run();
    this.#place.depth -= 1;
    return result;
  }

  #fail(problem: string): never {
    const { name, source } = this.#execution;
    const { node } = this.#place;
    const where = node ? `:${position(source, node.at)}` : '';
    const what = node ? ` executing ${goQuote(this.#template)} at <${nodeText(node)}>:` : '';
    throw new TemplateError('execute', `template: ${name}${where}:${what} ${problem}`);
  }
}

/** `line:column`; lines count from 1, columns in bytes from 0, as Go has them. */
function position(source: string, at: number): string {
  const before = source.slice(0, at);
  const lines = before.split('\n');
  return `${lines.length}:${Buffer.byteLength(lines.at(-1) ?? '')}`;
}

const characters = (value: GoValue) => {
  const inner = unboxed(value);
  return typeof inner === 'string' ? inner.length : 0;
};
