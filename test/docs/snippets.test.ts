/** What the pages show is run as it stands there, or listed with the reason why not. */
import { execFile } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { CLI, DEPLOYMENT, GUIDES, NOT_RUN, PAGES, README, type Snippet, snippetsOf } from './pages.js';
import { createShell, type SvcShell } from './svc-shell.js';

const RUN = new Set(['sh', 'toml']);
const fileNameOf = ({ text }: Snippet): string => /^# (?:\S*\/)?([\w.-]+\.toml)$/m.exec(text.split('\n', 1)[0] ?? '')?.[1] ?? '';
const placeOf = ({ page, line }: Snippet): string => `${page}:${line}`;

describe('the snippets of the pages', () => {
  let shell: SvcShell | undefined;
  const freshShell = async (): Promise<SvcShell> => {
    shell = await createShell();
    return shell;
  };
  afterEach(async () => {
    await stopTestKernels();
    await shell?.clean();
    shell = undefined;
  });

  for (const page of [README, CLI]) {
    it(`of ${page} run one after the other, against a daemon in an empty home`, async function () {
      this.timeout(120_000);
      const shell = await freshShell();
      const started = await shell.run('npx svc start');
      expect(started.code, started.output).to.equal(0);
      for (const snippet of snippetsOf(page)) {
        if (snippet.language === 'toml') writeFileSync(join(shell.folder, fileNameOf(snippet)), snippet.text);
        if (snippet.language !== 'sh') continue;
        const { code, output } = await shell.run(snippet.text);
        expect(code, `${placeOf(snippet)}\n${output}`).to.equal(0);
      }
    });
  }

  it('of the guides run one after the other, against one daemon', async function () {
    this.timeout(120_000);
    const shell = await freshShell();
    const started = await shell.run('npx svc start');
    expect(started.code, started.output).to.equal(0);
    for (const snippet of GUIDES.flatMap(snippetsOf)) {
      if (snippet.language === 'toml') writeFileSync(join(shell.folder, fileNameOf(snippet)), snippet.text);
      if (snippet.language !== 'sh') continue;
      const { code, output } = await shell.run(snippet.text);
      expect(code, `${placeOf(snippet)}\n${output}`).to.equal(0);
    }
  });

  it(`of ${DEPLOYMENT} run before a daemon is started`, async function () {
    this.timeout(60_000);
    const shell = await freshShell();
    for (const snippet of snippetsOf(DEPLOYMENT).filter(({ language }) => language === 'sh')) {
      const { code, output } = await shell.run(snippet.text);
      expect(code, `${placeOf(snippet)}\n${output}`).to.equal(0);
    }
  });

  it('that are settings hold, and those that are manifests make agents', async function () {
    this.timeout(60_000);
    const shell = await freshShell();
    const { http } = await bootTestKernel();
    const snippets = PAGES.flatMap(snippetsOf).filter(({ language }) => language === 'toml');
    expect(snippets).to.have.length.above(3);
    for (const snippet of snippets) {
      const name = fileNameOf(snippet);
      expect(name, `${placeOf(snippet)} begins with the name of its file`).to.match(/\.toml$/);
      if (name === 'config.toml') {
        const { code, output } = await shell.run(`mkdir -p home && cat > home/config.toml <<'EOT'\n${snippet.text}EOT\nnpx svc config check`);
        expect(code, `${placeOf(snippet)}\n${output}`).to.equal(0);
      } else {
        await http.expect(201, 'POST', '/api/agents', { manifest_toml: snippet.text });
      }
    }
  });

  it('are run or listed with a reason, and nothing is listed that is gone', () => {
    const shown = PAGES.flatMap(snippetsOf).filter(({ language }) => !RUN.has(language));
    const isListed = (snippet: Snippet) => NOT_RUN.some(({ page, part }) => page === snippet.page && snippet.text.includes(part));
    expect(shown.filter((snippet) => !isListed(snippet)).map(placeOf)).to.deep.equal([]);
    expect(NOT_RUN.filter(({ page, part }) => !shown.some((snippet) => snippet.page === page && snippet.text.includes(part)))).to.deep.equal([]);
  });

  it('hold a unit file that systemd takes', async function () {
    const verify = promisify(execFile);
    if ((await verify('systemd-analyze', ['--version']).catch(() => undefined)) === undefined) {
      if (this.test) Object.assign(this.test, { skipReason: 'no systemd-analyze here' });
      this.skip();
    }
    const unit = snippetsOf(DEPLOYMENT).find(({ language }) => language === 'ini');
    const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'));
    const file = join(folder, 'svc.service');
    writeFileSync(file, unit?.text ?? '');
    const { stderr } = await verify('systemd-analyze', ['verify', '--man=no', file]).finally(() => rmSync(folder, { recursive: true, force: true }));
    expect(stderr).to.not.contain('svc.service');
  });
});
