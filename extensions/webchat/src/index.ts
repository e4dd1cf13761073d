/** The page at `/`, its kit, the panels that areas add to it; and the socket by which a page hears what changes. */
import { HttpAuthorize, defineExtension } from '@svc/api';
import { serveLive } from './live/live.js';
import { webchatRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    const newest = serveLive(ctx);
    const authorize = ctx.hooks.use(HttpAuthorize);
    ctx.routes.add(
      ...webchatRoutes({
        assets: ctx.files.assets,
        newest,
        panels: () => ctx.kernel.panels(),
        panelFiles: (extension) => ctx.kernel.panelFiles(extension),
        mayDo: async (actor, permission) => authorize.isEmpty() || (await authorize.call({ actor, method: 'GET', routeId: 'listPanels', permission })) === undefined,
      }),
    );
  },
});
