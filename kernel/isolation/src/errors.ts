import { defineErrors } from '@svc/api';

/** What the process of an extension and the channel to it can be refused for, or fail with. */
export const isolationErrors = defineErrors('isolation', {
  frame_size: {
    status: 503,
    retry: false,
    message: (bytes: number, limit: number) => `A message of ${bytes} bytes was sent to or from an extension's process; ${limit} is the most.`,
    hint: 'Send large data in pieces, as a stream.',
  },
  frame_broken: { status: 503, retry: false, message: (why: string) => `The extension's process sent an invalid message: ${why}.`, hint: "Report this to the extension's publisher." },
  flood: {
    status: 503,
    retry: false,
    message: (what: string) => `The extension's process sent too much: ${what}.`,
    hint: "Report this to the extension's publisher.",
  },
  not_plain: {
    status: 500,
    retry: false,
    message: (what: string) => `Only plain data can be sent between processes, and this contains ${what}.`,
    hint: 'Send texts, numbers, lists, bytes and objects of these.',
  },
  modified: {
    status: 403,
    retry: false,
    message: (file: string) => `${file} is not the file that was installed, so it was not run.`,
    hint: 'It was modified on this machine. Install the extension again: svc ext remove, then svc ext install.',
  },
  closed: { status: 503, retry: true, message: (why: string) => `The extension's process has ended: ${why}.`, hint: 'svc restarts it. For details, run svc ext why.' },
  down: {
    status: 503,
    retry: true,
    message: (id: string, why: string) => `${id} does not run: ${why}.`,
    hint: 'svc restarts it. For details, run svc ext why.',
  },
  late: { status: 504, retry: true, message: (what: string, ms: number) => `${what} did not answer within ${ms} ms.`, hint: 'Try again; svc logs has what the extension wrote.' },
  backed_up: { status: 503, retry: true, message: (id: string) => `${id} is not reading its messages.`, hint: 'Try again in a moment.' },
  unknown_target: { status: 500, retry: false, message: (to: string) => `There is no "${to}" on the other side.`, hint: 'Rebuild the extension with this version of svc.' },
  no_service: { status: 503, retry: true, message: (name: string) => `No extension provides the service ${name} now.`, hint: 'svc ext graph shows the dependencies.' },
  unavailable: {
    status: 501,
    retry: false,
    message: (member: string) => `ctx.${member} is not available to isolated extensions.`,
    hint: 'docs: "What an isolated extension can do". An operator can run a publisher\'s extensions inside the daemon: svc ext trust.',
  },
  late_registration: {
    status: 500,
    retry: false,
    message: (what: string) => `${what} was added after activate() had ended.`,
    hint: 'Register everything in activate().',
  },
  undeclared: {
    status: 500,
    retry: false,
    message: (what: string) => `It adds ${what}, which its contributions.json does not declare.`,
    hint: 'Rebuild it: svc ext build.',
  },
  missing: { status: 500, retry: false, message: (what: string) => `Its contributions.json declares ${what}, which it does not add.`, hint: 'Rebuild it: svc ext build.' },
  no_definition: { status: 500, retry: false, message: (file: string) => `${file} has no default export made with defineExtension.`, hint: 'export default defineExtension({ … })' },
  require_refused: {
    status: 500,
    retry: false,
    message: (name: string) => `It requires "${name}", which an isolated extension cannot have.`,
    hint: 'Use ctx.fetch, ctx.files and ctx.db instead, and bundle the packages that you need.',
  },
  wall_missing: {
    status: 503,
    retry: false,
    message: (why: string) => `The isolation "walled" needs bubblewrap, which does not work here: ${why}.`,
    hint: 'Install bubblewrap (bwrap) and allow user namespaces, or set [extensions] isolation = "isolated".',
  },
});
