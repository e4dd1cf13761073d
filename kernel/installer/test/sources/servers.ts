/** Servers on loopback that speak what real ones speak: a registry of npm, plain files, git over HTTP. */
import { spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface Served {
  readonly url: string;
  /** Paths that were asked for, with their method. */
  readonly asked: string[];
  readonly headers: Array<IncomingMessage['headers']>;
  stop(): Promise<void>;
}

const listen = async (handler: RequestListener): Promise<Served> => {
  const asked: string[] = [];
  const headers: Served['headers'] = [];
  const server = createServer((req, res) => {
    asked.push(`${req.method} ${req.url}`);
    headers.push(req.headers);
    handler(req, res);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    asked,
    headers,
    stop: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
};

const send = (res: ServerResponse, status: number, body: string | Buffer, type = 'application/octet-stream'): void => {
  res.writeHead(status, { 'content-type': type, 'content-length': Buffer.byteLength(body) });
  res.end(body);
};

export interface PublishedVersion {
  readonly archive: Buffer;
  /** What the registry announces instead of the truth. */
  readonly dist?: Readonly<Record<string, string | undefined>>;
}

/** A packument for each name, and its archives. */
export const serveRegistry = async (
  packages: Readonly<Record<string, { readonly versions: Readonly<Record<string, PublishedVersion>>; readonly tags?: Readonly<Record<string, string>> }>>,
): Promise<Served> => {
  const served = await listen((req, res) => {
    const path = decodeURIComponent(new URL(req.url ?? '/', 'http://x').pathname).slice(1);
    const [name = '', file] = path.split('/-/');
    const found = packages[name];
    if (!found) return send(res, 404, '{"error":"Not found"}', 'application/json');
    const version = file?.match(/-(\d+\.\d+\.\d+.*)\.tgz$/)?.[1];
    if (version !== undefined) return send(res, 200, found.versions[version]?.archive ?? '');
    const versions = Object.fromEntries(
      Object.entries(found.versions).map(([number, { archive, dist }]) => [
        number,
        {
          name,
          version: number,
          dist: { tarball: `${served.url}/${name}/-/${name.split('/').at(-1)}-${number}.tgz`, integrity: `sha512-${createHash('sha512').update(archive).digest('base64')}`, ...dist },
        },
      ]),
    );
    const latest = Object.keys(versions).at(-1) ?? '';
    return send(res, 200, JSON.stringify({ name, 'dist-tags': { latest, ...found.tags }, versions }), 'application/vnd.npm.install-v1+json');
  });
  return served;
};

export const serveFiles = (files: Readonly<Record<string, string | Buffer>>, redirects: Readonly<Record<string, string>> = {}): Promise<Served> =>
  listen((req, res) => {
    const path = new URL(req.url ?? '/', 'http://x').pathname;
    const redirect = redirects[path];
    if (redirect !== undefined) return res.writeHead(302, { location: redirect }).end();
    const file = files[path];
    return file === undefined ? send(res, 404, 'no') : send(res, 200, file);
  });

/** Repositories below `root`, by git's own server program. */
export const serveGit = (root: string): Promise<Served> =>
  listen((req, res) => {
    const url = new URL(req.url ?? '/', 'http://x');
    const backend = spawn('git', ['http-backend'], {
      env: {
        PATH: process.env.PATH,
        GIT_PROJECT_ROOT: root,
        GIT_HTTP_EXPORT_ALL: '1',
        PATH_INFO: url.pathname,
        QUERY_STRING: url.search.slice(1),
        REQUEST_METHOD: req.method,
        CONTENT_TYPE: req.headers['content-type'],
        GIT_PROTOCOL: req.headers['git-protocol']?.toString(),
        HTTP_CONTENT_ENCODING: req.headers['content-encoding'],
      },
    });
    req.pipe(backend.stdin);
    const chunks: Buffer[] = [];
    backend.stdout.on('data', (chunk: Buffer) => chunks.push(chunk));
    backend.on('close', () => {
      const whole = Buffer.concat(chunks);
      const end = whole.indexOf('\r\n\r\n');
      const headers = Object.fromEntries(
        whole
          .subarray(0, end)
          .toString()
          .split('\r\n')
          .map((line) => [line.slice(0, line.indexOf(':')), line.slice(line.indexOf(':') + 2)]),
      );
      const { Status: status = '200 OK', ...rest } = headers;
      res.writeHead(Number(status.slice(0, 3)), rest);
      res.end(whole.subarray(end + 4));
    });
  });
