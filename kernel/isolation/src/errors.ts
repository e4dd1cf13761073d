import { defineErrors } from '@svc/api';

/** What the process of an extension and the channel to it can be refused for, or fail with. */
export const isolationErrors = defineErrors('isolation', {
  frame_size: {
    status: 503,
    retry: false,
    message: (bytes: number, limit: number) => `A message of ${bytes} bytes crossed to or from the process of an extension; ${limit} is the most.`,
    hint: 'Hand over what is large piece by piece: as a stream.',
  },
  frame_broken: { status: 503, retry: false, message: (why: string) => `What came from the process of an extension is no message: ${why}.`, hint: 'Tell whoever publishes the extension.' },
  flood: {
    status: 503,
    retry: false,
    message: (what: string) => `The process of an extension sent more than the daemon takes: ${what}.`,
    hint: 'Tell whoever publishes the extension.',
  },
  not_plain: {
    status: 500,
    retry: false,
    message: (what: string) => `What crosses between processes is plain data, and this holds ${what}.`,
    hint: 'Hand over texts, numbers, lists, bytes and objects of them.',
  },
  modified: {
    status: 403,
    retry: false,
    message: (file: string) => `${file} is not the file that was installed, and is not run.`,
    hint: 'Somebody changed it on this machine. Install the extension again: svc ext remove, then svc ext install.',
  },
  closed: { status: 503, retry: true, message: (why: string) => `The process of the extension is gone: ${why}.`, hint: 'It is started again by itself. svc ext why says more.' },
  down: {
    status: 503,
    retry: true,
    message: (id: string, why: string) => `${id} does not run: ${why}.`,
    hint: 'It is started again by itself. svc ext why says more.',
  },
  late: { status: 504, retry: true, message: (what: string, ms: number) => `${what} did not answer within ${ms} ms.`, hint: 'Try again; svc logs has what the extension wrote.' },
  backed_up: { status: 503, retry: true, message: (id: string) => `${id} does not take what is sent to it.`, hint: 'Try again in a moment.' },
  unknown_target: { status: 500, retry: false, message: (to: string) => `There is nothing called "${to}" on the other side.`, hint: 'Build the extension anew with this version of svc.' },
  no_service: { status: 503, retry: true, message: (name: string) => `Nobody provides the service ${name} now.`, hint: 'svc ext graph shows who would.' },
  unavailable: {
    status: 501,
    retry: false,
    message: (member: string) => `ctx.${member} is not there for extensions that run in a process of their own.`,
    hint: 'docs: "What an isolated extension can do". An operator may run extensions of a publisher in the process of the daemon: svc ext trust.',
  },
  late_registration: {
    status: 500,
    retry: false,
    message: (what: string) => `${what} was added after activate() had ended.`,
    hint: 'Register everything in activate(): what an extension adds is known before it runs.',
  },
  undeclared: {
    status: 500,
    retry: false,
    message: (what: string) => `It adds ${what}, which its contributions.json does not declare.`,
    hint: 'Build it anew: svc ext build.',
  },
  missing: { status: 500, retry: false, message: (what: string) => `Its contributions.json declares ${what}, which it does not add.`, hint: 'Build it anew: svc ext build.' },
  no_definition: { status: 500, retry: false, message: (file: string) => `${file} has no default export made with defineExtension.`, hint: 'export default defineExtension({ … })' },
  require_refused: {
    status: 500,
    retry: false,
    message: (name: string) => `It requires "${name}", which an isolated extension cannot have.`,
    hint: 'Use the doors of ctx (ctx.fetch, ctx.files, ctx.db), and bundle the packages that you need.',
  },
  wall_missing: {
    status: 503,
    retry: false,
    message: (why: string) => `The isolation "walled" needs bubblewrap, which does not work here: ${why}.`,
    hint: 'Install bubblewrap (bwrap) and allow user namespaces, or set [extensions] isolation = "isolated".',
  },
});
