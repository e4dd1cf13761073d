/**
 * What in a skill a person should read before it is installed.
 *
 * S1  A finding names its rule, file and line. The scanner advises: what a skill can do is decided by the capabilities of its agent.
 * S2  Orders against the person who installs it are critical where a model would read them as orders, and a warning in code and quotations: lessons about such orders have them there. Rules of other languages (order-rules.ts) say nothing there.
 * S3  A program that hides what it runs, opens a shell to elsewhere, or sends credentials away is critical wherever it stands.
 */
import { UNSEEN } from '@svc/api';
import { suspicionsOf } from '@svc/ext-taint/contract';
import { ORDER_RULES } from './order-rules.js';

export const SEVERITIES = ['info', 'warning', 'critical'] as const;

export interface Finding {
  readonly rule: string;
  readonly severity: (typeof SEVERITIES)[number];
  readonly file: string;
  readonly line: number;
  readonly message: string;
}

interface LineRule {
  readonly rule: string;
  readonly severity: Finding['severity'];
  readonly pattern: RegExp;
  readonly message: string;
}

const CREDENTIALS = '(?:\\.ssh/id_|\\.aws/credentials|\\.netrc|\\.npmrc|\\.kube/config|/etc/shadow|login\\.keychain|Login Data|wallet\\.dat|vault\\.enc|application_default_credentials\\.json)';
const SENDING = '(?:curl|wget|nc|ncat|requests\\.(?:post|put)|fetch\\(|http\\.client|urllib|axios)';
/** Plain http, or a number in place of a name. */
const UNVOUCHED = '(?:https?:\\/\\/(?!127\\.)\\d{1,3}(?:\\.\\d{1,3}){3}|http:\\/\\/(?!localhost|127\\.))';

