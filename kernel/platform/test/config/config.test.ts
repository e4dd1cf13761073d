import { chmod, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Type } from '@svc/api';
import { expect } from 'chai';
import { systemClock } from '../../src/clock/clock.js';
import { type Config, createConfig } from '../../src/config/config.js';
import { resolveHome } from '../../src/config/home.js';
import { RunsSection } from '../../../../extensions/runs/src/config.js';
import { aliasesOf, allClaims } from '../../src/config/claims.js';
import type { SectionClaims } from '../../src/config/kernel-sections.js';
import { waitingAt } from '../../src/config/waiting-settings.js';
import { createLog } from '../../src/log/log.js';

const claims: SectionClaims = {
  'api.rate_limit_per_second': { owner: 'ratelimit', schema: Type.Number({ default: 50, minimum: 0.01, maximum: 100_000 }) },
  memory: { owner: 'memory', schema: Type.Object({ decay_rate: Type.Number({ default: 0.1, minimum: 0, maximum: 1 }), decay: Type.Object({ enabled: Type.Boolean({ default: false }) }) }) },
  gate: { owner: 'auth', schema: Type.Object({ mode: Type.Union([Type.Literal('open'), Type.Literal('locked')], { default: 'open' }) }, { 'x-security': true }) },
  '/api_key': { owner: 'auth', schema: Type.String({ default: '', 'x-secret': true, 'x-security': true }) },
};

/** Every key and section of config.toml that the interface and the programs written for it know. */
const PUBLISHED = [
  ...['home_dir', 'data_dir', 'workspaces_dir', 'log_dir', 'log_level', 'api_listen', 'api_key', 'api_key_hash', 'cors_origin', 'trusted_proxies', 'trust_forwarded_for', 'require_auth_for_reads'],
  ...['dashboard_user', 'dashboard_pass', 'dashboard_pass_hash', 'mode', 'language', 'update_channel', 'usage_footer', 'prompt_caching', 'stable_prefix_mode', 'network_enabled', 'second_factor'],
  ...['agent_max_iterations', 'max_history_messages', 'max_cron_jobs', 'max_agent_call_depth', 'max_concurrent_bg_llm', 'max_upload_size_bytes', 'max_request_body_bytes', 'tool_timeout_secs'],
  ...['local_probe_interval_secs', 'workflow_stale_timeout_minutes', 'cron_session_max_tokens', 'cron_session_max_messages', 'strict_config', 'include', 'allowed_mount_roots'],
  ...['trusted_manifest_signers', 'trusted_hosts', 'default_model', 'fallback_providers', 'provider_urls', 'provider_api_keys', 'provider_regions', 'provider_proxy_urls'],
  ...['provider_request_timeout_secs', 'provider_max_retries', 'tool_timeouts', 'memory', 'proactive_memory', 'auto_dream', 'web', 'exec_policy', 'approval', 'budget', 'thinking', 'session'],
  ...['compaction', 'queue', 'task_board', 'triggers', 'rate_limit', 'tool_invoke', 'tool_policy', 'tool_results', 'parallel_tools', 'context_engine', 'mcp_servers', 'a2a', 'users', 'bindings'],
  ...['sidecar_channels', 'channels', 'external_auth', 'webhook_triggers', 'network', 'pairing', 'vault', 'terminal', 'browser', 'docker', 'media', 'tts', 'canvas', 'links', 'audit'],
  ...['health_check', 'heartbeat', 'telemetry', 'prompt_intelligence', 'sanitize', 'privacy', 'inbox', 'reload', 'registry', 'skills', 'auto_reply', 'background', 'proxy', 'api'],
];

