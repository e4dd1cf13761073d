/** What areas say of settings in their schemas, and the platform heeds without knowing the areas. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { hasCallerKey, keySections } from '../../src/config/caller-keys.js';
import { type Config, createConfig } from '../../src/config/config.js';
import type { SectionClaims } from '../../src/config/kernel-sections.js';
import { isLoopbackName } from '../../src/config/loopback.js';
import { createLog } from '../../src/log/log.js';

const claims: SectionClaims = {
  'api.pace': { owner: 'pacer', schema: Type.Number({ default: 7, minimum: 1 }) },
  pacer: {
    owner: 'pacer',
    schema: Type.Object({ steps: Type.Integer({ default: 3, 'x-alias': ['old_steps'] }) }, { additionalProperties: false, 'x-waiting': { rest: 'nobody rests', song: true } }),
  },
  theatre: {
    owner: 'pacer',
    schema: Type.Object({ stage: Type.Object({ light: Type.Integer({ default: 1 }) }, { additionalProperties: false, default: {}, 'x-waiting': { sound: 'it is quiet' } }) }, { default: {} }),
  },
  stranger: { owner: 'stranger', isForeign: true, schema: Type.Object({ name: Type.String({ pattern: '^(a+)+$', default: 'a' }) }, { default: {} }) },
  'api.nickname': { owner: 'stranger', isForeign: true, schema: Type.String({ pattern: '^(a+)+$', default: 'a' }) },
  '/door_key': { owner: 'porter', schema: Type.String({ default: '', 'x-caller-key': true, 'x-env': 'DOOR_KEY' }) },
  guests: { owner: 'porter', schema: Type.Array(Type.Object({ name: Type.String(), key: Type.String({ 'x-caller-key': true }) }), { default: [] }) },
};

describe('what a claim says', () => {
  let home: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-claims-'));
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const load = async (text: string, env: Record<string, string> = {}): Promise<Config> => {
    const file = join(home, 'config.toml');
    await writeFile(file, text);
    const log = createLog({ dir: null, level: 'error', clock: systemClock(), terminal: false });
    const config = createConfig({ file, env, log, sections: () => claims });
    await config.load();
    return config;
  };
  const messages = (config: Config): string =>
    config
      .problems()
      .map(({ message, severity }) => `${severity} ${message}`)
      .join('\n');

  it('adds a setting to a section of the platform, validated, told by line and read by its own name', async () => {
    expect((await load('')).get('api.pace')).to.equal(7);
    const config = await load('[api]\npace = 9\n');
    expect([config.get('api.pace'), messages(config)]).to.deep.equal([9, '']);
    let received = 0;
    config.onChange('api.pace', () => void received++);
    await writeFile(join(home, 'config.toml'), '[api]\npace = 10\n');
    await config.reload();
    expect([received, config.get('api.pace')]).to.deep.equal([1, 10]);
    expect(messages(await load('[api]\npace = "fast"\n'))).to.contain('config.toml:2: [api] pace must be a number');
    expect(JSON.stringify(config.schema())).to.contain('"pace"');
  });

  it('is validated in time that grows with the text, whatever patterns a third party brings, also beside settings of the platform', async () => {
    const [good, bad] = ['a'.repeat(500), `${'a'.repeat(500)}!`];
    const config = await load(`[api]\nnickname = "${good}"\n[stranger]\nname = "${good}"\n`);
    expect([config.get('api.nickname'), config.get('stranger'), messages(config)]).to.deep.equal([good, { name: good }, '']);
    expect(messages(await load(`[api]\nnickname = "${bad}"\n[stranger]\nname = "${bad}"\n`)))
      .to.contain('nickname')
      .and.contain('name must');
  });

  it('names older spellings of its settings, in the file and in the environment', async () => {
    expect((await load('old_steps = 5\n')).get('pacer')).to.deep.equal({ steps: 5 });
    expect((await load('', { SVC__OLD_STEPS: '6' })).get('pacer')).to.deep.equal({ steps: 6 });
  });

  it('names what waits of its section, and what holds instead', async () => {
    const reported = messages(await load('[pacer]\nrest = 1\nsong = "x"\n'));
    expect(reported).to.contain('warning config.toml:2: [pacer] rest is NOT enforced yet: nobody rests').and.contain('notice config.toml:3: [pacer] song waits for its area');
    expect(messages(await load('[theatre.stage]\nlight = 2\nsound = 1\n')))
      .to.contain('[theatre.stage] sound is NOT enforced yet: it is quiet')
      .and.not.contain('light');
  });

  it('marks what lets callers in: whether a key is set is read from that alone', () => {
    const has = (values: Record<string, unknown>, env: Record<string, string> = {}): boolean => hasCallerKey(claims, (name) => values[name], env);
    expect(keySections(claims)).to.deep.equal(['/door_key', 'guests']);
    for (const blank of [{}, { '/door_key': ' ' }, { guests: [] }, { guests: [{ name: 'a', key: '' }] }, { pacer: { steps: 3 } }]) expect(has(blank), JSON.stringify(blank)).to.equal(false);
    expect([has({ '/door_key': 'k' }), has({ guests: [{ name: 'a', key: 'k' }] }), has({}, { DOOR_KEY: 'k' }), has({}, { DOOR_KEY: ' ' })]).to.deep.equal([true, true, true, false]);
  });
});

describe('a name of this machine', () => {
  it('is one that nobody else can reach it by', () => {
    for (const name of ['localhost', 'app.localhost', '127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1']) expect(isLoopbackName(name), name).to.equal(true);
    for (const name of ['', '0.0.0.0', '::', '10.0.0.1', 'localhost.test', '127.0.0.1.test', 'xlocalhost']) expect(isLoopbackName(name), name).to.equal(false);
  });
});
