/** The pages for people, and the snippets in them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ROOT } from '../conformance/operations.js';

export const README = 'README.md';
export const CLI = 'kernel/cli/README.md';
export const DEPLOYMENT = 'kernel/cli/reference/deployment.md';
export const ERRORS = 'kernel/cli/reference/errors.md';
export const AGENT = 'kernel/cli/reference/agent-toml.md';
export const SETTINGS = 'kernel/cli/reference/settings.md';
export const COMING = 'kernel/cli/reference/coming-from.md';
/** One task each; their snippets run in this order. */
export const GUIDES = ['chat-uis', 'restrict-an-agent', 'costs', 'upgrade', 'another-machine', 'skills'].map((name) => `kernel/cli/reference/${name}.md`);
const [UPGRADE = '', ANOTHER_MACHINE = ''] = GUIDES.slice(3);
export const PAGES = [README, CLI, DEPLOYMENT, ERRORS, AGENT, SETTINGS, COMING, ...GUIDES];

export interface Snippet {
  readonly page: string;
  /** Of its first line, counted from one. */
  readonly line: number;
  readonly language: string;
  readonly text: string;
}

export const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');

const FENCE = /^```(\S*)\n([\s\S]*?)^```$/gm;

export const snippetsOf = (page: string): Snippet[] => {
  const whole = textOf(page);
  return [...whole.matchAll(FENCE)].map((match) => ({
    page,
    line: whole.slice(0, match.index).split('\n').length + 1,
    language: match[1] ?? '',
    text: match[2] ?? '',
  }));
};

/** Whatever a person reads, without the snippets. */
export const proseOf = (page: string): string => textOf(page).replaceAll(FENCE, '');

/** Shown and not run, each with the reason. A snippet is known by its page and a part of it. */
export const NOT_RUN: ReadonlyArray<{ readonly page: string; readonly part: string; readonly why: string }> = [
  { page: README, part: 'npm ci && npm start', why: 'it installs and tests this very checkout' },
  { page: README, part: 'svc chat ', why: 'it is a conversation at a terminal; kernel/cli/test/chat holds them' },
  { page: README, part: 'svc providers set-key anthropic', why: 'it asks for a key at a terminal; kernel/cli/test/commands.test.ts gives one' },
  { page: DEPLOYMENT, part: '[Unit]', why: 'a unit file; systemd-analyze validates it where there is one' },
  { page: DEPLOYMENT, part: 'docker build', why: 'there is no container runtime; the page says that it was not tried' },
  { page: DEPLOYMENT, part: 'docker compose', why: 'there is no container runtime; test/replicas/deployment.long.test.ts starts the same without one' },
  { page: DEPLOYMENT, part: 'reverse_proxy 127.0.0.1', why: 'a configuration of Caddy, which this repository does not install' },
  { page: DEPLOYMENT, part: 'proxy_pass http', why: 'a configuration of nginx, which this repository does not install' },
  { page: DEPLOYMENT, part: 'svc backup create', why: 'no daemon runs beside this page; extensions/backup/test/backup-cli.test.ts types these commands' },
  { page: DEPLOYMENT, part: 'storage migrate --to', why: 'it needs a PostgreSQL server; test/lifecycle/storage-move.test.ts moves to one' },
  { page: DEPLOYMENT, part: 'git pull', why: 'it changes this very checkout' },
  { page: UPGRADE, part: 'git pull', why: 'it changes this very checkout' },
  { page: ANOTHER_MACHINE, part: 'svc stop', why: 'the snippets after it need the daemon; extensions/backup/test/backup-cli.test.ts stops it' },
  { page: ANOTHER_MACHINE, part: 'svc backup restore', why: 'it needs a second machine; test/lifecycle restores a backup into another home' },
];
