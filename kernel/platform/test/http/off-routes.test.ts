/** What is said of a route whose extension does not run. */
import type { Installed } from '@svc/core';
import { bootTestKernel, stopTestKernels } from '@svc/testing';
import { expect } from 'chai';
import { createOffRoutes } from '../../src/http/not-served.js';

const installed = (id: string, routes: readonly string[], sockets: readonly string[] = []) => ({ id, contributions: { routes, sockets } }) as unknown as Installed;

describe('a route of an extension that is off', () => {
  afterEach(stopTestKernels);

  it('is found by its method and path, and by nothing else', () => {
    const all = [installed('goals', ['GET /api/goals/{id}', 'POST /api/goals', 'GET /api/files/{*rest}'], ['/api/goals/{id}/ws']), installed('notes', ['GET /api/notes'])];
    const offRoute = createOffRoutes({ all: () => all }, (id) => id === 'notes');
    const asked = [
      'GET /api/goals/7',
      'POST /api/goals',
      'GET /api/goals/7/ws',
      'GET /api/files/a/b',
      'GET /api/goals',
      'DELETE /api/goals/7',
      'GET /api/goals/7/more',
      'GET /api/files',
      'GET /api/notes',
    ];
    const found = asked.filter((request) => {
      const [method = '', path = ''] = request.split(' ');
      return offRoute(method, path) !== undefined;
    });
    expect(found).to.deep.equal(asked.slice(0, 4));
  });

  it('is refused with the name of the extension, until it runs again', async () => {
    const kernel = await bootTestKernel();
    await kernel.daemon.kernel.disable('goals');
    const refused = await kernel.http.expect(404, 'GET', '/api/goals');
    expect([refused.body.code, refused.body.error]).to.deep.equal(['extension_off', 'The extension goals, which answers /api/goals, is not running.']);
    expect((await kernel.http.expect(404, 'GET', '/api/nothing')).body.code).to.equal('not_found');
    await kernel.daemon.kernel.enable('goals');
    await kernel.http.expect(200, 'GET', '/api/goals');
  });
});
