/** @svc/context: what an extension gets, limited to its manifest and grants. */
export { createProjectionRegistry } from './access/streams.js';
export { contextErrors } from './errors.js';
export { createContext } from './extension-context.js';
export { kernelContributor, tapProbes } from './kernel/kernel-probes.js';
export { createKernelView } from './kernel/kernel-view.js';
export { liveChanges } from './kernel/live-changes.js';
export type { ContextParts, PlatformParts } from './parts.js';
export { createQuotas } from './quotas/quotas.js';
