/** `kernel`: all of it with the grant `kernel`, and with `kernel:tools` the list of tools. */
import type { KernelView } from '@svc/api';
import { daemonErrors } from '../errors.js';
import type { Grants } from './grants-judge.js';

export const kernelMember = (view: () => KernelView, id: string, grants: Grants): KernelView => {
  if (grants.has('kernel')) return Object.freeze(view());
  const refuse = (): never => {
    throw daemonErrors.not_granted(id, 'kernel');
  };
  return grants.has('kernel:tools') ? toolsOnly(view(), refuse) : refuse();
};

/** Everything else is refused by name, where it is used. */
const toolsOnly = (view: KernelView, refuse: () => never): KernelView =>
  Object.freeze({
    tools: () => view.tools(),
    get version() {
      return refuse();
    },
    get startedAt() {
      return refuse();
    },
    get preset() {
      return refuse();
    },
    ready: refuse,
    extensions: refuse,
    plan: refuse,
    enable: refuse,
    disable: refuse,
    reset: refuse,
    reload: refuse,
    graph: refuse,
    openapi: refuse,
    routes: refuse,
    configProblems: refuse,
    facts: refuse,
    metrics: refuse,
    get log() {
      return refuse();
    },
    shutdown: refuse,
  });
