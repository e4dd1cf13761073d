/** What the security report answers. */
import { Nullable, reply, type RouteDecl, routeGroup, SecurityState, Type } from '@svc/api';
import type { Reports } from './report.js';
import { SYSTEMS } from './systems.js';

const Evidence = Type.Object({
  state: SecurityState,
  detail: Type.String({ description: 'What was tried and seen' }),
  checked_at: Type.String({ format: 'date-time' }),
  owner: Nullable(Type.String(), { description: 'Whose system it is: the id of an extension, or `kernel`; null if it is not part of this version' }),
});

const perSystem = <T extends typeof SecurityState | typeof Evidence>(value: T) => Type.Record(Type.String(), value, { description: 'By the name of the system' });

const SecurityReport = Type.Object(
  {
    security_systems: perSystem(SecurityState),
    total_systems: Type.Integer(),
    all_active: Type.Boolean({ description: 'True only if every system is active' }),
    evidence: perSystem(Evidence),
    took_ms: Type.Integer({ description: 'How long the checks took' }),
  },
  { 'x-name': 'SecurityReport' },
);

export const securityRoute = (reports: Reports): RouteDecl =>
  routeGroup({ area: 'security' })({
    id: 'getSecurityReport',
    method: 'GET',
    path: '/api/security',
    summary: 'Get the state of all security systems',
    description:
      'Each of the 16 systems is tried on the running daemon, at most once a minute, and again after a setting or an extension has changed. `evidence` says what was tried and seen. ' +
      '`active`: it holds. `degraded`: a part of it holds. `inactive`: it is switched off, or not part of this version. `failed`: it does not hold, or could not be tried. ' +
      'Owners and admins can also call it while the API is closed because a security extension is missing.',
    permission: 'security.read',
    cost: 20,
    repairs: true,
    responses: { 200: SecurityReport },
    handler: async () => {
      const { evidence, tookMs } = await reports.newest();
      return reply(200, {
        security_systems: Object.fromEntries([...evidence].map(([name, { state }]) => [name, state])),
        total_systems: SYSTEMS.length,
        all_active: [...evidence.values()].every(({ state }) => state === 'active'),
        evidence: Object.fromEntries(evidence),
        took_ms: tookMs,
      });
    },
  });
