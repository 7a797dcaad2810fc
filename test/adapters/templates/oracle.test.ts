import { parse as renderInGo } from '@evertdespiegeleer/go-template';
import fc from 'fast-check';
import { renderGoTemplate } from '../../../src/adapters/templates/render-go-template.ts';

/** What the oracle cannot do (numbers in data, missing keys) is left to go-results.test.ts. */
const data = {
  a: 'x',
  b: '<b> & "q"',
  u: 'héllo 😀',
  empty: '',
  nested: { a: 'in', deep: { c: 'd' } },
  list: ['p', '', 'q'],
};

const text = fc.stringMatching(/^[ a-zé\n{}%.-]{0,6}$/).filter((plain) => !plain.includes('{{'));
const space = fc.constantFrom('', ' ', '  ');

const { statements } = fc.letrec<{ value: string; call: string; statement: string; statements: string }>(
  (tie) => ({
    value: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('.a', '.b', '.u', '.empty', '$.nested.a', '$.nested.deep.c', '"lit"', '`r"w`', '$x'),
      tie('call').map((call) => `(${call})`),
    ),
    call: fc.oneof(
      { depthSize: 'small' },
      fc.constantFrom('len $.list', 'index $.list 2', 'slice $.u 0 1', 'true', "'c'", '12', '1.5'),
      fc
        .tuple(
          fc.constantFrom('print', 'html', 'js', 'urlquery', 'println', 'len', 'not', 'and', 'or'),
          tie('value'),
        )
        .map(([name, value]) => `${name} ${value}`),
      fc
        .tuple(
          fc.constantFrom('eq', 'ne', 'lt', 'le', 'gt', 'ge', 'print', 'and', 'or'),
          tie('value'),
          tie('value'),
        )
        .map((words) => words.join(' ')),
      fc
        .tuple(
          fc.constantFrom('%s', '%q', '%v', '%x', '%5s|', '%-4v|', '%.2s', '%d', '%T', '%t', '%08d', '%%'),
          tie('value'),
        )
        .map(([verb, value]) => `printf "${verb}" ${value}`),
      fc
        .tuple(tie('value'), fc.constantFrom('html', 'printf "%s-%v" .a', 'len', 'print 1', 'eq .a'))
        .map(([value, next]) => `${value} | ${next}`),
    ),
    statement: fc.oneof(
      { depthSize: 'small' },
      text,
      fc
        .tuple(
          fc.constantFrom('{{', '{{- '),
          fc.oneof(tie('value'), tie('call')),
          space,
          fc.constantFrom('}}', ' -}}'),
        )
        .map((parts) => parts.join('')),
      fc.constantFrom(
        '{{/* note */}}',
        '{{- /* note */ -}}',
        '{{$x = "new"}}',
        '{{$y := .a}}{{$y}}',
        '{{template "t" .}}',
      ),
      fc
        .tuple(tie('call'), tie('statements'), tie('statements'))
        .map(([condition, yes, no]) => `{{if ${condition}}}${yes}{{else}}${no}{{end}}`),
      fc
        .tuple(tie('value'), tie('value'), text)
        .map(([one, two, body]) => `{{if ${one}}}${body}{{else if ${two}}}2{{else}}3{{end}}`),
      fc.tuple(tie('value'), text).map(([value, body]) => `{{with ${value}}}${body}{{.}}{{else}}none{{end}}`),
      fc
        .tuple(
          fc.constantFrom('', '{{if eq . "p"}}{{continue}}{{end}}', '{{if eq . ""}}{{break}}{{end}}'),
          text,
        )
        .map(([leave, body]) => `{{range $.list}}${leave}${body}{{.}}{{end}}`),
      text.map((body) => `{{range $k, $v := $.nested}}${body}{{$k}}={{$v}}{{else}}-{{end}}`),
    ),
    statements: fc.array(tie('statement'), { maxLength: 4 }).map((parts) => parts.join('')),
  }),
);

const template = statements.map((body) => `{{define "t"}}<{{.a}}>{{end}}{{$x := "var"}}${body}`);

const numRuns = 300;

test('any template of the grammar gives what the Go engine gives, or fails where it fails', async () => {
  let rendered = 0;
  await fc.assert(
    fc.asyncProperty(template, async (source) => {
      const theirs = await attempt(() => renderInGo(source, data));
      const ours = await attempt(() => renderGoTemplate(source, data, { name: 'tpl' }));
      expect({ source, output: ours }).toEqual({ source, output: theirs });
      if (ours !== failed) rendered += 1;
    }),
    { numRuns },
  );
  expect(rendered).toBeGreaterThan(numRuns / 4);
});

const failed = Symbol('failed');

async function attempt(render: () => string | Promise<string>): Promise<string | symbol> {
  try {
    return await render();
  } catch {
    return failed;
  }
}
