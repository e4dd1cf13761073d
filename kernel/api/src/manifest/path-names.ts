/** Names in paths: which are the interface's, and which are plain. */

/** Second names of the interface, after /api. Taken from schemas/routes.spec.json and what the extensions of the house serve; a test compares. */
export const API_NAMES = new Set(
  (
    'a2a agents approval-grants approvals audit auth auto-dream backup backups bindings budget catalog channels checkpoints clawhub clawhub-cn cluster commands comms config context-engine cron ext extensions ' +
    'extensions-doctor extensions-graph extensions-trust files goals hands health hooks inbox init live logs marketplace mcp media memory metrics migrate models network notices openapi.json pairing ' +
    'panels people peers plugins profiles prompts providers queue ready registry restore runs schedules secrets security sessions settings shares shutdown skillhub skills status tasks templates terminal tools triggers ' +
    'ui uploads usage users vault version versions webhooks workflow-templates workflows'
  ).split(' '),
);
/** First names. */
const FIRST_NAMES = new Set('a2a agents api auth docs health login logout mcp oauth prompts ready shared svc ui v1 webhooks ws'.split(' '));
const ANOTHER_VERSION = /^v\d+$/;
const PLAIN_NAME = /^[A-Za-z0-9_][A-Za-z0-9._~@+,=-]*$/;

/** Whether what is below this path belongs to the interface of svc, or may come to; in any case of letters. */
export const isOfInterface = (path: string): boolean => {
  const [first = '', second = ''] = path.toLowerCase().split('/').slice(1);
  if (first === 'api') return second === '' || API_NAMES.has(second) || ANOTHER_VERSION.test(second);
  // Browsers ask for files of the root by names of their own: sw.js, favicon.ico, robots.txt, .well-known.
  return first === '' || FIRST_NAMES.has(first) || ANOTHER_VERSION.test(first) || first.includes('.');
};

export const isPlainName = (name: string): boolean => PLAIN_NAME.test(name);

/** Written out in small letters: no parameter, escape, dot or empty name. */
export const isPlainPath = (path: string): boolean =>
  path === path.toLowerCase() &&
  path
    .split('/')
    .slice(1)
    .every((name) => isPlainName(name));

/** Whole names, and the very letters. */
export const isBelow = (path: string, prefix: string): boolean => path === prefix || path.startsWith(`${prefix}/`);