describe('config', () => {
  let home: string;
  let file: string;
  beforeEach(async () => {
    home = await mkdtemp(join(tmpdir(), 'svc-config-'));
    file = join(home, 'config.toml');
  });
  afterEach(() => rm(home, { recursive: true, force: true }));

  const log = createLog({ dir: null, level: 'info', clock: systemClock(), terminal: false });
  const load = async (text: string | null, env: Record<string, string> = {}): Promise<Config> => {
    if (text !== null) await writeFile(file, text);
    const config = createConfig({ file, env, log, sections: () => claims, providers: () => ({ hands: 'hands' }) });
    await config.load();
    return config;
  };
  const set = async (config: Config, path: string, value: unknown): Promise<void> => {
    await config.edit({ path, value });
    await config.reload();
  };
  const messages = (config: Config): string[] => config.problems().map((problem) => problem.message);
  const errorOf = async (promise: Promise<unknown>): Promise<{ code: string; message: string }> =>
    promise.then(
      () => ({ code: 'none', message: '' }),
      (error) => error,
    );

  it('gives frozen defaults without a file', async () => {
    const config = await load(null);
    expect(config.get('api')).to.deep.include({ listen_addr: '127.0.0.1:4545', rate_limit_per_second: 50 });
    expect(config.get('memory')).to.deep.equal({ decay_rate: 0.1, decay: { enabled: false } });
    expect(Object.isFrozen((config.get('memory') as { decay: object }).decay)).to.equal(true);
    expect(config.problems()).to.deep.equal([]);
  });

  it('names file, line, setting, what is expected and what was found', async () => {
    const config = await load('# mine\n\n[api]\nrate_limit_per_second = "fast" # hm\n\n[extensions]\npreset = "standart"\n');
    expect(messages(config)).to.deep.equal([
      'config.toml:4: [api] rate_limit_per_second must be a number from 0.01 to 100000, got "fast"',
      'config.toml:7: [extensions] preset must be one of "minimal", "standard", "full", got "standart". Did you mean "standard"?',
    ]);
    expect(config.problems()[0]).to.include({ line: 4, key: 'api.rate_limit_per_second', severity: 'error' });
  });

  it('names each trusted proxy that is neither an address nor a range, with its line', async () => {
    const config = await load('trusted_proxies = [\n  "10.0.0.0/8",\n  "proxy.internal",\n  "10.0.0.1/33",\n  "2001:db8::/32", "::ffff:10.0.0.1", "010.0.0.1"\n]\n');
    const expected = 'must be a string with an IP address, or a range of them such as 10.0.0.0/8';
    expect(messages(config).map((message) => message.replace(/^config\.toml:\d+: /, ''))).to.deep.equal([
      `trusted_proxies.1 ${expected}, got "proxy.internal"`,
      `trusted_proxies.2 ${expected}, got "10.0.0.1/33"`,
      `trusted_proxies.5 ${expected}, got "010.0.0.1"`,
    ]);
    expect(config.problems().every((problem) => typeof problem.line === 'number')).to.equal(true);
    expect(config.get('/trusted_proxies')).to.deep.equal([]);
    expect((await load('trusted_proxies = ["10.0.0.0/8", "2001:db8::/32", "127.0.0.1", "::ffff:10.0.0.1"]\n')).problems()).to.deep.equal([]);
  });

  it('hints at the nearest name of a misspelt key, or at the extension that would read it', async () => {
    const config = await load('[memory]\ndecay_rat = 0.2\n[memory.decay]\nenabled = true\n[hands]\nx = 1\n[memry]\n');
    expect(messages(config)).to.deep.equal([
      'config.toml:5: [hands] is provided by the extension hands, which is not installed',
      'config.toml:7: [memry] is not a setting. Did you mean "memory"?',
      'config.toml:2: [memory] decay_rat is not a setting. Did you mean "decay_rate"?',
    ]);
    expect(config.get('memory')).to.deep.equal({ decay_rate: 0.1, decay: { enabled: true } });
  });

  it('refuses a key at the top that looks like one of a section, and names both; what looks like none is a warning', async () => {
    const config = await load('decay_rte = 0.2\nlevl = "debug"\nzzzz = 1\n');
    expect(config.problems().map(({ message, severity }) => [severity, message])).to.deep.equal([
      ['error', 'config.toml:1: decay_rte is not a setting. Did you mean "decay_rate" in [memory]?'],
      ['error', 'config.toml:2: levl is not a setting. Did you mean "level" in [log]?'],
      ['warning', 'config.toml:3: zzzz is not a setting.'],
    ]);
    expect(config.get('memory')).to.deep.include({ decay_rate: 0.1 });
  });

  it('knows the settings of areas that are not here, and says plainly which of them nobody keeps', async () => {
    const config = await load('second_factor = "totp"\n[audit]\nenabled = true\n[budget]\nmonthly_limit = 5\n[session]\nretention_days = 3\n[web.fetch]\nreadability = true\nmax_chars = 10\n');

    const said = config.problems().map(({ severity, message }) => `${severity}: ${message}`);

    expect(said).to.have.members([
      'warning: config.toml:1: second_factor is NOT enforced yet: no second factor is asked for',
      'notice: config.toml:2: [audit] waits for its area: nothing here reads it yet',
      'warning: config.toml:4: [budget] is NOT enforced yet: no limit of cost holds for the daemon as a whole. max_cost_per_hour_usd, _day_ and _month_ under [resources] of an agent are kept',
      'notice: config.toml:6: [session] waits for its area: nothing here reads it yet',
      'warning: config.toml:7: [session] retention_days is NOT enforced yet: sessions stay until their agent goes',
      'notice: config.toml:9: [web.fetch] readability waits for its area: nothing here reads it yet',
      'warning: config.toml:10: [web.fetch] max_chars is NOT enforced yet: [web.fetch] max_response_bytes is kept',
    ]);
  });

  it('says the same of the environment', async () => {
    const config = await load(null, { SVC__BUDGET__MONTHLY_LIMIT: '5' });
    expect(messages(config).join()).to.match(/^SVC__BUDGET__MONTHLY_LIMIT: budget\.monthly_limit is NOT enforced yet/);
  });

  it('names the encoding of a file that a Windows program saved as UTF-16, and keeps running', async () => {
    const text = '[llm]\nmax_retries = 0\n';
    for (const [bytes, named] of [
      [Buffer.from(`\uFEFF${text}`, 'utf16le'), 'config.toml cannot be read: it is UTF-16 text (utf-16le), and settings are UTF-8.'],
      [Buffer.from(`\uFEFF${text}`, 'utf16le').swap16(), 'config.toml cannot be read: it is UTF-16 text (utf-16be), and settings are UTF-8.'],
      [Buffer.from(text, 'utf16le'), 'config.toml cannot be read: it has zero bytes, as UTF-16 text without a byte order mark has'],
    ] as const) {
      await writeFile(file, bytes);
      const config = await load(null);
      expect(messages(config).join('\n')).to.contain(named);
    }
    await writeFile(file, `\uFEFF[log]\nlevel = "warn"\n`);
    expect(messages(await load(null))).to.deep.equal([]);
  });

  it('knows every setting of the interface, claimed or waiting', () => {
    const claimed = new Set([
      'api',
      'extensions',
      'log',
      'security',
      'web',
      'exec_policy',
      'journal',
      'trusted_proxies',
      'api_key',
      'api_key_hash',
      'users',
      'llm',
      'default_model',
      'provider_urls',
      'provider_proxy_urls',
      'proxy',
      'fallback_providers',
      'rate_limit',
      'webhook_triggers',
      'runs',
      'tool_invoke',
      'tool_timeout_secs',
      'tool_timeouts',
      'vault',
      'memory',
      'proactive_memory',
      'mcp_servers',
      'a2a',
      'network',
      'network_enabled',
      'channels',
      'sidecar_channels',
      'bindings',
      'media',
      'prompt_intelligence',
      'context_engine',
      'pairing',
      'external_auth',
      'auto_dream',
      'inbox',
      'skills',
      'task_board',
      'terminal',
      'triggers',
      'max_cron_jobs',
      'cron_session_max_tokens',
      'cron_session_max_messages',
    ]);
    const aliases = aliasesOf(allClaims({ runs: { owner: 'runs', schema: RunsSection.schema } }));
    const unknown = PUBLISHED.filter((name) => !claimed.has(name) && !Object.hasOwn(aliases, name) && waitingAt([name]) === undefined);
    expect(unknown).to.deep.equal([]);
  });

  it('looks at so many unknown keys and no more, however many there are', async () => {
    const many = Array.from({ length: 5_000 }, (_, i) => `decay_rat${i}${'_'.repeat(40)} = ${i}`).join('\n');
    const config = await load(`${many}\n[memory]\n${many}\n`);
    expect(config.problems()).to.have.length(42);
    expect(messages(config).join('\n'))
      .to.match(/4980 more keys are not settings/)
      .and.match(/has 4980 more keys that are not settings/);
  });

  it('keeps the last good value of a bad section across a restart', async () => {
    await load('[memory]\ndecay_rate = 0.5\n');
    const config = await load('[memory]\ndecay_rate = 7\n[log]\nlevel = "warn"\n');
    expect(config.get('memory')).to.deep.include({ decay_rate: 0.5 });
    expect(config.get('log')).to.deep.equal({ level: 'warn' });
    expect((await stat(join(home, 'data/config-last-good.json'))).mode & 0o777).to.equal(0o600);
  });

  it('keeps every section when the file is not TOML, and names the line as people count', async () => {
    await load('[memory]\ndecay_rate = 0.5\n[gate]\nmode = "locked"\n');
    const config = await load('[memory]\ndecay_rate = 0.9\noops\n');
    expect(config.problems()[0]).to.include({ line: 3, severity: 'error' });
    expect(config.get('memory')).to.deep.include({ decay_rate: 0.5 });
    expect(config.get('gate')).to.deep.equal({ mode: 'locked' });
    expect(config.isClosed('gate')).to.equal(false);
  });

  it('closes a security section that is bad and was never good, and opens it when it is fixed', async () => {
    const config = await load('[gate]\nmode = "lokced"\n');
    expect(config.isClosed('gate')).to.equal(true);
    expect(config.closed()).to.deep.equal(['gate']);
    await writeFile(file, '[gate]\nmode = "locked"\n');
    expect((await config.reload()).changed).to.deep.equal(['gate']);
    expect(config.isClosed('gate')).to.equal(false);
  });

  it('leaves a security section that the last good file did not have at its default when the file breaks, also at the next start', async () => {
    const config = await load('[log]\nlevel = "warn"\n');
    for (const broken of ['[log\n', '[gate\n']) {
      await writeFile(file, broken);
      await config.reload();
      expect(config.closed()).to.deep.equal([]);
      expect((await load(null)).closed()).to.deep.equal([]);
    }
    expect(config.get('log')).to.deep.equal({ level: 'warn' });
    await writeFile(file, '[gate]\nmode = "lokced"\n');
    await config.reload();
    expect(config.closed()).to.deep.equal(['gate']);
  });

  it('closes every security section when the first file there ever was cannot be read', async () => {
    expect((await load('[gate\n')).closed()).to.include.members(['gate', '/api_key']);
  });

  it('does not bring back a section that was taken out of the file', async () => {
    await load('[memory]\ndecay_rate = 0.5\n');
    await load('[log]\nlevel = "warn"\n');
    const again = await load(null);
    expect(again.get('memory')).to.deep.include({ decay_rate: 0.1 });
    expect(again.get('log')).to.deep.equal({ level: 'warn' });
  });

  it('reads an unchanged file without validating it again', async () => {
    const text = '[memory]\ndecay_rate = 0.5\n';
    await load(text);
    const kept = join(home, 'data/config-last-good.json');
    await writeFile(kept, (await readFile(kept, 'utf8')).replace('0.5', '0.25'));
    expect((await load(text)).get('memory')).to.deep.include({ decay_rate: 0.25 });
  });

  it('puts the environment above the file and names the variable that is wrong', async () => {
    const env = { SVC__API__RATE_LIMIT_PER_SECOND: '20', SVC__API__CORS_ORIGINS: '["https://a.test"]', SVC__MEMORY__DECAY_RATE: 'much', SVC__API_KEY: '12345678', SVC__LOG_LEVEL: 'debug' };
    const config = await load('[api]\nrate_limit_per_second = 5\n[memory]\ndecay_rate = 0.5\n', env);
    expect(config.get('api')).to.deep.include({ rate_limit_per_second: 20, cors_origins: ['https://a.test'] });
    expect(config.get('/api_key')).to.equal('12345678');
    expect(config.get('log')).to.deep.equal({ level: 'debug' });
    expect(config.get('memory')).to.deep.include({ decay_rate: 0.5 });
    expect(messages(config)).to.deep.equal(['SVC__MEMORY__DECAY_RATE: [memory] decay_rate must be a number from 0 to 1, got "much"']);
    expect(await readFile(join(home, 'data/config-last-good.json'), 'utf8')).not.to.contain('12345678');
  });

  it('shows no secret in a message', async () => {
    const config = await load('api_key = ["hunter2hunter2"]\n');
    expect(messages(config)[0]).to.contain('api_key must be a string').and.not.contain('hunter2');
  });

  it('changes one setting in place and keeps comments, order and mode', async () => {
    const text = '# top\nlog_level = "info" # calm\n\n[memory] # m\n# about decay\ndecay_rate = 0.5   # slow\n\n[api]\ncors_origins = [\n  "https://a.test", # first\n]\n';
    const config = await load(text);
    await chmod(file, 0o640);
    let received = 0;
    config.onChange('memory', () => received++);
    await set(config, 'memory.decay_rate', 0.0000001);
    await set(config, 'log.level', 'warn');
    await set(config, 'api.rate_limit_per_second', 50);
    await set(config, 'gate.mode', 'locked');
    await set(config, 'api.cors_origins', null);
    expect(await readFile(file, 'utf8')).to.equal(
      '# top\nlog_level = "warn" # calm\n\n[memory] # m\n# about decay\ndecay_rate = 1e-7   # slow\n\n[api]\nrate_limit_per_second = 50\n\n[gate]\nmode = "locked"\n',
    );
    expect((await stat(file)).mode & 0o777).to.equal(0o640);
    expect([received, config.get('gate')]).to.deep.equal([1, { mode: 'locked' }]);
    expect(await readFile(join(home, 'backups/config.toml.prev'), 'utf8')).to.contain('cors_origins');
  });

  it('refuses to write what is wrong, what the environment holds, and what cannot be edited safely', async () => {
    const text = 'gate = { mode = "locked" }\n[memory]\ndecay_rate = 0.5\n';
    const config = await load(text, { SVC__LOG__LEVEL: 'warn' });
    const refused = (path: string, value: unknown) => errorOf(set(config, path, value));
    expect(await refused('memory.decay_rate', 7)).to.include({ code: 'config_value_invalid', message: 'config.toml:3: [memory] decay_rate must be a number from 0 to 1, got 7' });
    expect(await refused('memory.decay_rat', 1)).to.include({ code: 'config_setting_unknown', message: 'memory.decay_rat is not a setting. Did you mean "memory.decay_rate"?' });
    expect((await refused('log.level', 'info')).message).to.contain('SVC__LOG__LEVEL');
    expect(await refused('a b.c', 1)).to.include({ code: 'config_path_invalid' });
    expect(await readFile(file, 'utf8')).to.equal(text);
  });

  it('merges all sections into one schema', async () => {
    const schema = (await load(null)).schema() as { properties: Record<string, unknown> };
    expect(schema.properties).to.include.keys('api', 'memory', 'api_key', 'api_listen');
  });

  it('finds the home in the environment and refuses a port that is none', () => {
    expect(resolveHome({ SVC_HOME: '/srv/svc', SVC_PORT: '4600' })).to.include({ configFile: '/srv/svc/config.toml', port: 4600, logDir: '/srv/svc/logs' });
    expect(() => resolveHome({ SVC_PORT: '70000' })).to.throw('SVC_PORT must be a port from 1 to 65535, got "70000"');
  });
});
