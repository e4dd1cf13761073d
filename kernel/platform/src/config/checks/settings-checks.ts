/** What doctor says of the settings: the same words from a daemon that runs and from `svc doctor` beside none. */
import { basename } from 'node:path';
import { type DoctorFinding, isTable, textThatIsSet } from '@svc/api';
import type { ConfigProblem } from '../evaluate.js';
import type { SectionClaims } from '../kernel-sections.js';
import { isLoopbackName } from '../loopback.js';
import { schemaOfPlace, settingsIn } from '../settings/setting-tree.js';

const MAX_NAMED = 20;
/** Others need root. */
const FIRST_FREE_PORT = 1024;
const FIX_FILE = 'svc config edit   or correct the line; a running daemon reads the file again when it is saved';

type Problem = Pick<ConfigProblem, 'file' | 'line' | 'key' | 'message' | 'severity'>;

/** Whether there is a file, and whether it is TOML. `problems`: of the same look. */
export const configFileFinding = (file: string, { exists, isRead, problems }: { exists: boolean; isRead: boolean; problems: readonly Problem[] }): DoctorFinding => {
  const check = 'config_file';
  if (!exists) return { check, result: 'pass', message: `${file} does not exist; the defaults apply.` };
  if (isRead) return { check, result: 'pass', message: `${file} is valid TOML.` };
  const why = problems.find(({ key, severity }) => key === '' && severity === 'error')?.message ?? `${basename(file)} cannot be read.`;
  return { check, result: 'fail', message: why, fix: why.includes('not valid TOML') ? FIX_FILE : `put a readable text file in the place of ${file} (chmod u+r)` };
};

export const settingsFinding = (all: readonly Problem[]): DoctorFinding => {
  const check = 'ConfigTomlSchemaCheck';
  // As the file is read: from the top.
  const problems = all.filter(({ severity }) => severity !== 'notice').sort((a, b) => (a.line ?? 0) - (b.line ?? 0));
  const waiting = all.flatMap(({ key, severity }) => (severity === 'notice' ? [key] : []));
  const notice = waiting.length === 0 ? '' : ` ${waiting.length} of them wait for their area: ${waiting.slice(0, MAX_NAMED).join(', ')}.`;
  if (problems.length === 0) return { check, result: 'pass', message: `The settings are valid.${notice}` };
  // One that is not enforced must not hide behind the first.
  const named = problems.slice(0, MAX_NAMED).map(({ message }) => message);
  const rest = problems.length > MAX_NAMED ? ` (and ${problems.length - MAX_NAMED} more)` : '';
  return { check, result: 'fail', message: `${named.join('; ')}${rest}`, fix: problems.some(({ line }) => line !== null) ? FIX_FILE : 'correct the variable, then start the daemon again' };
};

/** `address`: host and port as they are, or would be; undefined where what is set is none. */
export const listenFinding = (address: { host: string; port: number } | undefined, { hasKey, shown, isFromEnv }: { hasKey: boolean; shown: string; isFromEnv: boolean }): DoctorFinding => {
  const check = 'ApiListenAddrCheck';
  if (!address || address.port > 65_535) return { check, result: 'fail', message: `"${shown}" is not an address and a port.`, fix: 'svc config set api.listen_addr 127.0.0.1:4545' };
  const where = `${address.host}:${address.port}`;
  const isLocal = isLoopbackName(address.host);
  if (!isLocal && !hasKey)
    return {
      check,
      result: 'fail',
      message: `${where} can be reached from other machines, and no API key is set.`,
      fix: 'svc key new --write   or listen on 127.0.0.1: svc config set api.listen_addr 127.0.0.1:4545',
    };
  if (address.port < FIRST_FREE_PORT) {
    const why = address.port === 0 ? 'the system chooses a port at each start' : 'ports below 1024 need root';
    return { check, result: 'warn', message: `${where}: ${why}.`, fix: 'choose a port from 1024 to 65535: svc config set api.listen_addr 127.0.0.1:4545' };
  }
  return { check, result: 'pass', message: `${where}${isFromEnv ? ', as SVC_PORT says' : ''}${isLocal ? ', for this machine only' : ', with a key'}.` };
};

/** Names of variables that somebody wrote into the settings (`…_env`) and that nobody set. What is so by default was asked for by nobody. */
export const variablesFinding = (claims: SectionClaims, get: (section: string) => unknown, env: Readonly<Record<string, string | undefined>>): DoctorFinding => {
  const check = 'env_consistency';
  const missing = settingsIn(claims, get)
    .filter((place) => place.value !== schemaOfPlace(place).default)
    .flatMap(({ path, value }) => namesIn(path.join('.'), value))
    .filter(({ variable }) => textThatIsSet(env[variable]) === undefined);
  if (missing.length === 0) return { check, result: 'pass', message: 'Every variable that the settings name is set.' };
  const list = missing.map(({ path, variable }) => `${path} names ${/^[A-Z_][A-Z0-9_]*$/.test(variable) ? variable : 'what is no name of a variable'}`).join('; ');
  return {
    check,
    result: 'warn',
    message: `${list}, and no such variable is set.`,
    fix: 'set the variable and start the daemon again, correct the name with svc config edit, or keep the key: svc providers set-key PROVIDER',
  };
};

const namesIn = (path: string, value: unknown): Array<{ path: string; variable: string }> => {
  if (typeof value === 'string') return /(^|[._])[a-z]*_env$/.test(path) && value !== '' ? [{ path, variable: value }] : [];
  if (Array.isArray(value)) return value.flatMap((item, index) => namesIn(`${path}.${index}`, item));
  return isTable(value) ? Object.entries(value).flatMap(([key, inner]) => namesIn(`${path}.${key}`, inner)) : [];
};
