/** What a child process may know of the daemon's environment: next to nothing. */
import { KEY_BEGINNING } from '@svc/api';

const BASE = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'LANG', 'LC_ALL', 'TERM'];
const BASE_WINDOWS = ['USERPROFILE', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA', 'COMSPEC', 'WINDIR', 'PATHEXT'];
const NEVER = new Set(['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GROQ_API_KEY', 'GEMINI_API_KEY', 'GITHUB_TOKEN', 'NPM_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']);
/** Makes another program load code of its caller's choice. */
const LOADER = /^(LD_|DYLD_)|^(NODE_OPTIONS|BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT)$/;
const SECRET_WORD = /(^|_)(KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|PASS|PAT|DSN|CREDENTIAL|PRIVATE)S?(_|$)|_PWD$|(KEY|SECRET|TOKEN|PASSWORD|PASSWD|PASSPHRASE|CREDENTIAL|PRIVATE)S?$/i;
/** An address with a password in it, and what vendors' keys begin with: people choose any name for them. */
const SECRET_VALUE = new RegExp(String.raw`^[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@|^(${KEY_BEGINNING}|-----BEGIN )`, 'i');

type Env = Readonly<Record<string, string | undefined>>;

/** The basic names, those that `[exec_policy] allowed_env_vars` lists (`X_*` takes all but secret-looking ones), and what the caller adds. `only` narrows the second to these names. */
export const childEnvironment = (own: Env, allowed: readonly string[], added: Readonly<Record<string, string>> = {}, only?: readonly string[]): Record<string, string> => {
  const out: Record<string, string> = {};
  for (const name of [...BASE, ...(process.platform === 'win32' ? BASE_WINDOWS : [])]) {
    const value = own[name];
    if (value !== undefined) out[name] = value;
  }
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && allowed.some((pattern) => isAllowed(name, pattern)) && (only?.some((pattern) => isAllowed(name, pattern)) ?? true)) out[name] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    if (!LOADER.test(name) && !isOwnSecret(name)) out[name] = value;
  }
  return out;
};

/** Whether a variable of this name, or with this value, is for nobody else to read. */
export const isSecretVariable = (name: string, value: string): boolean => SECRET_WORD.test(name) || SECRET_VALUE.test(value);

/** Opens the daemon itself; no setting hands it on. */
const isOwnSecret = (name: string): boolean => name.startsWith('SVC_') && SECRET_WORD.test(name);

const isAllowed = (name: string, pattern: string): boolean => {
  if (NEVER.has(name) || LOADER.test(name) || isOwnSecret(name)) return false;
  if (!pattern.endsWith('*')) return name === pattern;
  return name.startsWith(pattern.slice(0, -1)) && !SECRET_WORD.test(name);
};
