import { readdirSync, readFileSync } from 'node:fs';
import { posix } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = fileURLToPath(new URL('../', import.meta.url));

/** Who may import whom; 'type' means `import type` only. A folder that is not named may not be imported at all. */
const arrows: Readonly<Record<string, Readonly<Record<string, 'value' | 'type'>>>> = {
  api: {}, // words everyone shares
  activities: { api: 'value' }, // effects, spoken to through ports.ts
  workflows: { api: 'type', activities: 'type' }, // decisions
  adapters: { api: 'value', activities: 'type' }, // ports made real
  controller: { api: 'value', adapters: 'value', workflows: 'type' }, // runs no workflow code
  worker: { api: 'value', activities: 'value', adapters: 'value' }, // where activities meet adapters
  broker: { api: 'value', adapters: 'value' }, // conversations and streams, served over HTTP
  dev: { api: 'value', adapters: 'value', controller: 'value', worker: 'value', broker: 'value' }, // the embedded stack
  cli: {
    api: 'value',
    adapters: 'value',
    controller: 'value',
    worker: 'value',
    broker: 'value',
    dev: 'value',
  },
};

/** Packages a folder may import as values, where that matters: the sandbox of workflows, and what everyone loads. */
const packages: Readonly<Record<string, readonly string[]>> = {
  api: ['zod'],
  workflows: ['@temporalio/workflow', '@temporalio/common'],
};

/** Started by their path and not imported: by a person, by Temporal's bundler. */
const entryPoints = ['src/cli/main.ts', 'src/workflows/index.ts'];

interface Import {
  readonly of: string;
  readonly kind: 'value' | 'type';
}

type Sources = ReadonlyMap<string, string>;

function importsIn(text: string): Import[] {
  const still = /^(?:import|export)\s+(?:(type)\s+)?(?:[\w*${},\s]+?\s+from\s+)?'([^']+)'/gm;
  const dynamic = /\bimport\(\s*'([^']+)'/g;
  return [
    ...[...text.matchAll(still)].map(([, type, of = '']): Import => ({ of, kind: type ? 'type' : 'value' })),
    ...[...text.matchAll(dynamic)].map(([, of = '']): Import => ({ of, kind: 'value' })),
  ];
}

const resolved = (file: string, specifier: string): string => posix.join(posix.dirname(file), specifier);
const folderOf = (file: string): string => file.split('/')[1] ?? '';
const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

/** A sentence for each import that goes against the arrows, or reaches for a package that is not for its folder. */
function wrongImports(sources: Sources): string[] {
  const wrong: string[] = [];
  for (const [file, text] of sources) {
    const from = folderOf(file);
    for (const { of, kind } of importsIn(text)) {
      if (of.startsWith('.')) {
        const to = folderOf(resolved(file, of));
        const allowed = from === to ? 'value' : arrows[from]?.[to];
        if (!allowed) wrong.push(`${file} must not import ${of}: ${from} may not know ${to}`);
        else if (allowed === 'type' && kind === 'value')
          wrong.push(`${file} may import ${of} as a type only`);
      } else if (kind === 'value' && packages[from] && !packages[from].includes(packageOf(of))) {
        wrong.push(`${file} must not import ${of}: ${from} may load ${packages[from].join(' and ')} only`);
      }
    }
  }
  return wrong;
}

function unusedFiles(sources: Sources, users: Sources): string[] {
  const used = new Set(entryPoints);
  for (const [file, text] of [...sources, ...users]) {
    for (const { of } of importsIn(text)) used.add(resolved(file, of));
  }
  return [...sources.keys()].filter((file) => !used.has(file));
}

/** Packages loaded with a file: those it imports as values, and those of what it imports; not what it imports later. */
function loadedWith(file: string, sources: Sources, seen = new Set<string>()): Set<string> {
  const later = /\bimport\(\s*'([^']+)'/g;
  const loaded = new Set<string>();
  if (seen.has(file)) return loaded;
  seen.add(file);
  for (const { of, kind } of importsIn((sources.get(file) ?? '').replace(later, ''))) {
    if (kind === 'type') continue;
    const names = of.startsWith('.') ? loadedWith(resolved(file, of), sources, seen) : [packageOf(of)];
    for (const name of names) loaded.add(name);
  }
  return loaded;
}

const badNames = /^(utils?|helpers?|managers?|services?|common|misc|(.+-)(utils?|helpers?|manager|service))$/;
const kebabCase = /^[a-z0-9]+(-[a-z0-9]+)*$/;

