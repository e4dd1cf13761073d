import { chmodSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { expect } from 'chai';
import { headersFolder } from '../preflight.mjs';
import { nodeProblem, platformProblem } from '../requirements.mjs';

describe('what the machine must be', () => {
  it('takes the Node.js versions that engines names and no others', () => {
    for (const [major, minor] of [
      [20, 19],
      [22, 12],
      [23, 0],
      [24, 1],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.equal(undefined);
    for (const [major, minor] of [
      [18, 20],
      [20, 18],
      [21, 7],
      [22, 11],
    ])
      expect(nodeProblem(major, minor), `${major}.${minor}`).to.contain('20.19');
  });

  it('takes the headers that stand beside this Node, whatever HOME holds, unless somebody names others', () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'svc-headers-'));
    try {
      const prefix = path.join(folder, 'node-of-a-package');
      const program = path.join(prefix, 'bin/node');
      for (const part of ['bin', 'include/node']) mkdirSync(path.join(prefix, part), { recursive: true });
      writeFileSync(program, '');
      chmodSync(program, 0o755);
      // A link, as version managers make them.
      const link = path.join(folder, 'node');
      symlinkSync(program, link);
      expect(headersFolder(link, {})).to.equal(undefined);
      writeFileSync(path.join(prefix, 'include/node/node_api.h'), '');
      expect(headersFolder(link, {}), 'half of the headers').to.equal(undefined);
      writeFileSync(path.join(prefix, 'include/node/common.gypi'), '');
      expect([headersFolder(link, {}), headersFolder(program, { HOME: '' })]).to.deep.equal([prefix, prefix]);
      expect(headersFolder(link, { npm_config_nodedir: '/opt/headers' })).to.equal('/opt/headers');
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('sends Windows to WSL 2 in one sentence', () => {
    expect(platformProblem('win32')).to.contain('WSL 2');
    expect(platformProblem('linux')).to.equal(undefined);
  });
});
