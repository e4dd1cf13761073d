import { expect } from 'chai';
import { blankOut } from '../checks/blank-out.mjs';
import { checkBoundaries } from '../checks/boundaries.mjs';
import { checkDaemonCalls } from '../checks/daemon-calls.mjs';
import { citedIn, formOf } from '../checks/decisions.mjs';
import { checkEffects } from '../checks/effects.mjs';
import { checkErrorCodes } from '../checks/error-codes.mjs';
import { checkMadeActors } from '../checks/made-actors.mjs';
import { checkAreaCycles, checkCycles } from '../checks/cycles.mjs';
import { checkShape } from '../checks/shape.mjs';
import { readSource, readSources } from '../checks/sources.mjs';
import { checkSqlTables } from '../checks/sql-tables.mjs';
import { checkStyle, checkStyles } from '../checks/style-tokens.mjs';

const EXTENSION = 'extensions/system/src/index.ts';
const messages = (findings: ReadonlyArray<{ message: string }>) => findings.map((finding) => finding.message);

describe('the boundary check', () => {
  const findingsOf = (file: string, text: string) => messages(checkBoundaries([readSource(file, text)]));

  it('lets an extension import the API and the types of a contract', () => {
    const text = "import { reply } from '@svc/api';\nimport type { Agent } from '@svc/ext-agents/contract';\nimport { type Run, type Door } from '@svc/ext-runs/contract';\n";
    expect(findingsOf(EXTENSION, text)).to.deep.equal([]);
  });

  it('refuses what another area holds beside its contract, the platform and an undeclared package', () => {
    expect(findingsOf(EXTENSION, "import { Agents } from '@svc/ext-agents/contract';\n")).to.deep.equal([]);
    const found = findingsOf(EXTENSION, "import { createStore } from '@svc/ext-agents/store';\nimport { log } from '@svc/platform/log';\nconst koa = await import('koa');\n");
    expect(found).to.have.length(3);
    expect(found[0]).to.contain('@svc/ext-agents/store');
    expect(found[1]).to.contain('"@svc/platform/log"');
    expect(found[2]).to.contain('package.json');
  });

  it('refuses the platform to the core, by type too', () => {
    expect(findingsOf('kernel/core/src/lifetime.ts', "import type { Log } from '@svc/platform/log';\n")).to.have.length(1);
  });

  it('refuses a relative import that leaves its package', () => {
    expect(findingsOf(EXTENSION, "import { x } from '../../runs/src/service.js';\n")[0]).to.contain('leaves extensions/system');
  });

  it('holds an area among the fixtures to what an extension may', () => {
    const inFixture = (text: string) => findingsOf('fixtures/areas/notes/src/index.ts', text);
    expect(inFixture("import { reply } from '@svc/api';\nimport type { Note } from './contract.js';\n")).to.deep.equal([]);
    expect(inFixture("import { log } from '@svc/platform/log';\n")).to.have.length(1);
    expect(inFixture("import { startOpenAiServer } from '../../../providers/openai-server.js';\n")[0]).to.contain('leaves fixtures/areas/notes');
    expect(messages(checkEffects([readSource('fixtures/areas/notes/src/index.ts', 'const at = Date.now();\n')]))).to.have.length(1);
    expect(readSources().map(({ file }: { file: string }) => file))
      .to.include('fixtures/areas/notes/src/index.ts')
      .and.not.include('fixtures/providers/openai-server.ts');
  });

  it('does not take the examples in a comment for imports', () => {
    expect(findingsOf(EXTENSION, "/**\n * import { x } from 'koa';\n */\n// import 'koa';\nconst program = `\nimport koa from 'koa';\n`;\n")).to.deep.equal([]);
  });
});

