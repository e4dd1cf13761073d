/** The files that `svc service install` writes, as the managers of services read them. */
import { spawnSync } from 'node:child_process';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { type ServiceFacts, unitFor } from '../src/service/units.js';

const FACTS: ServiceFacts = { node: process.execPath, program: '/opt/my svc/svc.mjs', home: '/home/ann/100% "own" $HOME', userHome: '/home/ann', port: '4600' };
const unitOn = (platform: NodeJS.Platform, isSystem = false) => unitFor(platform, FACTS, isSystem, 'ann');

describe('the service of a daemon', () => {
  it('is a unit of the user, or of the machine with a user to run as', () => {
    expect(unitOn('linux')?.file).to.equal('/home/ann/.config/systemd/user/svc.service');
    expect(unitOn('linux')?.text).to.contain('WantedBy=default.target').and.not.contain('User=');
    expect(unitOn('linux', true)?.file).to.equal('/etc/systemd/system/svc.service');
    expect(unitOn('linux', true)?.text).to.contain('User=ann').and.contain('WantedBy=multi-user.target');
    expect(unitOn('linux')?.enable.at(-1)).to.deep.equal(['systemctl', '--user', 'enable', '--now', 'svc.service']);
  });

  it('gives paths to systemd with nothing in them that it would expand', () => {
    const { text = '' } = unitOn('linux') ?? {};
    expect(text).to.contain(`ExecStart="${process.execPath}" "/opt/my svc/svc.mjs" "start" "--foreground"`);
    expect(text).to.contain('Environment="SVC_HOME=/home/ann/100%% \\"own\\" $HOME"');
  });

  it('is accepted by systemd itself', function () {
    const folder = mkdtempSync(join(tmpdir(), 'svc-unit-'));
    try {
      const file = join(folder, 'svc.service');
      const unit = unitFor('linux', { ...FACTS, program: process.execPath }, true, 'root');
      writeFileSync(file, unit?.text ?? '');
      const { error, status, stderr } = spawnSync('systemd-analyze', ['verify', '--man=no', '--recursive-errors=no', file], { encoding: 'utf8' });
      if (error !== undefined) {
        Object.assign(this.test ?? {}, { skipReason: 'no systemd-analyze here' });
        return this.skip();
      }
      expect([status, stderr.split('\n').filter((line) => line.includes('svc.service'))]).to.deep.equal([0, []]);
    } finally {
      rmSync(folder, { recursive: true, force: true });
    }
  });

  it('is a property list for launchd, with its text escaped', () => {
    const agent = unitFor('darwin', { ...FACTS, home: '/Users/ann & bob/.svc' }, false, 'ann');
    expect(agent?.file).to.equal('/home/ann/Library/LaunchAgents/dev.svc.daemon.plist');
    expect(agent?.text).to.contain('<string>/Users/ann &amp; bob/.svc</string>').and.contain('<key>RunAtLoad</key>');
    expect((agent?.text.match(/<(dict|array)>/g) ?? []).length).to.equal((agent?.text.match(/<\/(dict|array)>/g) ?? []).length);
  });

  it('does not exist where svc knows no manager', () => {
    expect(unitOn('freebsd')).to.equal(undefined);
    expect(unitOn('darwin', true)).to.equal(undefined);
  });
});
