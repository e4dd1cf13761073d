/** What speaks HTTP with the daemon is @svc/client: what a lost connection, a restart or a refusal means is decided there, once. */
import { isOfCommandLine, lineAt } from './sources.mjs';

const RULE = 'daemon-call';
const HTTP = new Set(['http', 'https', 'http2', 'undici', 'ws', 'eventsource-parser']);
/** Calls of `fetch` and `new WebSocket`, and not a member or a declaration of that name. */
const CALLS = /(?<![.\w$])(fetch\(|new WebSocket\(|new EventSource\()/g;

/** The socket of a terminal carries the keys and the screen of a program: no call, no stream of events. */
const TERMINAL = 'extensions/terminal/panels/terminal.panel.tsx';

/** Programs and pages that a person uses. What runs inside the daemon has its own adapters. */
const isOutside = ({ file, isPage, isTest }) => !isTest && file !== TERMINAL && (file.startsWith('kernel/cli/src/') || isOfCommandLine({ file }) || isPage);

export const checkDaemonCalls = (sources) =>
  sources.filter(isOutside).flatMap((source) => [
    ...source.imports
      .filter((entry) => !entry.type && HTTP.has(entry.to.replace(/^node:/, '')))
      .map((entry) => ({ file: source.file, line: entry.line, rule: RULE, message: `"${entry.to}" speaks HTTP by hand; the daemon is called through @svc/client` })),
    ...[...source.bare.matchAll(CALLS)].map((match) => ({
      file: source.file,
      line: lineAt(source.bare, match.index),
      rule: RULE,
      message: `${match[1]}…) speaks HTTP by hand; the daemon is called through @svc/client`,
    })),
  ]);