describe('the check for made actors', () => {
  const findingsOf = (file: string, text: string) => messages(checkMadeActors([readSource(file, text)]));

  it('refuses an actor that an area writes by hand or makes itself, and takes types and those of ctx.actors', () => {
    expect(findingsOf(EXTENSION, "const SYSTEM: Actor = { id: 'system:x', role: 'system', ownerId: 'system' };\n")).to.have.length(1);
    expect(findingsOf(EXTENSION, "const who = { ownerId, id: 'a', role: 'user' as const };\n")).to.have.length(1);
    expect(findingsOf(EXTENSION, "import { systemActor } from '@svc/api/internal';\n")).to.have.length(1);
    expect(findingsOf(EXTENSION, "import { actorOf } from '@svc/api/internal';\n")).to.have.length(1);
    expect(
      findingsOf(
        EXTENSION,
        'const who = ctx.actors.of(ownerId);\nconst shape = { id: Type.String(), role: Role, ownerId: Type.String() };\ninterface Who { id: string; role: Role; ownerId: string }\n',
      ),
    ).to.deep.equal([]);
  });

  it('leaves the keyring and what is no area alone', () => {
    for (const file of ['extensions/auth/src/keyring.ts', 'kernel/daemon/src/boot.ts', 'extensions/runs/test/rig.ts'])
      expect(findingsOf(file, "const a = { id: 'owner', role: 'owner', ownerId: 'owner' };\n"), file).to.deep.equal([]);
  });
});

describe('the adapters check', () => {
  const findingsOf = (file: string, text: string) => checkEffects([readSource(file, text)]).map((finding: { line: number; message: string }) => `${finding.line} ${finding.message}`);

  it('names the effect, its line and what to use instead', () => {
    const found = findingsOf(EXTENSION, "import { readFile } from 'node:fs/promises';\n\nconst at = Date.now();\nsetTimeout(() => at, 5);\nawait fetch('http://x');\n");
    expect(found.sort()).to.deep.equal([
      '1 "node:fs/promises" (disk) is an effect behind an adapter; use ctx.files',
      '3 Date.now (time) is an effect behind an adapter; use ctx.clock',
      '4 setTimeout (timers) is an effect behind an adapter; use ctx.timers or ctx.clock.sleep',
      '5 fetch (network) is an effect behind an adapter; use ctx.fetch',
    ]);
  });

  it('leaves alone what came through ctx, what is a date from data, and what stands in a string', () => {
    expect(findingsOf(EXTENSION, "const a = (ctx) => ctx.fetch('u');\nconst b = (fetch) => fetch('u');\nconst c = new Date(row.at);\nconst d = 'Date.now() is forbidden';\n")).to.deep.equal([]);
  });

  it('lets the adapters, the daemon and tests through', () => {
    const text = "import { spawn } from 'node:child_process';\n";
    for (const file of ['kernel/platform/src/adapters/exec.ts', 'kernel/daemon/src/boot.ts', 'extensions/runs/test/runs.test.ts']) expect(findingsOf(file, text), file).to.deep.equal([]);
    expect(findingsOf('kernel/platform/src/journal/journal.ts', text)).to.have.length(1);
  });
});

describe('the other checks', () => {
  it('find a cycle that only types close', () => {
    const a = readSource('kernel/core/src/a.ts', "import type { B } from './b.js';\n");
    const b = readSource('kernel/core/src/b.ts', "import { c } from './c.js';\n");
    const c = readSource('kernel/core/src/c.ts', "import type { A } from './a.js';\n");
    expect(messages(checkCycles([a, b, c]))).to.deep.equal(['imports itself through kernel/core/src/b.ts, kernel/core/src/c.ts']);
    expect(checkCycles([a, b])).to.deep.equal([]);
  });

  it('find a cycle of files of a page', () => {
    const field = readSource('kernel/kit/src/form/field.tsx', "import { List } from './list.js';\n");
    const list = readSource('kernel/kit/src/form/list.tsx', "import { Field } from './field.js';\n");
    expect(messages(checkCycles([field, list]))).to.deep.equal(['imports itself through kernel/kit/src/form/list.tsx']);
  });

  it('find an error code that two areas claim', () => {
    const one = readSource('extensions/a/src/errors.ts', "export const e = defineErrors('tool', {\n  set_gone: { status: 404, retry: false, message: (id: string) => id },\n});\n");
    const two = readSource('extensions/b/src/errors.ts', "export const e = defineErrors('tool_set', {\n  gone: { status: 404, retry: false, message: () => 'x' },\n});\n");
    expect(messages(checkErrorCodes([one, two]))).to.deep.equal(['"tool_set_gone" is taken by extensions/a/src/errors.ts:2']);
  });

  it('find a long file, a name that says nothing and work left for later', () => {
    const found = messages(checkShape([readSource('kernel/core/src/utils/Mixed.ts', `${'\n'.repeat(501)}// ${'TO'}DO later\n`)]));
    expect(found).to.have.length(4);
  });

  it('keep every line and column when comments and strings are blanked', () => {
    const text = "const a = 'x // y'; // z\nconst b = /['\"]/.test(`q`  ); /* c\nd */ const e = 1;\n";
    const { code, bare } = blankOut(text);
    expect(code).to.have.length(text.length);
    expect(code.split('\n')[0]).to.equal("const a = 'x // y';     ");
    expect(code.split('\n')[2]).to.equal('     const e = 1;');
    expect(bare.split('\n')[0]).to.equal("const a = '      ';     ");
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the text under test holds a template
    expect(blankOut('x(`a ${now("b")} c`)').bare).to.equal('x(`    now(" ")   `)');
  });
});

