import { renderText, TextInvalidError } from '../../../src/adapters/templates/render-text.ts';
import { templates } from '../../../src/adapters/templates/templates.ts';

const input = (template: string) => ({ template, label: 'query-input' }) as const;
const prompt = (template: string) => ({ template, label: 'agent-prompt' }) as const;

test('puts the parameters in their places, dotted or not', () => {
  const values = { city: 'Oslo', 'my-key': 'k' };
  expect(renderText(input('{{.city}} {{city}} {{index . "my-key"}} {{.nope}}'), values)).toBe(
    'Oslo Oslo k <no value>',
  );
});

test.each([
  [
    input('{{name}}'),
    'invalid template syntax in input: template: query-input:1: function "name" not defined',
  ],
  [
    prompt('a\n{{name}}'),
    'invalid template syntax in prompt: template: agent-prompt:2: function "name" not defined',
  ],
  [
    input('{{.city.x}}'),
    'template execution failed: template: query-input:1:7: executing "query-input" at <.city.x>: can\'t evaluate field x in type string',
  ],
])('%j fails in the words of ARK', (text, message) => {
  const render = () => renderText(text, { city: 'Oslo' });
  expect(render).toThrow(TextInvalidError);
  expect(render).toThrow(expect.objectContaining({ type: 'TemplateInvalid', message }) as Error);
});

describe('a selector prompt', () => {
  const data = { Roles: 'a: writes', Participants: 'a, b', History: '# user:\nhi\n' };

  test('knows its three fields', () => {
    expect(templates.renderSelector('{{.Roles}}|{{.Participants}}|{{.History}}', data)).toBe(
      'a: writes|a, b|# user:\nhi\n',
    );
  });

  test('refuses any other', () => {
    expect(() => templates.renderSelector('{{.Topic}}', data)).toThrow(
      /^template execution failed: .*field Topic/,
    );
    expect(() => templates.renderSelector('{{.Roles', data)).toThrow(
      'invalid template syntax in selector prompt: template: selector:1: unclosed action',
    );
  });

  test('holds a long conversation', () => {
    const History = 'x'.repeat(3_000_000);
    expect(templates.renderSelector('{{.History}}', { ...data, History })).toHaveLength(3_000_000);
  });
});
