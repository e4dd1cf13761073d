/** A hub of skills that speaks the wire of the public one. */
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { zipOf } from '../../skills/test/archives.js';

export const TEXT = '---\nname: weather\ndescription: Tells the weather.\nversion: 1.2.0\n---\nLook out of the window.\n';
export const ZIP = zipOf({ 'SKILL.md': TEXT, 'references/clouds.md': '# Clouds' });
export const SHA = createHash('sha256').update(ZIP).digest('hex');

const row = (slug: string, more: object = {}) => ({
  slug,
  displayName: `The ${slug}`,
  summary: `About ${slug}`,
  topics: ['outdoors'],
  tags: { latest: '1.2.0' },
  stats: { downloads: 7, stars: 3 },
  createdAt: 1_700_000_000_000,
  updatedAt: 1_700_000_001_000,
  latestVersion: { version: '1.2.0', createdAt: 1, changelog: 'Better.' },
  ...more,
});
const detail = (slug: string, more: object = {}) => {
  const { latestVersion, ...skill } = row(slug);
  return { skill, latestVersion, owner: { handle: 'ada', displayName: 'Ada', image: null }, moderation: null, expectedSha256: SHA, ...more };
};

/** As the status of an answer that never comes, or never ends if it has a text. */
export const HANGS = 0;

export type Answer = readonly [status: number, body: string | Uint8Array | object, headers?: Record<string, string>];

/** The routes of a hub; a test may answer one path in its own way. */
export const startHub = async () => {
  const seen: string[] = [];
  const agents: string[] = [];
  const special = new Map<string, Answer[]>();
  const usual = (path: string, query: URLSearchParams): Answer => {
    const [, slug = '', more = ''] = /^\/api\/v1\/skills\/([^/]+)(?:\/(.+))?$/.exec(path) ?? [];
    if (path === '/api/v1/search')
      return [
        200,
        {
          results: [
            { slug: 'weather', displayName: 'The weather', summary: 'About weather', score: 0.9, version: '1.2.0', updatedAt: 1_700_000_001_000, ownerHandle: 'ada', downloads: 7 },
            { slug: 'x', score: 0.1, source: 'skills-sh' },
          ],
        },
      ];
    if (path === '/api/v1/skills') return [200, query.get('cursor') === 'two' ? { items: [row('second', { topics: ['indoors'] })], nextCursor: null } : { items: [row('weather')], nextCursor: 'two' }];
    if (path === '/api/v1/download') return [200, ZIP, { 'content-type': 'application/zip' }];
    if (more === 'file') return query.get('path') === 'SKILL.md' ? [200, TEXT, { 'content-type': 'text/plain' }] : [404, 'File not found'];
    if (more === 'install') return [200, { ok: true, installKind: 'github', github: { sourceUrl: 'https://github.com/ada/skills' } }];
    if (slug === 'weather' && more === 'versions/1.2.0')
      return [200, { version: { version: '1.2.0', createdAt: 1, changelog: 'Better.', license: null, files: [] }, skill: { slug, displayName: 'The weather' } }];
    if (slug === 'weather' && more === '') return [200, detail('weather')];
    if (slug === 'bad') return [200, detail('bad', { moderation: { isSuspicious: true, isMalwareBlocked: true, verdict: 'malicious', reasonCodes: ['stealer'] } })];
    if (slug === 'odd') return [200, detail('odd', { moderation: { isSuspicious: true, isMalwareBlocked: false, verdict: 'suspicious', reasonCodes: ['eval'] } })];
    if (slug === 'handed') return [200, detail('handed', { latestVersion: null })];
    if (slug === 'gone') return [410, 'Skill was deleted'];
    return [404, 'Skill not found'];
  };
  const server: Server = createServer((req: IncomingMessage, res: ServerResponse) => {
    const url = new URL(req.url ?? '/', 'http://hub');
    seen.push(`${url.pathname}${url.search}`);
    agents.push(String(req.headers.authorization ?? ''));
    const [status, body, headers = {}] = special.get(url.pathname)?.shift() ?? usual(url.pathname, url.searchParams);
    if (status === HANGS) {
      if (body !== '') res.writeHead(200, { 'content-type': 'application/json' }).write(body);
      return;
    }
    const isPlain = typeof body === 'string' || body instanceof Uint8Array;
    res.writeHead(status, { 'content-type': isPlain ? 'text/plain' : 'application/json', ...headers }).end(isPlain ? body : JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/api/v1`, seen, agents, special, close: () => server.close().closeAllConnections() };
};
