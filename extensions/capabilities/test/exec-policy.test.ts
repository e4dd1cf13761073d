/** E1 and E2: what [exec_policy] of config.toml leaves of an agent's commands. */
import { type Capabilities, mayUseShell } from '@svc/api';
import { expect } from 'chai';
import { narrowedBy } from '../src/exec-policy.js';

const NOTHING = { mode: 'full', programs: null, env: null, timeout_secs: null, no_output_timeout_secs: null, max_output_bytes: null } as const;
const granted = (exec?: Capabilities['exec']): Capabilities => ({
  ...{ tools: [], network: [], memory_read: [], memory_write: [], agent_message: [], agent_spawn: false, file_system: true, max_llm_tokens_per_hour: null },
  shell: ['*'],
  ...(exec ? { exec } : {}),
});

describe('[exec_policy] of config.toml', () => {
  it('changes nothing where it says nothing', () => {
    const capabilities = granted();
    expect(narrowedBy({}, capabilities)).to.equal(capabilities);
  });

  it('E1 leaves of the programs of a manifest those that both name, and of a denial all', () => {
    const programs = (exec?: Capabilities['exec']) => narrowedBy({ allowed_commands: ['git *'], safe_bins: ['ls'] }, granted(exec)).exec;
    expect(programs()?.programs).to.deep.equal(['git', 'ls']);
    expect(programs({ ...NOTHING, mode: 'allowlist', programs: ['ls', 'rm'] })?.programs).to.deep.equal(['ls']);
    expect(programs({ ...NOTHING, mode: 'deny' })?.mode).to.equal('deny');
    expect(narrowedBy({ allowed_commands: [] }, granted()).exec?.programs).to.deep.equal([]);
  });

  it('E1 takes the shorter of two limits of silence', () => {
    const silence = (exec?: Capabilities['exec']) => narrowedBy({ no_output_timeout_secs: 30 }, granted(exec)).exec?.no_output_timeout_secs;
    expect([silence(), silence({ ...NOTHING, no_output_timeout_secs: 5 }), silence({ ...NOTHING, no_output_timeout_secs: 60 })]).to.deep.equal([30, 5, 30]);
  });

  it('E2 leaves nobody a shell where it names programs', () => {
    expect(mayUseShell(narrowedBy({ no_output_timeout_secs: 30 }, granted()))).to.equal(true);
    expect(mayUseShell(narrowedBy({ safe_bins: ['sh'] }, granted()))).to.equal(false);
  });
});
