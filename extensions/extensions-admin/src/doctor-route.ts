/** What stands between the daemon and extensions of others: tried, not claimed. */
import { defineRoute, ErrorBody, type KernelView, Nullable, OneOf, reply, type RouteDecl, Type } from '@svc/api';

const Report = Type.Object(
  {
    isolation: OneOf(['isolated', 'walled']),
    fault: Nullable(Type.String(), { description: 'Why it does not work on this machine' }),
    proofs: Type.Array(
      Type.Object({
        what: Type.String({ description: 'What was tried from inside' }),
        outcome: OneOf(['kept', 'not sure', 'open'], { description: '`not sure`: it got nothing in plain sight, and no wall of the system keeps it so' }),
        saw: Type.String({ description: 'In which words it was refused, or what it got' }),
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
      'Starts a process as extensions of others get it, in each isolation, tries to get out of it in a dozen ways, and tells what came of each. Also which installed extensions are refused, and why. Takes a second or so.',
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
