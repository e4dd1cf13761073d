/** What a person has set: home, config.toml, keys. Without a daemon; what it says of the settings is what the daemon would say. */
import { textThatIsSet } from '@svc/api';
import { hasCallerKey } from '@svc/platform/config/caller-keys';
import { homeFindings } from '@svc/platform/config/checks/home-checks';
import { configFileFinding, listenFinding, settingsFinding, variablesFinding } from '@svc/platform/config/checks/settings-checks';
import { readLocalConfig } from '../local-config.js';
import type { Settings } from '../settings.js';
import { type Check, fail, fromFinding, pass, warn } from './check.js';

const VAULT_KEY_BYTES = 32;

export const setupChecks = async (settings: Settings, distDir: string): Promise<Check[]> => {
  const [home, config] = await Promise.all([homeFindings(settings), settingsFindings(settings, distDir)]);
  return [...[...home, ...config].map(fromFinding), vaultKeyCheck(settings.env), providerKeyCheck(settings.env)];
};

const settingsFindings = async (settings: Settings, distDir: string): Promise<ReturnType<typeof settingsFinding>[]> => {
  const { configFile, env } = settings;
  const { problems, claims, values, text, unreadable, isRead } = await readLocalConfig(settings, distDir);
  const get = (section: string): unknown => values.get(section);
  const api = (get('api') ?? {}) as { listen_addr?: string }; // the platform's own section
  const shown = textThatIsSet(env.SVC_LISTEN) ?? api.listen_addr ?? '127.0.0.1:4545';
  const split = /^(.*):(\d{1,5})$/.exec(shown);
  const address = split === null ? undefined : { host: (split[1] ?? '').replace(/^\[(.*)\]$/, '$1'), port: settings.port ?? Number(split[2]) };
  return [
    configFileFinding(configFile, { exists: text !== null || unreadable !== undefined, isRead, problems }),
    settingsFinding(problems),
    listenFinding(address, { hasKey: hasCallerKey(claims, get, env), shown, isFromEnv: settings.port !== undefined }),
    variablesFinding(claims, get, env),
  ];
};

/** No trimming and no guessing: what does not decode to exactly 32 bytes would lose the vault. */
const vaultKeyCheck = (env: NodeJS.ProcessEnv): Check => {
  const key = env.SVC_VAULT_KEY;
  if (key === undefined || key.trim() === '') return pass('VaultKeyCheck', 'SVC_VAULT_KEY is not set; the daemon keeps its own key file');
  const bytes = Buffer.from(key, 'base64');
  const isBase64 = bytes.toString('base64').replace(/=+$/, '') === key.replace(/=+$/, '');
  if (isBase64 && bytes.length === VAULT_KEY_BYTES) return pass('VaultKeyCheck', 'SVC_VAULT_KEY has 32 bytes');
  const why = isBase64 ? `decodes to ${bytes.length} bytes` : 'is not base64';
  return fail('VaultKeyCheck', `SVC_VAULT_KEY ${why}; it must be exactly ${VAULT_KEY_BYTES} bytes`, 'openssl rand -base64 32   makes a new one');
};

const providerKeyCheck = (env: NodeJS.ProcessEnv): Check => {
  const names = Object.keys(env).filter((name) => /^[A-Z][A-Z0-9]*(_[A-Z0-9]+)*_API_KEY$/.test(name) && !name.startsWith('SVC_') && textThatIsSet(env[name]) !== undefined);
  if (names.length === 0) return warn('provider_keys', 'no provider key in the environment', 'svc init   unless one is stored already');
  return pass('provider_keys', names.sort().join(', '));
};
