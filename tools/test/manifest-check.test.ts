import * as api from '@svc/api';
import * as internal from '@svc/api/internal';
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { expect } from 'chai';
import { checkedManifest, manifestValidator } from '../build/manifest-check.mjs';
import { inRoot } from '../build/paths.mjs';

describe('the check of a manifest', () => {
  const dir = 'dist/test/manifest-check/probe';
  const target = { dir, id: 'probe' };
  const validate = manifestValidator(internal.Manifest);
  before(() => mkdirSync(inRoot(dir), { recursive: true }));
  after(() => rmSync(inRoot('dist/test/manifest-check'), { recursive: true, force: true }));

  const findingsOf = (fields: object): string => {
    writeFileSync(inRoot(dir, 'extension.json'), JSON.stringify({ manifest: 1, id: 'probe', api: '^0.1.0', ...fields }));
    try {
      checkedManifest(target, validate, { ...api, ...internal });
      return 'good';
    } catch (error) {
      return error instanceof Error ? error.message : String(error);
    }
  };
  const asking = (...grants: unknown[]) => ({ grants: grants.map((grant) => ({ grant, why: 'for a test' })) });

  it('takes the grants that exist, with parameters of their form', () => {
    expect(findingsOf(asking('exec', 'exec:git', 'net:dial:*.mail.test:993', 'secrets:mine.*', 'kernel:tools'))).to.equal('good');
    expect(findingsOf({ ...asking('net:listen:25'), replace: 'stop-first' })).to.equal('good');
  });

  it('names what there is not, and what is not written as it should be', () => {
    expect(findingsOf(asking('root'))).to.equal(
      `${dir}/extension.json /grants: unknown grant "root"; there are ${Object.values(api.GRANT_KINDS)
        .map(({ form }) => form)
        .join(', ')}`,
    );
    expect(findingsOf(asking('exec:/bin/sh'))).to.equal(`${dir}/extension.json /grants: the grant "exec:/bin/sh" has a parameter that is not valid; it is written exec or exec:<program>`);
    expect(findingsOf(asking('net:dial:host:99999'))).to.contain('"net:dial:host:99999"');
    expect(findingsOf(asking('net:listen'))).to.contain('"replace": "stop-first"');
    expect(findingsOf(asking(7))).to.contain('/grants/0/grant must be string');
    expect(findingsOf({ grants: 'exec' })).to.contain('/grants must be array');
  });

  it('takes capabilities of its own, and none of the interface or of every object', () => {
    expect(findingsOf({ capabilities: ['probe_read', 'probe_write_all'] })).to.equal('good');
    for (const name of ['shell', 'exec_policy', 'max_tokens']) expect(findingsOf({ capabilities: [name] }), name).to.equal(`${dir}/extension.json /capabilities: "${name}" is the interface's own`);
    for (const name of ['__proto__', 'constructor', 'Probe_read']) expect(findingsOf({ capabilities: [name] }), name).to.match(/capabilities: ".*" is not a valid capability name: use two or more/);
    expect(findingsOf({ capabilities: [5] })).to.contain('/capabilities/0 must be string');
  });

  it('takes panels whose code is there, and names what one lacks', () => {
    const panel = { id: 'board', title: { en: 'Board', zh: '看板' }, icon: 'box', hub: 'more', permission: 'probe.read' };
    expect(findingsOf({ panels: [panel] })).to.equal(`${dir}/extension.json /panels: "board" needs ${dir}/panels/board.panel.tsx, which is not there`);
    mkdirSync(inRoot(dir, 'panels'), { recursive: true });
    writeFileSync(inRoot(dir, 'panels/board.panel.tsx'), '');
    expect(findingsOf({ panels: [panel] })).to.equal('good');
    expect(findingsOf({ panels: [{ ...panel, title: { en: 'Board' } }] })).to.contain("must have required property 'zh'");
    expect(findingsOf({ panels: [{ ...panel, permission: 'everything' }] })).to.contain('/panels/0/permission must match pattern');
    expect(findingsOf({ panels: [{ ...panel, id: '../board' }] })).to.contain('/panels/0/id must match pattern');
  });
});
