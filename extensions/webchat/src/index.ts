/** The page at `/`, its kit, the panels that areas add to it; and the socket by which a page hears what changes. */
import { HttpAuthorize, defineExtension } from '@svc/api';
import { Pages } from './contract.js';
import * as contract from './contract.js';
import { serveLive } from './live/live.js';
import { SOCKET_ID } from './live/socket.js';
import { webchatRoutes } from './routes.js';

export default defineExtension({
  contract,
  activate(ctx) {
    const newest = serveLive(ctx);
    ctx.services.provide(Pages, {
      openOf: async (ids) => {
        const open = new Set(ctx.sockets.connections(SOCKET_ID).map(({ actor }) => actor.id));
        return ids.filter((id) => open.has(id));
      },
    });
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