const LINE_RULES: readonly LineRule[] = [
  {
    rule: 'reverse_shell',
    severity: 'critical',
    pattern: /\/dev\/tcp\/|\bn(?:c|cat)\b[^\n]{0,40}\s-[a-z]*e\s|socket\.socket[^\n]{0,200}(?:dup2|subprocess)|bash\s+-i\s*>&/i,
    message: 'It opens a shell to another machine.',
  },
  {
    rule: 'hidden_command',
    severity: 'critical',
    pattern: /base64\s+(?:-d|-D|--decode)[^\n]{0,80}\|\s*(?:ba|z|da)?sh\b|\|\s*xxd\s+-r[^\n]{0,40}\|\s*(?:ba|z)?sh\b|(?:eval|exec)\s*\(\s*(?:base64\.b64decode|atob|bytes\.fromhex|zlib\.decompress)/i,
    message: 'It runs text that cannot be read here.',
  },
  {
    rule: 'credentials_sent',
    severity: 'critical',
    pattern: new RegExp(`${SENDING}[^\\n]{0,200}${CREDENTIALS}|${CREDENTIALS}[^\\n]{0,200}(?:\\||${SENDING})`, 'i'),
    message: 'It sends credentials elsewhere.',
  },
  {
    rule: 'download_and_run',
    severity: 'critical',
    pattern:
      /(?:curl|wget)\b[^\n|]{0,200}(?:https?:\/\/\d{1,3}(?:\.\d{1,3}){3}|pastebin\.com|paste\.ee|glot\.io|rentry\.(?:co|org)|transfer\.sh|http:\/\/(?!localhost|127\.))[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i,
    message: 'It runs a download from an address that nobody vouches for.',
  },
  {
    rule: 'download_and_run',
    severity: 'critical',
    pattern: new RegExp(
      `sh\\s+-c\\s+["']?\\$\\((?:curl|wget)\\b[^\\n)]{0,200}${UNVOUCHED}|\\bexec\\([^\\n]{0,60}(?:urlopen|requests\\.get)\\([^\\n]{0,20}${UNVOUCHED}|\\b(?:iex|Invoke-Expression)\\b[^\\n]{0,60}(?:DownloadString|Invoke-WebRequest|\\birm\\b|\\biwr\\b)[^\\n]{0,40}${UNVOUCHED}|(?:curl|wget)\\b[^\\n]{0,200}${UNVOUCHED}[^\\n]{0,200}&&\\s*chmod\\s+\\+x`,
      'i',
    ),
    message: 'It runs a download from an address that nobody vouches for.',
  },
  { rule: 'persistence', severity: 'critical', pattern: />>\s*~?[^\n]{0,60}(?:authorized_keys|\/etc\/sudoers|\/etc\/cron)/i, message: 'It gives itself access that stays.' },
  { rule: 'download_piped_to_shell', severity: 'warning', pattern: /(?:curl|wget)\b[^\n|]{0,200}\|\s*(?:sudo\s+)?(?:ba|z|da)?sh\b/i, message: 'It runs what it downloads.' },
  { rule: 'credentials_read', severity: 'warning', pattern: new RegExp(CREDENTIALS), message: 'It names a file with credentials.' },
  {
    rule: 'changes_startup',
    severity: 'warning',
    pattern: />>\s*~?[^\n]{0,40}\.(?:bashrc|zshrc|profile|bash_profile)|\bcrontab\s+-|launchctl\s+load|systemctl\s+enable/i,
    message: 'It changes what starts with the machine.',
  },
  {
    rule: 'deletes_widely',
    severity: 'warning',
    pattern: /rm\s+-[a-z]*r[a-z]*f?\s+(?:\/|~|\$HOME)(?:\s|$|\/\*)|\bmkfs\.|\bdd\s+if=[^\n]{0,40}of=\/dev\//i,
    message: 'It deletes more than its own files.',
  },
  { rule: 'needs_root', severity: 'info', pattern: /(?:^|\s)sudo\s+\S/, message: 'It runs a command as root.' },
  { rule: 'whole_environment', severity: 'warning', pattern: /JSON\.stringify\(\s*process\.env\s*\)|dict\(os\.environ\)|(?:^|\s)printenv\s*\|/, message: 'It reads all variables of its environment.' },
];

/** What orders against the person who reads them, by taint's rules; the others address a model, as every skill does. */
const AGAINST_PEOPLE = new Set([
  ...['ignore_prev_instructions', 'ignore_all_instructions', 'ignore_prior_instructions', 'ignore_above_instructions', 'ignore_your_instructions'],
  ...['disregard_instructions', 'disregard_all_instructions', 'disregard_any_instructions', 'bypass_restrictions', 'deception_hide', 'sys_prompt_override', 'you_are_now'],
]);
const OF_ANY_SKILL = new Set(['tool_call_ordered', 'addressed_to_model', 'task_hijack', 'obey_this']);
const TEXT_FILE = /\.(?:md|markdown|txt|rst|toml|ya?ml|json|prompt|j2)$/i;
const MARKDOWN = /\.(?:md|markdown)$/i;
const PROGRAM_FILE = /\.(?:py|js|mjs|cjs|ts|sh|bash|zsh|ps1|rb|pl|lua|bat|cmd)$/i;
const QUOTED = /^\s*(?:>|[-*]\s*["“'`])|^\s*["“'`].*["”'`][,.;]?\s*$|^\s*\|/;
/** The task of many skills: "do not show the user raw JSON", "never delete without telling the user". */
const OF_MANNERS = /\b(?:never|do not|don'?t|nothing)\b[^\n.;]{1,80}\bwithout\s+\w+ing\b|\bshow(?:ing)?\s+(?:to\s+)?the\s+(?:user|human|owner|operator)\s+\p{L}/iu;
const MAX_FINDINGS = 200;
const MAX_LINE = 4_000;

export const scanFiles = (files: ReadonlyArray<{ readonly path: string; readonly bytes: Uint8Array }>): Finding[] => {
  const found: Finding[] = [];
  for (const { path, bytes } of files) {
    if (found.length >= MAX_FINDINGS) break;
    if (path.toLowerCase().endsWith('.pth')) found.push({ rule: 'import_hijack', severity: 'critical', file: path, line: 1, message: 'Python runs .pth files at every start.' });
    if (isText(bytes)) found.push(...scanOne(path, Buffer.from(bytes).toString('utf8')));
    else if (/\.(?:exe|dll|so|dylib|bin)$/i.test(path)) found.push({ rule: 'binary', severity: 'warning', file: path, line: 1, message: 'It is a program that cannot be read here.' });
  }
  return found.slice(0, MAX_FINDINGS);
};

const isText = (bytes: Uint8Array): boolean => !bytes.subarray(0, 8_192).includes(0);

const scanOne = (file: string, text: string): Finding[] => {
  const found: Finding[] = [];
  const seen = new Set<string>();
  const add = (rule: string, severity: Finding['severity'], line: number, message: string): void => {
    if (seen.has(`${rule} ${line}`)) return;
    seen.add(`${rule} ${line}`);
    found.push({ rule, severity, file, line, message });
  };
  const isProse = TEXT_FILE.test(file);
  let isFenced = false;
  text.split('\n').forEach((whole, index) => {
    const line = whole.slice(0, MAX_LINE);
    if (MARKDOWN.test(file) && /^\s*(?:```|~~~)/.test(line)) isFenced = !isFenced;
    for (const { rule, severity, pattern, message } of LINE_RULES)
      if ((isProse || PROGRAM_FILE.test(file) || index > 0 || line.startsWith('#!')) && pattern.test(line)) add(rule, severity, index + 1, message);
    if (!isProse || line.trim() === '') return;
    for (const id of suspicionsOf(line)) {
      if (OF_ANY_SKILL.has(id)) continue;
      const isOrder = AGAINST_PEOPLE.has(id) && !isFenced && !QUOTED.test(line) && !isBetweenQuotes(line, id) && !(id === 'deception_hide' && OF_MANNERS.test(line));
      add(id, isOrder ? 'critical' : 'warning', index + 1, 'It gives a model orders that are not the task of a skill.');
    }
    if (!isFenced && !QUOTED.test(line))
      for (const { rule, severity, pattern } of ORDER_RULES) if (pattern.test(withoutQuotes(line))) add(rule, severity, index + 1, 'It gives a model orders that are not the task of a skill.');
    if (UNSEEN.test(line.replace(/[\t\r\ufeff]/g, ''))) add('hidden_characters', 'warning', index + 1, 'It has characters that cannot be seen.');
  });
  return found;
};

const withoutQuotes = (line: string): string => line.replace(/"[^"]*"|„[^“”]*[“”]|“[^”]*”|«[^»]*»|`[^`]*`|'[^']{8,}'/g, '');

/** What is left without quoted words breaks no rule. */
const isBetweenQuotes = (line: string, id: string): boolean => !suspicionsOf(withoutQuotes(line)).includes(id);

export const worstOf = (findings: readonly Finding[]): Finding['severity'] | 'none' => {
  if (findings.some(({ severity }) => severity === 'critical')) return 'critical';
  return findings.some(({ severity }) => severity === 'warning') ? 'warning' : findings.length > 0 ? 'info' : 'none';
};

/** In one line, the worst first. */
export const saidOf = (findings: readonly Finding[], most = 3): string => {
  const order = [...findings].sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity));
  const rest = order.length - most;
  return `${order
    .slice(0, most)
    .map(({ rule, file, line }) => `${rule} in ${file}, line ${line}`)
    .join('; ')}${rest > 0 ? `; and ${rest} more` : ''}`;
};
