/** What a person has set: home, config.toml, keys. Works without a daemon; judges with the daemon's own rules. */
import { errnoOf } from '@svc/platform/config/errno';
import { constants } from 'node:fs';
import { access } from 'node:fs/promises';
import { textThatIsSet } from '@svc/api';
import { hasCallerKey } from '@svc/platform/config/caller-keys';
import { isLoopbackName } from '@svc/platform/config/loopback';
import { exposedPaths } from '@svc/platform/config/privacy';
import { hasPlainKey } from '@svc/platform/config/file/stored-key';
import { type LocalConfig, readLocalConfig } from '../local-config.js';
import type { Settings } from '../settings.js';
import { type Check, fail, pass, warn } from './check.js';

const VAULT_KEY_BYTES = 32;
/** Others need root. */
const FIRST_FREE_PORT = 1024;

export const setupChecks = async (settings: Settings, distDir: string): Promise<Check[]> => {
  const config = await readConfig(settings, distDir);
  return [
    await homeCheck(settings),
    await privacyCheck(settings),
    configFileCheck(settings, config),
    schemaCheck(config),
    listenCheck(settings, config),
    ...(await keyStorageCheck(settings)),
    vaultKeyCheck(settings.env),
    providerKeyCheck(settings.env),
  ];
};

/** Named as the daemon names it: what it says of its own files counts. */
const privacyCheck = async (settings: Settings): Promise<Check> => {
  const exposed = await exposedPaths(settings);
  const summary = exposed.map(({ what }) => what).join('; ');
  if (exposed.length === 0) return pass('PrivateFilesCheck', 'no other user of this machine can read the home and its settings');
  return exposed.some(({ holdsKey }) => holdsKey) ? fail('PrivateFilesCheck', summary, 'svc doctor --fix') : warn('PrivateFilesCheck', summary, 'svc doctor --fix');
};

const keyStorageCheck = async ({ configFile }: Settings): Promise<Check[]> =>
  (await hasPlainKey(configFile)) ? [warn('ApiKeyStorageCheck', `${configFile} holds the API key as it is; its hash would do`, 'svc key hash --write')] : [];

const homeCheck = async ({ home }: Settings): Promise<Check> => {
  try {
    await access(home, constants.W_OK);
    return pass('home', home);
  } catch (error) {
    if (errnoOf(error) === 'ENOENT') return pass('home', `${home} is made at the first start`);
    return fail('home', `${home} cannot be written`, 'make it yours, or set SVC_HOME to a folder that is');
  }
};

interface ReadConfig extends LocalConfig {
  readonly listen: string;
  readonly hasKey: boolean;
}

const readConfig = async (settings: Settings, distDir: string): Promise<ReadConfig> => {
  const local = await readLocalConfig(settings, distDir);
  const api = (local.values.get('api') ?? {}) as { listen_addr?: string }; // the platform's own section
  const hasKey = hasCallerKey(local.claims, (section) => local.values.get(section), settings.env);
  return { ...local, listen: settings.env.SVC_LISTEN || api.listen_addr || '127.0.0.1:4545', hasKey };
};

const configFileCheck = (settings: Settings, config: ReadConfig): Check => {
  if (config.unreadable !== undefined)
    return fail(
      'config_file',
      `${settings.configFile} cannot be read: ${config.unreadable}`,
      config.unreadable === 'EACCES' ? `chmod u+r ${settings.configFile}` : 'put a readable text file in its place',
    );
  if (config.text === null) return pass('config_file', `${settings.configFile} does not exist; the defaults hold`);
  return pass('config_file', settings.configFile);
};

const schemaCheck = ({ text, problems }: ReadConfig): Check => {
  const [first] = problems;
  if (first === undefined) return pass('ConfigTomlSchemaCheck', text === null ? 'nothing to check' : 'every key is known and its value fits');
  const summary = problems.map((problem) => problem.message).join('; ');
  const hint = 'correct the line; a running daemon reads the file again when it is saved';
  return problems.some((problem) => problem.severity === 'error') ? fail('ConfigTomlSchemaCheck', summary, hint) : warn('ConfigTomlSchemaCheck', summary, hint);
};

const listenCheck = (settings: Settings, config: ReadConfig): Check => {
  const split = /^(.*):(\d{1,5})$/.exec(config.listen);
  const host = (split?.[1] ?? '').replace(/^\[(.*)\]$/, '$1');
  const isLocal = isLoopbackName(host);
  const port = settings.port ?? Number(split?.[2] ?? 0);
  if (split === null || port > 65_535) return fail('ApiListenAddrCheck', `"${config.listen}" is not an address and a port`, 'set listen_addr in [api], such as "127.0.0.1:4545"');
  if (!isLocal && !config.hasKey) return fail('ApiListenAddrCheck', `${config.listen} can be reached from other machines, and no api_key is set`, 'set api_key in config.toml, or listen on 127.0.0.1');
  const where = `${host}:${port}`;
  if (port < FIRST_FREE_PORT)
    return warn('ApiListenAddrCheck', port === 0 ? `${where}: the system chooses a port at each start` : `${where}: ports below 1024 need root`, 'choose a port from 1024 to 65535');
  return pass('ApiListenAddrCheck', `${where}${settings.port === undefined ? '' : ', as SVC_PORT says'}${isLocal ? ', this machine only' : ', with a key'}`);
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
  if (names.length === 0) return warn('provider_keys', 'no provider key in the environment', 'svc providers set-key PROVIDER   unless one is stored already');
  return pass('provider_keys', names.sort().join(', '));
};