describe('the check of tables in SQL', () => {
  const findingsOf = (text: string, file = 'extensions/loop-guard/src/store.ts') =>
    checkSqlTables([readSource(file, text.replaceAll('#{', '${'))]).map((finding: { line: number; message: string }) => `${finding.line} ${finding.message.split(' is ')[0]}`);

  it('refuses a literal table of another area, wherever it stands in a text', () => {
    const text = [
      "const a = 'SELECT id FROM agents__agents WHERE id = ?';",
      'const b = `SELECT 1 FROM #{own} JOIN sessions__entries AS e ON 1 = 1`;',
      "const c = 'select 1 from journal__runs';",
      "const d = 'UPDATE kernel_events SET n = 1';",
      'const e = `DELETE FROM main.loop_guard__seen`;',
    ].join('\n');
    expect(new Set(findingsOf(text))).to.deep.equal(new Set(['1 "agents__agents"', '2 "sessions__entries"', '3 "journal__runs"', '4 "kernel_events"', '5 "main.loop_guard__seen"']));
  });

  it('lets own tables, names that WITH gives, comments and the kernel through', () => {
    const text = 'const a = `WITH t AS (SELECT id FROM #{own}) SELECT * FROM t JOIN loop_guard__seen ON 1 = 1`;\n// FROM agents__agents\nconst agents__agents = 1;\n';
    expect(findingsOf(text)).to.deep.equal([]);
    expect(findingsOf("const a = 'SELECT 1 FROM kernel_events';", 'kernel/platform/src/relay/durable-relay.ts')).to.deep.equal([]);
  });

  it('lets tables of other programs through where their databases are read, and none of this one', () => {
    const text = "import type { ForeignDatabase } from '@svc/api';\nconst a = 'SELECT id FROM messages';\nconst b = 'SELECT id FROM agents__agents';\n";
    expect(new Set(findingsOf(text))).to.deep.equal(new Set(['3 "agents__agents"']));
  });
});

describe('the check of calls of the daemon', () => {
  const findingsOf = (file: string, text: string) => messages(checkDaemonCalls([readSource(file, text)]));

  it('refuses HTTP by hand in the command line and in pages', () => {
    const text = "import http from 'node:http';\nimport { createParser } from 'eventsource-parser';\nconst a = await fetch(url);\nconst b = new WebSocket(url);\n";
    for (const file of ['kernel/cli/src/commands/status.ts', 'extensions/board/src/page/board.client.js']) expect(findingsOf(file, text)).to.have.length(4);
  });

  it('lets the client do it, and its users name the types and members of that name', () => {
    expect(findingsOf('kernel/client/src/node-http.ts', "import http from 'node:http';\n")).to.deep.equal([]);
    expect(findingsOf('kernel/cli/src/cli.ts', "import type http from 'node:http';\nconst a = deps.fetch(url);\n// fetch(url)\nconst b = 'fetch(url)';\n")).to.deep.equal([]);
  });
});

