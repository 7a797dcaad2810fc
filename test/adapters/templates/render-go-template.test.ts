import { renderGoTemplate, type RenderOptions } from '../../../src/adapters/templates/render-go-template.ts';
import { TemplateError } from '../../../src/adapters/templates/template-error.ts';

const render = (source: string, data: Record<string, unknown> = {}, options: Partial<RenderOptions> = {}) =>
  renderGoTemplate(source, data, { name: 't', ...options });

const failure = (
  source: string,
  data: Record<string, unknown> = {},
  options: Partial<RenderOptions> = {},
) => {
  try {
    return render(source, data, options);
  } catch (error) {
    return error instanceof TemplateError ? { phase: error.phase, message: error.message } : error;
  }
};

describe('only the data is visible', () => {
  test.each(['constructor', '__proto__', 'toString', 'hasOwnProperty', 'valueOf', 'length'])(
    'not %s',
    (name) => {
      expect(render(`{{.${name}}}|{{.m.${name}}}|{{index .m "${name}"}}`, { m: {} })).toBe(
        '<no value>|<no value>|<no value>',
      );
      expect(failure(`{{.s.${name}}}`, { s: 'x' })).toMatchObject({ phase: 'execute' });
    },
  );

  test('a key called __proto__ is a key like any other', () => {
    expect(render('{{.__proto__}} {{.}}', JSON.parse('{"__proto__":"p"}') as Record<string, unknown>)).toBe(
      'p map[__proto__:p]',
    );
  });
});

describe('bounded', () => {
  test.each([
    ['a long loop', '{{range 2000000000}}{{end}}'],
    ['nested loops', '{{range 5000}}{{range 5000}}{{end}}{{end}}'],
    ['a template that calls itself', '{{define "x"}}{{template "x" .}}{{end}}{{template "x" .}}'],
    ['a text that doubles', '{{$x := "ab"}}{{range 60}}{{$x = print $x $x}}{{end}}'],
    ['long output', '{{range 400000}}0123456789{{end}}'],
    ['a wide number', '{{printf "%1000000d%1000000d" 1 2}}'],
    ['padding of every element', '{{printf "%900000v" .list}}'],
    ['work on long texts', '{{range 100000}}{{if eq $.long $.long2}}{{end}}{{end}}'],
    ['parentheses', `{{${'('.repeat(5_000)}1${')'.repeat(5_000)}}}`],
    ['blocks', `${'{{if true}}'.repeat(5_000)}${'{{end}}'.repeat(5_000)}`],
    [
      'calls within blocks',
      `{{define "x"}}${'{{if true}}'.repeat(200)}{{template "x"}}${'{{end}}'.repeat(200)}{{end}}{{template "x"}}`,
    ],
  ])('%s ends in a TemplateError', (_, source) => {
    const long = 'x'.repeat(900_000);
    expect(failure(source, { list: Array(1_000).fill('x'), long, long2: `${long.slice(1)}x` })).toMatchObject(
      {
        phase: expect.stringMatching(/parse|execute/) as string,
        message: expect.stringMatching(/more than|exceeded/) as string,
      },
    );
  });

  test('output up to the bound is given out, one byte more is not', () => {
    expect(render('{{.e}}', { e: 'éé' }, { maxOutputBytes: 4 })).toBe('éé');
    expect(failure('{{.e}}x', { e: 'éé' }, { maxOutputBytes: 4 })).toMatchObject({ phase: 'execute' });
  });

  test('deep data is printed without overflowing the stack', () => {
    const deep = JSON.parse(`${'['.repeat(5_000)}${']'.repeat(5_000)}`) as unknown;
    expect(render('{{.deep}}', { deep })).toMatch(/^\[{501}…\]{501}$/);
  });
});

describe('bare names', () => {
  const bareNames = new Set(['name', 'len', 'end', 'm']);
  const data = { name: 'Ada', len: 'l', end: 'e', m: { k: 'v' } };

  test.each([
    ['{{ name }}', 'Ada'],
    ['{{name}} {{.name}}', 'Ada Ada'],
    ['{{ m.k }}', 'v'],
    ['{{ printf "%q" name }}', '"Ada"'],
    ['{{ name | html }}', 'Ada'],
    ['{{if name}}yes{{end}}', 'yes'],
    ['{{with m}}{{.k}} {{name}}{{end}}', 'v Ada'],
    ['{{len .name}}', '3'],
  ])('%s', (source, output) => {
    expect(render(source, data, { bareNames })).toBe(output);
  });

  test('keep their places among functions and keywords', () => {
    expect(failure('{{end}}', data, { bareNames })).toMatchObject({ phase: 'parse' });
    expect(failure('{{len}}', data, { bareNames })).toMatchObject({ phase: 'execute' });
  });

  test('any other word is unknown', () => {
    expect(failure('a\n{{other}}', data, { bareNames })).toEqual({
      phase: 'parse',
      message: 'template: t:2: function "other" not defined',
    });
  });
});

describe('a field that is not there', () => {
  test('prints as no value in a map', () => {
    expect(render('{{.x}}{{if .x}}y{{end}}')).toBe('<no value>');
    expect(render('{{.x}} {{.x.y}} {{index . "x"}}')).toBe('<no value> <no value> <no value>');
  });

  test('indexed among strings is an empty text', () => {
    expect(render('[{{index . "x"}}] {{.x}}', {}, { dataIs: 'map of strings' })).toBe('[] <no value>');
  });

  test('is an error in a struct', () => {
    const data = { Roles: 'r', History: 'h' };
    expect(render('{{.Roles}} {{.}}', data, { dataIs: 'struct' })).toBe('r {r h}');
    expect(failure('{{.Nope}}', data, { dataIs: 'struct' })).toEqual({
      phase: 'execute',
      message:
        'template: t:1:2: executing "t" at <.Nope>: can\'t evaluate field Nope in type struct { Roles string; History string }',
    });
  });
});

test('an error names the type of what it is about, never its value', () => {
  const canary = 's3cret-canary';
  const data = { s: canary, m: { k: canary }, l: [canary] };
  const uses = ['range', 'len', 'index', 'slice', 'call', 'not', 'eq', 'lt', 'printf', 'print', 'html'];
  const operands = ['.s', '.m', '.l'];
  const sources = operands.flatMap((a) => [
    `{{range ${a}}}{{.x}}{{end}}`,
    `{{range $i, $e := ${a}}}{{$e.x}}{{end}}`,
    `{{${a}.x.y}}`,
    ...operands.flatMap((b) =>
      uses.flatMap((use) => [`{{${use} ${a} ${b}}}`, `{{${a} | ${use} ${b} 1}}`, `{{${a} ${b}}}`]),
    ),
  ]);
  const messages = sources
    .map((source) => failure(source, data))
    .filter((outcome) => typeof outcome !== 'string');

  expect(messages.length).toBeGreaterThan(100);
  expect(JSON.stringify(messages)).not.toContain(canary);
  expect(failure('{{range .s}}{{end}}', data)).toMatchObject({
    message: 'template: t:1:8: executing "t" at <.s>: range can\'t iterate over a value of type string',
  });
});
