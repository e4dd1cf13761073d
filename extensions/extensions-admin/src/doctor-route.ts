/** What stands between the daemon and extensions of others: tried, not claimed. */
import { defineRoute, ErrorBody, type KernelView, Nullable, OneOf, reply, type RouteDecl, Type } from '@svc/api';

const Report = Type.Object(
  {
    isolation: OneOf(['isolated', 'walled']),
    fault: Nullable(Type.String(), { description: 'Why it does not work on this machine' }),
    proofs: Type.Array(
      Type.Object({
        what: Type.String({ description: 'The attempt' }),
        outcome: OneOf(['kept', 'not sure', 'open'], { description: '`not sure`: it found nothing, but the system does not enforce this' }),
        saw: Type.String({ description: 'The error that refused it, or its result' }),
      }),
    ),
  },
  { 'x-name': 'IsolationReport' },
);

export const doctorRoute = (kernel: KernelView): RouteDecl =>
  defineRoute({
    id: 'checkIsolation',
    method: 'GET',
    path: '/api/extensions-doctor',
    summary: 'Test the isolation of third-party extensions',
    description:
      'Starts a process in each isolation, like those of third-party extensions, and tries a dozen ways to escape. Returns the result of each, and the installed extensions that are refused, with the reason. Takes about a second.',
    auth: 'bearer',
    permission: 'extensions.admin',
    cost: 50,
    responses: {
      200: Type.Object({ isolations: Type.Array(Report), refused: Type.Array(Type.Object({ id: Type.String(), code: Type.String(), message: Type.String() })) }, { 'x-name': 'ExtensionsDoctor' }),
      403: ErrorBody,
    },
    handler: async () => {
      const isolations = await kernel.installation.prove();
      return reply(200, {
        isolations: isolations.map(({ proofs, ...report }) => ({ ...report, proofs: proofs.map((proof) => ({ ...proof })) })),
        refused: kernel.installation.refused().map((one) => ({ ...one })),
      });
    },
  });