describe('the check for cycles of areas', () => {
  const findingsOf = (...files: ReadonlyArray<readonly [file: string, to: string]>) => messages(checkAreaCycles(files.map(([file, to]) => readSource(file, `import { x } from '@svc/ext-${to}';\n`))));

  it('refuses two areas that import the contract of each other, and a longer cycle, by all of its imports', () => {
    expect(findingsOf(['extensions/a/src/index.ts', 'b/contract'], ['extensions/b/src/deep/rows.ts', 'a/contract'])).to.have.length(2);
    const longer = findingsOf(['extensions/a/src/index.ts', 'b/contract'], ['extensions/b/src/index.ts', 'c/contract'], ['extensions/c/src/index.ts', 'a/contract']);
    expect(longer).to.have.length(3);
    expect(longer[0]).to.contain('(a, b, c)');
  });

  it('takes arrows that run one way, tests, and commands, whose graph is another', () => {
    expect(findingsOf(['extensions/a/src/index.ts', 'b/contract'], ['extensions/a/src/index.ts', 'c/contract'], ['extensions/b/src/index.ts', 'c/contract'])).to.deep.equal([]);
    expect(findingsOf(['extensions/a/src/index.ts', 'b/contract'], ['extensions/b/test/rig.ts', 'a/contract'], ['extensions/b/cli/b.ts', 'a/cli'])).to.deep.equal([]);
    expect(findingsOf(['extensions/a/cli/a.ts', 'b/cli'], ['extensions/b/cli/b.ts', 'a/cli'])).to.have.length(2);
  });
});

describe('the check for tokens in style sheets', () => {
  const TOKENS = ':root { --space-2: 0.5rem; --text: #1d1d1b; --quick: 120ms; --radius-s: 6px; }';
  const found = (text: string) => messages(checkStyle('extensions/files/panels/files/files.css', text, TOKENS));

  it('refuses colours, sizes of type, spaces, radii, times and layers that are written by hand', () => {
    for (const wrong of [
      'color: #ff0000',
      'background: white',
      'border: 1px solid rgb(0 0 0 / 20%)',
      'border-color: color-mix(in srgb, var(--text) 40%, transparent)',
      'font-size: 14px',
      'font: 600 0.9rem var(--text)',
      'font-weight: 600',
      'line-height: 1.4',
      'padding: 0.3rem var(--space-2)',
      'margin-top: 3px',
      'gap: 10px',
      'border-radius: 8px',
      'border-start-end-radius: 50%',
      'z-index: 10',
      'transition: opacity 150ms',
      'animation: spin 1s linear infinite',
      'min-height: 40px',
    ])
      expect(found(`.a { ${wrong}; }`), wrong).to.have.length(1);
  });

  it('lets tokens, lines, sizes of parts in rem and what follows the text around it', () => {
    const fine = `.a { padding: 0 var(--space-2); margin: calc(-1 * var(--space-2)) auto; border: 1px solid var(--text); border-radius: var(--radius-s); width: min(20rem, 100%);
      font: inherit; padding-inline-start: 1.5em; line-height: 1; transition: opacity var(--quick); font-size: 0.9em; z-index: auto; }
      /* color: #fff; */ .b::before { content: '#fff'; } .red { --own: var(--text); color: var(--own); }
      @media (max-width: 40rem) { .a { width: 100%; } }`;
    expect(found(fine)).to.deep.equal([]);
  });

  it('refuses a token that there is not, and a layout that changes elsewhere', () => {
    expect(found('.a { color: var(--txet); }')).to.deep.equal(['there is no token --txet']);
    expect(found('@media (min-width: 50rem) { .a { width: 100%; } }')[0]).to.contain('not at 50rem');
  });

  it('reads the style sheets of the page, the panels and the kit, and finds nothing', () => {
    expect(messages(checkStyles())).to.deep.equal([]);
  });
});

describe('the check of decisions', () => {
  it('refuses a number that no file has, and names its line', () => {
    const text = '// As decision 0001 says.\n// Decisions are texts. See decisions 0001 and NONE1, and kernel/decisions/NONE2-a.md.\n'.replaceAll('NONE', '999');
    expect(citedIn('a.ts', text, new Set(['0001'])).map(({ line, message }) => `${line} ${message.split(';')[0]}`)).to.deep.equal([
      '2 no decision has the number 9991',
      '2 no decision has the number 9992',
    ]);
  });

  it('refuses a decision without a title or a status', () => {
    expect(formOf('a.md', '# 0001 A title\nStatus: holds.\n')).to.deep.equal([]);
    expect(formOf('a.md', '# 0001 A title\nText.\n')).to.have.length(1);
  });
});
