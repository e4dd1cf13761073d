/** The page at `/`, its kit, and the panels that areas add to it. */
import { HttpAuthorize, defineExtension } from '@svc/api';
import { webchatRoutes } from './routes.js';

export default defineExtension({
  activate(ctx) {
    const authorize = ctx.hooks.use(HttpAuthorize);
    ctx.routes.add(
      ...webchatRoutes({
        assets: ctx.files.assets,
        panels: () => ctx.kernel.panels(),
        panelFiles: (extension) => ctx.kernel.panelFiles(extension),
        mayDo: async (actor, permission) => authorize.isEmpty() || (await authorize.call({ actor, method: 'GET', routeId: 'listPanels', permission })) === undefined,
      }),
    );
  },
});
