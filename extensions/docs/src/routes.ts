/// <reference path="./page-files.d.ts" />
/**
 * The page, its script and style.
 *
 * D1  Nothing of it holds data of this daemon, so none of it asks for a key; the document that it shows does, and the
 *     page asks the person for it. The key is in the page's memory and nowhere else.
 * D2  No script or style runs but these files, and the page speaks with this daemon alone (Content-Security-Policy).
 */
import { type Assets, bytes, defineRoute, ErrorBody, type RouteDecl, sendAsset, servedErrors, Type } from '@svc/api';
import markup from './page/docs.html' with { type: 'text' };

const POLICY = ["default-src 'none'", "script-src 'self'", "style-src 'self'", "img-src 'self' data:", "connect-src 'self'", "base-uri 'none'", "form-action 'none'", "frame-ancestors 'none'"].join(
  '; ',
);
/** May be kept, but is asked for again: an answer of 304 costs less than a page and a script of two versions. */
const KEPT = { 'cache-control': 'no-cache', 'referrer-policy': 'no-referrer' };

/** By name: the build writes them into the folder of assets. */
const TYPES: ReadonlyMap<string, string> = new Map([
  ['docs.js', 'text/javascript; charset=utf-8'],
  ['docs.css', 'text/css; charset=utf-8'],
]);

export const docsRoutes = (assets: Assets): RouteDecl[] => [
  defineRoute({
    id: 'getDocs',
    method: 'GET',
    path: '/docs',
    summary: 'Get the API documentation page',
    description:
      'All available operations with their parameters, bodies, answers and code examples, to read and to try. The page itself contains no data and needs no key; if the daemon has a key, the page asks for it and never stores it.',
    auth: 'public',
    permission: 'docs.read',
    cost: 0,
    responses: { 200: { description: 'An HTML page', contentType: 'text/html' } },
    handler: async () => bytes(200, 'text/html; charset=utf-8', markup, { ...KEPT, 'content-security-policy': POLICY }),
  }),
  defineRoute({
    id: 'getDocsFile',
    method: 'GET',
    path: '/docs/{file}',
    summary: 'Get an asset of the documentation page',
    description: 'The script and the style of the page at `/docs`. Compressed if the caller accepts it, with an `ETag`.',
    auth: 'public',
    permission: 'docs.read',
    cost: 0,
    params: Type.Object({ file: Type.String({ maxLength: 100, description: 'Its name', examples: ['docs.js'] }) }),
    responses: { 200: { description: 'The file', contentType: 'text/*' }, 304: Type.Null({ description: 'Not modified (If-None-Match)' }), 404: ErrorBody },
    handler: async (req) => {
      const { file } = req.params;
      const type = TYPES.get(file);
      if (type === undefined) throw servedErrors.file_missing(file);
      return sendAsset(req, assets, file, type, KEPT);
    },
  }),
];
