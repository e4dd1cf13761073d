/** What a child process may know of the daemon's environment: next to nothing. */
const BASE = ['PATH', 'HOME', 'TMPDIR', 'TMP', 'TEMP', 'LANG', 'LC_ALL', 'TERM'];
const BASE_WINDOWS = ['USERPROFILE', 'SYSTEMROOT', 'APPDATA', 'LOCALAPPDATA', 'COMSPEC', 'WINDIR', 'PATHEXT'];
const NEVER = new Set(['SVC_VAULT_KEY', 'ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GROQ_API_KEY', 'GEMINI_API_KEY', 'GITHUB_TOKEN', 'NPM_TOKEN', 'AWS_SECRET_ACCESS_KEY', 'AWS_SESSION_TOKEN']);
/** Makes another program load code of its caller's choice. */
const LOADER = /^(LD_|DYLD_)|^(NODE_OPTIONS|BASH_ENV|ENV|PYTHONSTARTUP|PERL5OPT|RUBYOPT)$/;
const SECRET_WORD = /(^|_)(KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|PRIVATE)S?(_|$)|(KEY|SECRET|TOKEN|PASSWORD|CREDENTIAL|PRIVATE)$/i;

type Env = Readonly<Record<string, string | undefined>>;

/** The basic names, those that `[exec_policy] allowed_env_vars` lists (`X_*` takes all but secret-looking ones), and what the caller adds. */
export const childEnvironment = (own: Env, allowed: readonly string[], added: Readonly<Record<string, string>> = {}): Record<string, string> => {
  const out: Record<string, string> = {};
  for (const name of [...BASE, ...(process.platform === 'win32' ? BASE_WINDOWS : [])]) {
    const value = own[name];
    if (value !== undefined) out[name] = value;
  }
  for (const [name, value] of Object.entries(own)) {
    if (value !== undefined && allowed.some((pattern) => isAllowed(name, pattern))) out[name] = value;
  }
  for (const [name, value] of Object.entries(added)) {
    if (!LOADER.test(name) && name !== 'SVC_VAULT_KEY') out[name] = value;
  }
  return out;
};

const isAllowed = (name: string, pattern: string): boolean => {
  if (NEVER.has(name) || LOADER.test(name)) return false;
  if (!pattern.endsWith('*')) return name === pattern;
  return name.startsWith(pattern.slice(0, -1)) && !SECRET_WORD.test(name);
};