function misnamed(sources: Sources): string[] {
  return [...sources.keys()].filter((file) => {
    const stem = posix.basename(file, '.ts');
    // The Kubernetes kind of that name, and not a place for this and that.
    if (file === 'src/adapters/kubernetes/services.ts') return false;
    return (
      !kebabCase.test(stem) ||
      file
        .replace(/\.ts$/, '')
        .split('/')
        .some((part) => badNames.test(part))
    );
  });
}

function read(...folders: readonly string[]): Sources {
  const files = folders.flatMap((folder) =>
    readdirSync(`${root}${folder}`, { recursive: true, encoding: 'utf8' }).map((file) => `${folder}/${file}`),
  );
  return new Map(
    files
      .filter((file) => file.endsWith('.ts'))
      .map((file) => [file, readFileSync(`${root}${file}`, 'utf8')]),
  );
}

describe('the sources', () => {
  const sources = read('src');

  test('are all found', () => {
    expect(new Set([...sources.keys()].map(folderOf))).toEqual(new Set(Object.keys(arrows)));
  });

  test('import along the arrows only', () => {
    expect(wrongImports(sources)).toEqual([]);
  });

  test('hold no file that nobody imports', () => {
    expect(unusedFiles(sources, read('tools', 'bench'))).toEqual([]);
  });

  test.each([
    ['src/worker/main.ts', ['zod', '@modelcontextprotocol/client', '@aws-sdk/client-bedrock-runtime', 'pg']],
    ['src/controller/main.ts', ['@modelcontextprotocol/client', '@aws-sdk/client-bedrock-runtime', 'pg']],
    ['src/cli/main.ts', ['zod', '@temporalio/client', '@temporalio/worker', 'openai', 'undici']],
  ])('load with %s what every such process uses: none of %j', (file, large) => {
    const loaded = loadedWith(file, sources);

    expect(loaded).not.toEqual(new Set());
    expect(large.filter((name) => loaded.has(name))).toEqual([]);
  });

  test('have names that say what is inside', () => {
    expect(misnamed(sources)).toEqual([]);
  });
});

const one = (file: string, text: string): Sources => new Map([[file, text]]);

describe('the rules catch', () => {
  test.each([
    ['a workflow that imports a schema', 'src/workflows/a.ts', "import { Query } from '../api/query.ts';"],
    [
      'a workflow that imports a type beside a value',
      'src/workflows/a.ts',
      "import {\n  type Q,\n  r,\n} from '../api/query.ts';",
    ],
    ['a workflow that reads files', 'src/workflows/a.ts', "import { readFile } from 'node:fs/promises';"],
    ['a workflow that re-exports a package', 'src/workflows/a.ts', "export * from 'zod';"],
    ['a workflow deeper down', 'src/workflows/strategies/a.ts', "import { x } from '../../api/run.ts';"],
    [
      'a word that knows the cluster',
      'src/api/a.ts',
      "import { connect } from '../adapters/kubernetes/connection.ts';",
    ],
    [
      'a controller that runs workflows',
      'src/controller/a.ts',
      "import { queryWorkflow } from '../workflows/index.ts';",
    ],
    [
      'a controller that knows the worker',
      'src/controller/a.ts',
      "import type { W } from '../worker/main.ts';",
    ],
    ['an import for its effect', 'src/api/a.ts', "import '../dev/dev.ts';"],
    ['a lazy import', 'src/adapters/a.ts', "const x = await import('../controller/main.ts');"],
  ])('%s', (_, file, text) => {
    expect(wrongImports(one(file, text))).toHaveLength(1);
  });

  test('only what is wrong', () => {
    const text = "import type { Turn } from '../api/run.ts';\nimport { sleep } from '@temporalio/workflow';";
    expect(wrongImports(one('src/workflows/a.ts', text))).toEqual([]);
  });

  test('a file that nobody imports', () => {
    const sources = new Map([
      ['src/cli/main.ts', "import { a } from '../api/a.ts';"],
      ['src/api/a.ts', ''],
      ['src/api/b.ts', ''],
    ]);
    expect(unusedFiles(sources, new Map())).toEqual(['src/api/b.ts']);
  });

  test.each(['src/api/utils.ts', 'src/common/a.ts', 'src/api/run-manager.ts', 'src/api/RunTeam.ts'])(
    'the name %s',
    (file) => {
      expect(misnamed(one(file, ''))).toEqual([file]);
    },
  );
});
