/** The page at `/`, one answer with no assets beside it; and the socket by which a page hears what changes. */
import { bytes, defineExtension, defineRoute } from '@svc/api';
import { serveLive } from './live/live.js';
import { assemblePage } from './page.js';

export default defineExtension({
  activate(ctx) {
    serveLive(ctx);
    const page = assemblePage();
    const headers = { 'content-security-policy': page.policy, 'cache-control': 'no-cache', 'referrer-policy': 'no-referrer' };
    ctx.routes.add(
      defineRoute({
        id: 'getWebchat',
        method: 'GET',
        path: '/',
        summary: 'The web page: talk with an agent',
        description: 'One HTML document that speaks with this API. It needs no key itself: the page asks for it where the daemon has one, and keeps it in its tab.',
        auth: 'public',
        permission: 'webchat.read',
        cost: 0,
        responses: { 200: { description: 'An HTML page that uses this API', contentType: 'text/html' } },
        handler: async () => bytes(200, 'text/html; charset=utf-8', page.html, headers),
      }),
    );
  },
});
