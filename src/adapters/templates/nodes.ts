import { goQuote } from './go-quote.ts';

/** What every node knows: where it stands, in UTF-16 units, for error messages. */
interface Placed {
  readonly at: number;
}

/** A value inside an action. */
export type Operand =
  | (Placed & { readonly kind: 'dot' })
  | (Placed & { readonly kind: 'nil' })
  | (Placed & { readonly kind: 'bool'; readonly value: boolean })
  | (Placed & { readonly kind: 'number'; readonly value: number | bigint; readonly text: string })
  | (Placed & { readonly kind: 'string'; readonly value: string; readonly text: string })
  | (Placed & { readonly kind: 'field'; readonly names: readonly string[] })
  /** The first name is the variable's, with its `$`. */
  | (Placed & { readonly kind: 'variable'; readonly names: readonly [string, ...string[]] })
  /** Fields of a value in parentheses, or of a function's result. */
  | (Placed & { readonly kind: 'chain'; readonly of: Operand; readonly names: readonly string[] })
  | (Placed & { readonly kind: 'function'; readonly name: string })
  | Pipeline;

export interface Command extends Placed {
  readonly kind: 'command';
  readonly words: readonly [Operand, ...Operand[]];
}

export interface Pipeline extends Placed {
  readonly kind: 'pipeline';
  readonly variables: readonly string[];
  /** The variables exist already (`=`) rather than begin here (`:=`). */
  readonly assigns: boolean;
  readonly commands: readonly Command[];
}

export type Statement =
  | (Placed & { readonly kind: 'text'; readonly text: string })
  | (Placed & { readonly kind: 'action'; readonly pipeline: Pipeline })
  | (Placed & { readonly kind: 'if' | 'with' | 'range' } & Branches)
  | (Placed & { readonly kind: 'template'; readonly name: string; readonly pipeline?: Pipeline })
  | (Placed & { readonly kind: 'break' | 'continue' });

export interface Branches {
  readonly pipeline: Pipeline;
  readonly body: readonly Statement[];
  readonly otherwise?: readonly Statement[];
}

export type Node = Statement | Operand | Command;

/** The node as Go writes it between `<` and `>` in an execution error. */
export function nodeText(node: Node): string {
  switch (node.kind) {
    case 'dot':
      return '.';
    case 'nil':
      return 'nil';
    case 'bool':
      return String(node.value);
    case 'number':
    case 'string':
    case 'text':
      return node.text;
    case 'field':
      return `.${node.names.join('.')}`;
    case 'variable':
      return node.names.join('.');
    case 'chain':
      return `${inParentheses(node.of)}.${node.names.join('.')}`;
    case 'function':
      return node.name;
    case 'command':
      return node.words.map(inParentheses).join(' ');
    case 'pipeline':
      return pipelineText(node);
    case 'action':
      return `{{${pipelineText(node.pipeline)}}}`;
    case 'template':
      return `{{template ${goQuote(node.name)}${node.pipeline ? ` ${pipelineText(node.pipeline)}` : ''}}}`;
    case 'if':
    case 'with':
    case 'range':
      return `{{${node.kind} ${pipelineText(node.pipeline)}}}`;
    case 'break':
    case 'continue':
      return `{{${node.kind}}}`;
  }
}

const inParentheses = (node: Operand) =>
  node.kind === 'pipeline' ? `(${pipelineText(node)})` : nodeText(node);

function pipelineText({ variables, assigns, commands }: Pipeline): string {
  const declared = variables.length > 0 ? `${variables.join(', ')} ${assigns ? '=' : ':='} ` : '';
  return declared + commands.map(nodeText).join(' | ');
}
